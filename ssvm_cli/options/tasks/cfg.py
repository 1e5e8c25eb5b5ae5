"""Options of trees of a grammar."""

from functools import partial

import click

from ssvm_cli.options.click_types import Whole, option

grammars = partial(option, section='Grammars (cfg)', of='cfg')

OPTIONS = (
    grammars(
        '--terminals',
        type=click.Choice(('word', 'pos')),
        default='word',
        show_default=True,
        help='What rules end in: words, or the tags of the words, which are given then.',
    ),
    grammars(
        '--max-length',
        type=Whole(min=1),
        metavar='N',
        help='Leave sentences of more than N words out of training.',
    ),
)
