"""ssvm convert"""

from types import SimpleNamespace

import click

from ssvm_cli import options
from ssvm_cli.command import Command, LazyChoice, Whole


@click.command('convert', cls=Command, short_help='Convert data between formats, and models to text and back.')
@options.data(
    '--from',
    'source_format',
    type=LazyChoice(options.formats),
    default='auto',
    show_default=True,
    help='Format of INPUT.',
)
@options.data(
    '--to',
    'target_format',
    type=LazyChoice(options.formats),
    default='auto',
    show_default=True,
    help='Format of OUTPUT.',
)
@options.data(
    '--zero-based',
    is_flag=True,
    help='Feature numbers of INPUT count from 0 (SVMlight, svm_hmm, ranking and multilabel files).',
)
@options.data('--to-zero-based', is_flag=True, help='Feature numbers of OUTPUT count from 0.')
@options.template_option
@options.data(
    '--min-freq',
    type=Whole(min=1),
    default=1,
    show_default=True,
    metavar='N',
    help='Drop attributes that occur on fewer than N tokens.',
)
@options.data('--bias', is_flag=True, help='Give each token an attribute of value 1.')
@options.window_option
@options.data(
    '--names',
    type=click.Path(),
    metavar='FILE',
    help='Number names in SVMlight, svm_hmm and multilabel files, and list them here.',
)
@options.verbosity_options
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
    from ssvm_cli.converting import convert

    convert(SimpleNamespace(**given))
