"""Options of sets of some labels."""

from functools import partial

from ssvm_cli.options.click_types import Whole, option

triples = partial(option, section='Sets of labels (triples)', of='triples')

OPTIONS = (
    triples(
        '--chosen', type=Whole(1, 100), default=3, show_default=True, metavar='N', help='How many labels each set has.'
    ),
)
