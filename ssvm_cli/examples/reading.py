"""Reading data for a command: which format, which options, which vocabularies."""

from data_formats.datasets.divisors import NONE
from data_formats.datasets.tokens import ReadOptions
from data_formats.errors import DataError, UsageError
from data_formats.files.source import Source
from data_formats.formats.registry import (
    FORMATS,
    QID,
    TREEBANKS,
    by_content,
    by_extension,
    detect,
    format_named,
    offering,
    offers,
)
from data_formats.parsing import reading
from data_formats.parsing.templates import LARGEST_FILE
from ssvm_cli.tasks import check_options, task_named


def read_training_data(path, format_name, template_path, task, min_freq, bias, o=None, say=None):
    """Read a file with vocabularies of its own.

    Args:
        o: the options of the command, of which a task may have some of its own.
        say: a function of texts about the file, for people.

    Returns:
        (dataset, facts): facts is what a model keeps under 'data', so that other files are read in the same way.

    Raises:
        DataError: FILE:LINE of what is malformed.
        UsageError: a task, a template or other options that the format or the task has no use for.
    """
    with Source(path) as source:
        reads = None if task is None else task_named(task).reads
        name = detect(source, reads) if format_name == 'auto' else format_name
        if say is not None:
            say_what_it_looks_like(source, name, format_name, task, say)
        module = format_named(name)
        task = task_named(_task_of(module, task))
        check_options(task, o)
        scale = getattr(o, 'scale', NONE)
        check_scale(module, scale)
        zero_based = getattr(o, 'zero_based', False)
        check_numbers(module, '--zero-based' if zero_based else None)
        more = {**task.read_options(o, module), 'scale': scale, 'zero_based': zero_based}
        dataset = _read(source, module, template_path, task, min_freq, bias, more)
    facts = ({} if scale == NONE else {'scale': scale}) | ({'zero_based': True} if zero_based else {})
    return dataset, {'format': name, 'task': task.name, 'bias': bias, **facts, **task.facts(dataset, o)}


def say_what_it_looks_like(source, name, format_name, task, say):
    """Say which other format a file of this one may be in."""
    if name == 'conll' and format_name == 'auto' and (looks := by_content(source.head())) in TREEBANKS:
        say(f'looks like a treebank, but its name is one of columns (--format {looks} reads it as trees)')
    if name in ('svmlight', 'multilabel') and task != 'multiclass' and QID.search(source.head()):
        meant = '; --task multiclass says that this is meant' if name == 'svmlight' else ''
        say(
            f'has qid: numbers, which mean nothing in {name} files: each line is an example of its own '
            f'(--format svmhmm reads sequences, --format svmrank rankings{meant})'
        )


def check_scale(module, kind):
    """Raise UsageError where the files of a format, given by its module, have no values to scale."""
    if kind == NONE or offers(module, 'VALUES'):
        return
    fit = ', '.join(offering('VALUES'))
    raise UsageError(f'--scale {kind}: attributes of {module.NAME} files have no values to scale (formats: {fit})')


def check_numbers(module, option):
    """Raise UsageError where an option about feature numbers, None for none, is given for a format without them."""
    if option is None or offers(module, 'NUMBERS'):
        return
    fit = ', '.join(offering('NUMBERS'))
    raise UsageError(f'{option} is about feature numbers, and {module.NAME} files have none (formats: {fit})')


def task_before_reading(path, format_name, task):
    """The name of the task where the command line says it: by itself, by the format or by the name of the file; None
    where only what is in the file does."""
    if task is not None:
        return task
    name = by_extension(path) if format_name == 'auto' else format_name
    return None if name is None else _task_of(format_named(name), None)


def _task_of(module, name):
    """The name of the task, by default the usual one of the format."""
    reads = None if name is None else task_named(name).reads
    if name is not None and reads not in module.TASKS:
        able = '|'.join(other.NAME for other in FORMATS.values() if reads in other.TASKS)
        expected = f'expected {" or ".join(module.TASKS)}, or --format {able}'
        raise UsageError(f'{module.NAME} files hold no data for --task {name} ({expected})')
    return name or module.TASKS[0]


def _read(source, module, template_path, task, min_freq, bias, more):
    if template_path is not None and module.NAME != 'conll':
        what = f'{source.name} is in the format {module.NAME}'
        raise UsageError(f'--template makes attributes of CoNLL columns, and {what}')
    template, template_name = None, '<template>'
    if template_path is not None:
        template, template_name = read_template(template_path), template_path
    return reading.read(module, source, ReadOptions(template, template_name, task.reads, min_freq, bias, **more))


def read_data(path, spec, model, format_name='auto', require_labels=False, what='the model', threads=1):
    """Read a whole file as a ProblemSpec says, with the vocabularies of a model (or of anything that has them)."""
    source, module, options = opened(path, spec, format_name, require_labels, threads)
    dataset = reading.read(module, source, options, model)
    if require_labels and not dataset.n:
        raise DataError(source.name, None, 'no examples in this file', 'expected one at least')
    lack = task_named(spec.task).lack(dataset, spec, what) if require_labels else None
    if lack is not None:
        raise DataError(source.name, None, *lack)
    return dataset


def opened(path, spec, format_name='auto', require_labels=False, threads=1):
    """(source, format module, ReadOptions) to read a file as the training data of a ProblemSpec were read."""
    name = spec.data.get('format') if format_name == 'auto' else format_name
    module = format_named(name)
    task = task_named(spec.task)
    if task.reads not in module.TASKS:
        able = ' or '.join(other.NAME for other in FORMATS.values() if task.reads in other.TASKS)
        raise UsageError(f'{name} files hold no data for a {spec.task} model (expected {able})')
    options = ReadOptions(
        template_name='<template of the model>',
        task=task.reads,
        **task.model_options(spec),
        zero_based=bool(spec.data.get('zero_based')),
        require_labels=require_labels,
        threads=threads,
    )
    return Source(path), module, options


def read_template(path):
    """The text of a template."""
    with Source(path) as source:
        return source.contents(LARGEST_FILE).decode('utf-8', 'surrogateescape')
