"""ssvm predict"""

from types import SimpleNamespace

import click

from cython_ext.tasks.relaxations import INFERENCES
from ssvm_cli.options import groups
from ssvm_cli.options.click_types import SOME, Command, Whole


@click.command('predict', cls=Command, short_help='Predict labels with a model, and score them.')
@groups.format_option('Format of TEST; auto is the one that the model was trained on.')
@groups.output(
    '--nbest', type=Whole(1, 10**6), metavar='K', help='Write the K best outputs of each example, with scores.'
)
@groups.output(
    '--marginals',
    of=SOME,
    is_flag=True,
    help='Add a column LABEL:P for each label, one of HEAD:P for dependency trees. For the log losses only.',
)
@groups.output('--scores', is_flag=True, help="Add scores: each label's for multiclass, the chosen output's otherwise.")
@groups.output(
    '--inference',
    of=SOME,
    type=click.Choice(tuple(INFERENCES)),
    help='How graphs and sets of labels are predicted: exact; lp, by linear programs, each node rounded; '
    'dual-decomposition, by messages, with a bound that proves many outputs to be the best; tree-reweighted, by '
    'marginals that are exact on trees. Default: exact, and lp where a graph has no exact oracle.',
)
@groups.output('--evaluate', is_flag=True, help='Compare with the labels of TEST; figures go to standard error.')
@groups.output(
    '--no-punctuation',
    of='dependency',
    is_flag=True,
    help='Leave words of nothing but punctuation out of the figures of trees.',
)
@groups.output('--metrics', type=click.Path(), metavar='FILE.json', help='Write the same figures as JSON.')
@groups.threads_option
@groups.verbosity_options
@click.argument('test', type=click.Path())
@click.argument('model', type=click.Path())
@click.argument('output', type=click.Path(), default='-')
def command(**given):
    """Predict the labels of TEST with MODEL and write them to OUTPUT or standard output.

    \b
    Examples:
      ssvm predict --evaluate test.conll chunk.model tagged.conll
      ssvm predict --nbest 3 test.conll chunk.model

    CoNLL columns come back with one more column, treebanks and brackets with the trees predicted; other formats give
    one label a line, for candidates their numbers. TEST may be compressed, a pipe, or `-`; memory does not grow with
    its length.
    """
    from ssvm_cli.commands.run_predict import predict

    predict(SimpleNamespace(**given))
