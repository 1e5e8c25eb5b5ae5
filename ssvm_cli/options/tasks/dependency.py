"""Options of dependency trees."""

from functools import partial

from ssvm_cli.options.click_types import Whole, option

trees = partial(option, section='Trees (dependency)', of='dependency')

OPTIONS = (
    trees(
        '--nonprojective',
        is_flag=True,
        help='Arcs may cross: maximum spanning trees in place of projective ones.',
    ),
    trees(
        '--single-root/--multi-root',
        default=None,
        help='How many words of a sentence may have the head 0. Default: one in CoNLL-U, several in CoNLL-X.',
    ),
    trees('--unlabelled', is_flag=True, help='Learn heads alone, no relations.'),
    trees(
        '--hash-bits',
        type=Whole(8, 30),
        metavar='N',
        help='Hash the features of arcs to 2^N weights. Default: a weight for each feature of an arc in TRAIN.',
    ),
)
