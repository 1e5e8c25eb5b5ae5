"""ssvm convert"""

from types import SimpleNamespace

import click

from ssvm_cli.options import groups
from ssvm_cli.options.click_types import Command, LazyChoice


@click.command('convert', cls=Command, short_help='Convert data between formats, and models to text and back.')
@groups.data(
    '--from',
    'source_format',
    type=LazyChoice(groups.formats),
    default='auto',
    show_default=True,
    help='Format of INPUT.',
)
@groups.data(
    '--to',
    'target_format',
    type=LazyChoice(groups.formats),
    default='auto',
    show_default=True,
    help='Format of OUTPUT.',
)
@groups.data(
    '--zero-based',
    is_flag=True,
    help='Feature numbers of INPUT count from 0 (SVMlight, svm_hmm, ranking and multilabel files).',
)
@groups.data('--to-zero-based', is_flag=True, help='Feature numbers of OUTPUT count from 0.')
@groups.template_option
@groups.min_freq_option
@groups.bias_option
@groups.window_option
@groups.data(
    '--names',
    type=click.Path(),
    metavar='FILE',
    help='Number names in SVMlight, svm_hmm and multilabel files, and list them here.',
)
@groups.verbosity_options
@click.argument('input', type=click.Path())
@click.argument('output', type=click.Path())
def command(**given):
    """Convert INPUT to OUTPUT: data from one format to another, a model to text, or text to a model.

    \b
    Examples:
      ssvm convert --template chunk.tpl train.conll train.crfsuite
      ssvm convert chunk.model chunk.model.tsv
      ssvm convert chunk.model.tsv again.model
      ssvm convert test.conllu test.conllx

    Formats are told by file name and content unless --from and --to say otherwise.
    """
    from ssvm_cli.commands.run_convert import convert

    convert(SimpleNamespace(**given))
