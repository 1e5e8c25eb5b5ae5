"""Reading data for a command: which format, which options, which vocabularies."""

from data_formats.dataset import ReadOptions
from data_formats.errors import DataError, UsageError, file_errors, shown
from data_formats.registry import FORMATS, detect, format_named
from data_formats.source import Source


def read_training_data(path, format_name, template_path, task, min_freq, bias, window=0, edge_features=False):
    """Read a file with vocabularies of its own.

    Returns:
        (dataset, facts): facts is what a model keeps under 'data', so that other files are read in the same way.

    Raises:
        DataError: FILE:LINE of what is malformed.
        UsageError: a task, template or window that the format has no use for.
    """
    with Source(path) as source:
        name = detect(source) if format_name == 'auto' else format_name
        how = {'min_freq': min_freq, 'bias': bias, 'window': window, 'edge_features': edge_features}
        dataset, task = _read(source, name, template_path, task, how)
    facts = {'format': name, 'task': task, 'bias': bias, 'template': dataset.template, 'columns': dataset.columns}
    return dataset, facts | {'window': window, 'edge_features': edge_features}


def _read(source, name, template_path, task, how):
    module = format_named(name)
    task = task or module.TASKS[0]
    if task not in module.TASKS:
        raise UsageError(f'{name} files hold no data for --task {task} (expected {" or ".join(module.TASKS)})')
    if template_path is not None and name != 'conll':
        raise UsageError(f'--template makes attributes of CoNLL columns, and {source.name} is in the format {name}')
    check_neighbours(module, how['window'], how['edge_features'])
    template, template_name = None, '<template>'
    if template_path is not None:
        template, template_name = read_text(template_path), template_path
    return module.read(source, ReadOptions(template, template_name, task, **how)), task


def check_neighbours(module, window, edge_features=False):
    """Raise UsageError where --window or --edge-features make no sense for a format."""
    given = ['--window'] * bool(window) + ['--edge-features'] * edge_features
    if not given or getattr(module, 'NEIGHBOURS', False):
        return
    if module.NAME == 'conll':
        lines = {'--window': 'U lines such as U1:%x[-1,0]', '--edge-features': 'B lines such as B1:%x[0,0]'}
        raise UsageError(f'{given[0]}: of CoNLL columns a --template makes them, with {lines[given[0]]}')
    fit = ' or '.join(name for name, other in FORMATS.items() if getattr(other, 'NEIGHBOURS', False))
    raise UsageError(f'{given[0]} is for sequences with ready-made attributes, not for {module.NAME} (expected {fit})')


def read_data(path, model, format_name='auto', require_labels=False, what='the model', threads=1):
    """Read a whole file with the vocabularies of a model (or of anything that has them and `header`)."""
    source, module, options = opened(path, model, format_name, require_labels, threads)
    dataset = module.read(source, options, model)
    if require_labels and not dataset.n:
        raise DataError(source.name, None, 'no examples in this file', 'expected one at least')
    if require_labels and (dataset.labels < 0).any():
        token = int((dataset.labels < 0).argmax())
        example = int((dataset.offsets <= token).sum())
        label = dataset.label(token)
        said = 'no label' if label is None else f'label {shown(label)}, which {what} does not know'
        raise DataError(source.name, None, f'example {example} has {said}', f'expected labels{place_of_labels(model)}')
    return dataset


def place_of_labels(model):
    """Where files that are read with a model have their labels, for messages: ' in column 4'; '' if that is plain."""
    columns = model.header['data'].get('columns')
    return f' in column {columns}' if columns else ''


def opened(path, model, format_name='auto', require_labels=False, threads=1):
    """(source, format module, ReadOptions) to read a file as the model's training data were read."""
    facts = model.header['data']
    name = facts.get('format') if format_name == 'auto' else format_name
    module = format_named(name)
    if model.task not in module.TASKS:
        raise UsageError(f'{name} files hold no data for a {model.task} model (expected {" or ".join(module.TASKS)})')
    options = ReadOptions(
        template=facts.get('template'),
        template_name='<template of the model>',
        task=model.task,
        bias=bool(facts.get('bias')),
        columns=facts.get('columns'),
        require_labels=require_labels,
        threads=threads,
        window=facts.get('window', 0),
        edge_features=bool(facts.get('edge_features')),
    )
    return Source(path), module, options


def read_text(path):
    """A small text file."""
    with file_errors(path), open(path, encoding='utf-8-sig', errors='surrogateescape', newline='') as stream:
        return stream.read()
