"""ssvm gap"""

from types import SimpleNamespace

import click

from ssvm_cli.options import groups
from ssvm_cli.options.click_types import Command, Whole


@click.command('gap', cls=Command, short_help='Recompute objective, lower bound and gap of a model.')
@groups.format_option('Format of TRAIN; auto is the one that the model was trained on.')
@groups.output('--json', 'as_json', is_flag=True, help='Print one JSON object.')
@groups.output(
    '--per-example', type=click.Path(), metavar='FILE', help='Write the loss of each example, tab-separated.'
)
@groups.running(
    '--passes',
    type=Whole(min=1),
    default=20,
    show_default=True,
    metavar='N',
    help='Passes that make a dual point where the model has none.',
)
@groups.threads_option
@groups.verbosity_options
@click.argument('train', type=click.Path())
@click.argument('model', type=click.Path())
def command(**given):
    """Recompute primal, dual and gap of MODEL on the examples of TRAIN, trusting no figure in the model.

    \b
    Example:
      ssvm gap --json train.conll chunk.model

    The lower bound comes from the dual point of the model; where it has none, from the scores (log losses) or from a
    few passes of bcfw (hinge).
    """
    from ssvm_cli.commands.run_gap import certify

    certify(SimpleNamespace(**given))
