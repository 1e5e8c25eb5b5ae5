"""What `ssvm convert` does."""

import io
import os
import sys

from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.tokens import ReadOptions
from data_formats.errors import DataError, UsageError, file_errors
from data_formats.files.atomic import atomic_output, is_special
from data_formats.files.locks import locked
from data_formats.files.source import Source
from data_formats.formats.registry import FORMATS, by_extension, detect, format_named, offers
from data_formats.models.model import is_container, load, save
from data_formats.parameters.multilabel import OF_EXAMPLES
from data_formats.parsing import reading
from ssvm_cli.examples.reading import check_numbers, read_template, say_what_it_looks_like
from ssvm_cli.options.files import check_paths
from ssvm_cli.options.windows import check_neighbours
from ssvm_cli.terminal.complaints import beside_the_result
from ssvm_cli.terminal.launchers import refuse_copies
from ssvm_cli.terminal.progress import Progress, counted

NUMBERINGS = ('--zero-based', '--to-zero-based')
MODEL_NAMES = ('.model', '.tsv')  # what people call models, and models as text


def convert(o):
    """Run `ssvm convert`; o: the options, by parameter name."""
    refuse_copies()
    check_paths({'INPUT': o.input, '--template': o.template}, {'OUTPUT': o.output, '--names': o.names})
    progress = Progress(o.verbose)
    if o.input != '-' and is_special(o.input):
        raise DataError(o.input, None, 'is a pipe or a device', 'expected a file, or - for standard input')
    with locked((o.output, o.names), progress.say):
        convert_file(o, progress)


def convert_file(o, progress):
    """A model, the text of one, or data, as the first bytes tell."""
    from data_formats.models.tsv import is_model_tsv, read_model_tsv, write_model_tsv

    head = first_bytes(o.input)
    if is_container(head):
        _refuse_data_options(o, 'a model')
        _refuse_data_name(o, 'a model, which becomes text')
        model = load(o.input)
        write_model_tsv(model, o.output)
        left_out = [name for name in OF_EXAMPLES if name in model.weights]
        if left_out:
            names = ', '.join(left_out)
            progress.say(
                f'{o.input}: left out, being of the training examples: {names} (ssvm gap of the text is looser)'
            )
        return
    with Source(o.input) as source:
        if is_model_tsv(source.head()):
            _refuse_data_options(o, 'a model as text')
            _refuse_data_name(o, 'the text of a model')
            save(read_model_tsv(source), o.output)
        else:
            convert_data(o, source, progress)


def first_bytes(path):
    """The first bytes of a file as they are, or of standard input, which loses nothing by it."""
    if path == '-':
        stdin = sys.stdin.buffer
        if not stdin.seekable():
            return stdin.peek(4)
        head = stdin.read(4)
        stdin.seek(-len(head), os.SEEK_CUR)
        return head
    with file_errors(path), open(path, 'rb') as stream:
        return stream.read(4)


