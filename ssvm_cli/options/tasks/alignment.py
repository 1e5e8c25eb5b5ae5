"""Options of alignments."""

from functools import partial

import click

from ssvm_cli.options.click_types import option

alignments = partial(option, section='Alignments (alignment)', of='alignment')

OPTIONS = (
    alignments(
        '--gap-model',
        type=click.Choice(('linear', 'affine')),
        default='linear',
        show_default=True,
        help='A weight for each letter of a gap, or one for opening a gap and one for extending it.',
    ),
    alignments(
        '--align',
        type=click.Choice(('local', 'global')),
        default='local',
        show_default=True,
        help='Align a stretch of the native with one of its candidate (Smith-Waterman), or both of them whole.',
    ),
)
