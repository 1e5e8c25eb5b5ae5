"""Options of single labels: what is known about the classes (ssvm_cli/options/classes.py)."""

from functools import partial

import click

from ssvm_cli.options.click_types import option

classes = partial(option, section='Classes (multiclass)', of='multiclass')

OPTIONS = (
    classes(
        '--taxonomy',
        type=click.Path(),
        metavar='FILE',
        help='Tree or lattice over the classes, a line CHILD PARENT [WEIGHT] for each step: classes share the weights '
        'of the nodes above them, and --task-loss tree may be used.',
    ),
    classes(
        '--flat',
        of=None,  # refused with its reason, whatever the task (classes.requested_kind)
        is_flag=True,
        help='With --taxonomy: weights for each class alone, as without; the taxonomy is there for the loss.',
    ),
    classes(
        '--class-features',
        type=click.Path(),
        metavar='FILE',
        help='Features of the classes, such as words that describe them: a line CLASS FEATURE[:VALUE] ... for each.',
    ),
    classes(
        '--class-similarity',
        type=click.Path(),
        metavar='FILE',
        help='Inner products of what describes the classes: a tab-separated matrix with label names in its header.',
    ),
)