def convert_data(o, source, progress):
    """Data of one format to another."""
    target = by_extension(o.output) if o.target_format == 'auto' else o.target_format
    if target is None and o.source_format == 'auto' and o.output.lower().endswith(MODEL_NAMES):
        raise DataError(source.name, None, 'is no model, nor the text of one', f'expected one to make {o.output} of')
    if target is None:
        raise UsageError(f'cannot tell the format of {o.output} by its name: give --to {"|".join(FORMATS)}')
    target_module = format_named(target)
    name = detect(source, target_module.TASKS[0]) if o.source_format == 'auto' else o.source_format
    module = format_named(name)
    if not set(module.TASKS) & set(target_module.TASKS):
        kinds = ' and '.join(f'{fmt.NAME} for {" or ".join(fmt.TASKS)}' for fmt in (module, target_module))
        raise UsageError(f'{name} and {target} have nothing in common: they hold data of other kinds ({kinds})')
    if offers(module, 'transcribe') and offers(target_module, 'transcribe'):
        transcribe(o, source, module, target_module, progress)
        return
    if not offers(target_module, 'write'):
        raise UsageError(f'{target} cannot be written: attributes do not say what the columns were')
    if 'alignment' in module.TASKS:
        _refuse_attribute_options(o, 'alignment data')
    if 'boxes' in module.TASKS:
        _refuse_attribute_options(o, 'pictures')
    if 'candidates' in module.TASKS and o.bias:
        raise UsageError(f'{o.input} holds candidates, among which --bias makes no difference')
    if o.template is not None and name != 'conll':
        raise UsageError(f'--template makes attributes of CoNLL columns, and {o.input} is in the format {name}')
    template = (read_template(o.template), o.template) if o.template is not None else (None, '<template>')
    check_neighbours(module, o.window)
    check_numbers(module, '--zero-based' if o.zero_based else None)
    check_numbers(target_module, '--to-zero-based' if o.to_zero_based else None)
    if o.source_format == 'auto':
        say_what_it_looks_like(source, name, 'auto', None, lambda text: progress.say(f'{o.input}: {text}'))
    how = {'min_freq': o.min_freq, 'bias': o.bias, 'window': o.window, 'zero_based': o.zero_based}
    options = ReadOptions(*template, module.TASKS[0], **how, require_labels=False)
    dataset = reading.read(module, source, options)
    names = None if o.names is None else io.BytesIO()
    counted_from_0 = {'zero_based': True} if o.to_zero_based else {}
    if offers(module, 'NUMBERS') and offers(target_module, 'NUMBERS'):
        dataset.attributes = shifted(dataset.attributes, o.zero_based - o.to_zero_based, source)
    with atomic_output(o.output) as stream:
        target_module.write(dataset, stream, names, **counted_from_0)
    if names is not None:
        with beside_the_result(o.names), atomic_output(o.names) as stream:
            stream.write(names.getvalue())
    sizes = f'{counted(dataset.n, "example")}, {counted(dataset.tokens, "token")}'
    progress.say(f'{o.input}: {sizes}, from {name} to {target}')


def shifted(attributes, step, source):
    """Feature numbers that begin `step` later, as a Vocabulary; names that are no numbers stay."""
    if not step:
        return attributes
    names = [f'{int(name) + step}' if name.isdecimal() else name for name in attributes.names()]
    if '-1' in names:
        raise DataError(source.name, None, 'feature number 0', 'expected numbers from 1, or --zero-based')
    return Vocabulary(names)


def transcribe(o, source, module, target, progress):
    """Data of one format to another that holds the same kind of lines."""
    _refuse_attribute_options(o, 'a treebank')
    with atomic_output(o.output) as stream:
        examples, tokens, lost = module.transcribe(source, target, stream)
    left_out = ''.join(f', {counted(count, what)} left out' for what, count in lost.items())
    sizes = f'{counted(examples, "sentence")}, {counted(tokens, "word")}'
    progress.say(f'{o.input}: {sizes}, from {module.NAME} to {target.NAME}{left_out}')


def _refuse_attribute_options(o, what):
    given = _given(o, (*NUMBERINGS, '--template', '--min-freq', '--bias', '--window', '--names'))
    if given:
        raise UsageError(f'{o.input} is {what}, without attributes: {", ".join(given)} make no sense')


def _refuse_data_options(o, what):
    given = _given(o, ('--from', '--to', *NUMBERINGS, '--template', '--min-freq', '--bias', '--window', '--names'))
    if given:
        raise UsageError(f'{o.input} is {what}: {", ".join(given)} make no sense')


def _given(o, names):
    """Those options that are given."""
    return [
        name
        for name, value, default in (
            ('--from', o.source_format, 'auto'),
            ('--to', o.target_format, 'auto'),
            ('--zero-based', o.zero_based, False),
            ('--to-zero-based', o.to_zero_based, False),
            ('--template', o.template, None),
            ('--min-freq', o.min_freq, 1),
            ('--bias', o.bias, False),
            ('--window', o.window, 0),
            ('--names', o.names, None),
        )
        if name in names and value != default
    ]


def _refuse_data_name(o, what):
    name = by_extension(o.output)
    if name is not None:
        raise UsageError(f'{o.input} is {what}, and {o.output} is the name of {name} data (expected another name)')
