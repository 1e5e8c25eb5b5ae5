"""Options of candidates."""

from functools import partial

from ssvm_cli.options.click_types import option

candidates = partial(option, section='Candidates (candidates)', of='candidates')

OPTIONS = (
    candidates(
        '--grades',
        is_flag=True,
        help='Lines begin with grades of relevance, not losses: a candidate loses what the best of its group has more.',
    ),
)
