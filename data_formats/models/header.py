"""What the header of a model must say, checked however it was written: by a program, or by hand in a model as text."""

import sys
from itertools import pairwise

from cython_ext.features.feature_sets import FEATURE_SETS
from cython_ext.objectives.registry import OBJECTIVES
from cython_ext.tasks.registry import TASKS, task_info
from cython_ext.tasks.relaxations import RELAXATIONS

FORMAT = 'ssvm-model'
FORMAT_VERSION = 1
WHAT = 'an ssvm model'
BY_MATRIX = ('costs', 'tree')  # losses that are the cost matrix of the model
CLASSES = ('taxonomy', 'class_features', 'class_similarity')  # what describes the classes
WIDEST = 100  # window
# what the structure of a task is built with
STRUCTURE = {
    'chain': ('order',),
    'dependency': ('nonprojective', 'single_root', 'hash_bits'),
    'alignment': ('gap_model', 'align'),
    'cfg': ('terminals', 'max_length'),
    'multilabel': ('relaxation', 'rho', 'smoothing', 'pairs'),
    'graph': ('relaxation', 'rho', 'smoothing'),
}
# of these what must be there, and what may be null
NEEDED = {
    'dependency': ('nonprojective', 'single_root'),
    'cfg': ('max_length',),
    'multilabel': ('relaxation',),
    'graph': ('relaxation',),
}
NULLABLE = ('rho', 'hash_bits', 'pairs', 'max_length')
MOST_COLUMNS = 10_000
MOST_WORDS = 2**31 - 1  # of a sentence
MOST_BITS = 2**31 - 1  # what fits the number that is checked later
STATUSES = ('converged', 'finished', 'max-passes', 'max-time', 'interrupted')


def _exactly(kind):
    return lambda value: type(value) is kind


def _number(value):
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _one_of(*values):
    return lambda value: type(value) is type(values[0]) and value in values


def _lists_of(kind):
    def right(value):
        return isinstance(value, list) and all(
            isinstance(each, list) and each and all(type(item) is kind for item in each) for each in value
        )

    return right


def _scopes(value):
    return isinstance(value, list) and all(each == [] or _lists_of(int)([each]) for each in value)


def _buckets(value):
    return isinstance(value, list) and all(each is None or _lists_of(int)([each]) for each in value)


def _pairs(value):
    """Ascending pairs of labels, the smaller number first."""
    if not (isinstance(value, list) and all(_lists_of(int)([each]) and len(each) == 2 for each in value)):
        return False
    return all(0 <= a < b for a, b in value) and all(a < b for a, b in pairwise(value))


def _count(value):
    return type(value) is int and value >= 0


def _up_to(most):
    return lambda value: _count(value) and value <= most


def _tolerance(value):
    return (
        isinstance(value, dict)
        and _number(value.get('rel_gap'))
        and value['rel_gap'] >= 0
        and (value.get('epsilon') is None or (_number(value['epsilon']) and value['epsilon'] > 0))
    )


def _format(value):
    from data_formats.formats.registry import FORMATS

    return type(value) is str and value in list(FORMATS)


def _positive(value):
    return _number(value) and value > 0


# key -> (whether a value is right, what is expected). REQUIRED is what a reader relies on; the rest may be missing.
REQUIRED = {
    'task': (_one_of(*TASKS), ' or '.join(TASKS)),
    'objective': (_one_of(*OBJECTIVES), ' or '.join(OBJECTIVES)),
    'loss': (_exactly(str), 'the name of a task loss'),
    'lambda': (_positive, 'a number above 0'),
    'feature_set': (_one_of(*FEATURE_SETS), ' or '.join(FEATURE_SETS)),
    'data': (_exactly(dict), 'an object'),
    'data.format': (_format, 'the name of a format'),
}
OPTIONAL = {
    'data.template': (_exactly(str), 'a text'),
    'data.columns': (_up_to(MOST_COLUMNS), f'a whole number from 0 to {MOST_COLUMNS}'),
    'data.bias': (_exactly(bool), 'true or false'),
    'data.window': (_up_to(WIDEST), f'a whole number from 0 to {WIDEST}'),
    'data.edge_features': (_exactly(bool), 'true or false'),
    'data.tag_column': (_one_of('coarse', 'fine', 'both'), 'coarse, fine or both'),
    'data.grades': (_exactly(bool), 'true or false'),
    'data.zero_based': (_exactly(bool), 'true or false'),
    'data.scale': (_one_of('max', 'std'), 'max or std'),
    'data.unlabelled': (_exactly(bool), 'true or false'),
    'data.states': (_lists_of(str), 'lists of names'),
    'data.scopes': (_scopes, 'lists of numbers'),
    'data.buckets': (_buckets, 'null or lists of numbers'),
    'kernel': (_exactly(dict), 'an object'),
    'structure': (_exactly(dict), 'an object'),
    'data.top': (_exactly(str), 'the name of a label'),
    'structure.order': (_one_of(1, 2), '1 or 2'),
    'structure.nonprojective': (_exactly(bool), 'true or false'),
    'structure.single_root': (_exactly(bool), 'true or false'),
    'structure.gap_model': (_one_of('linear', 'affine'), 'linear or affine'),
    'structure.align': (_one_of('local', 'global'), 'local or global'),
    'structure.terminals': (_one_of('word', 'pos'), 'word or pos'),
    'structure.max_length': (_up_to(MOST_WORDS), f'a whole number from 0 to {MOST_WORDS}'),
    'structure.hash_bits': (_up_to(MOST_BITS), f'a whole number from 0 to {MOST_BITS}'),
    'structure.relaxation': (_one_of(*RELAXATIONS), ' or '.join(RELAXATIONS)),
    'structure.rho': (_positive, 'a number above 0'),
    'structure.smoothing': (_positive, 'a number above 0'),
    'structure.pairs': (_pairs, 'ascending pairs of numbers of labels'),
    'rescale': (_one_of('margin', 'slack'), 'margin or slack'),
    'classes': (_one_of(*CLASSES), ' or '.join(CLASSES)),
    'slack_norm': (_one_of(1, 2), '1 or 2'),
    'hard_margin': (_exactly(bool), 'true or false'),
    'solver': (_exactly(str), 'the name of a solver'),
    'settings': (_exactly(dict), 'an object'),
    'status': (_one_of(*STATUSES), ' or '.join(STATUSES)),
    'tolerance': (_tolerance, 'an object with rel_gap, a number from 0, and epsilon, a number above 0 or null'),
    **dict.fromkeys(
        ('min_freq', 'seed', 'examples', 'tokens', 'passes', 'oracle_calls'), (_count, 'a whole number from 0')
    ),
    **dict.fromkeys(('primal', 'dual', 'gap', 'relative_gap'), (_number, 'a finite number')),
}


def check_header(header, matrices, error):
    """Raise error(text, expected) unless this is the header of a model that this version can use.

    matrices: names of the matrices over its labels that the model has.
    """
    _check_version(header, error)
    for key, (right, expected) in (REQUIRED | OPTIONAL).items():
        place, _, name = key.rpartition('.')
        value = (header.get(place) or {} if place else header).get(name)
        if not right(value) and not (value is None and key in OPTIONAL):
            raise error(f'header has {key} = {value!r}', f'expected {expected}')
    header['lambda'] = float(header['lambda'])
    _check_structure(header, error)
    _check_loss(header, 'cost' in matrices, error)
    if header.get('classes') is not None and 'similarity' not in matrices:
        raise error(f'header has classes = {header["classes"]!r} and there is no similarity matrix')
    if header.get('kernel') is not None:
        _check_kernel(header, error)


def _check_structure(header, error):
    task, structure = header['task'], header.get('structure') or {}
    for key, value in structure.items():
        if key not in STRUCTURE.get(task, ()):
            raise error(f'header has structure.{key} and task = {task!r}')
        if value is None and key not in NULLABLE:
            raise error(f'header has structure.{key} = None', f'expected {OPTIONAL["structure." + key][1]}')
    for key in NEEDED.get(task, ()):
        if key not in structure:
            raise error(f'header has task = {task!r} and no structure.{key}')
    if structure.get('relaxation') == 'soft' and structure.get('rho') is None:
        raise error("header has structure.relaxation = 'soft' and no structure.rho")


def _check_version(header, error):
    if header.get('format') != FORMAT:
        raise error(f'not {WHAT}', f'expected "format": "{FORMAT}" in its header')
    version = header.get('format_version')
    if type(version) is not int:
        raise error(f'format version is {version!r}', 'expected a whole number')
    if version > FORMAT_VERSION:
        by = header.get('package_version')
        raise error(
            f'model format {version}, written by ssvm {by}, is newer than this program',
            f'this ssvm reads formats up to {FORMAT_VERSION}: upgrade it',
        )


def _check_loss(header, with_cost, error):
    loss, known = header['loss'], task_info(header['task']).losses
    if loss in BY_MATRIX and not with_cost:
        raise error(f'header has loss = {loss!r} and there is no cost matrix')
    if loss not in (*known, *BY_MATRIX, 'none'):
        raise error(f'header has loss = {loss!r}', f'expected {", ".join((*known, *BY_MATRIX))} or none')
    if loss == 'none' and OBJECTIVES[header['objective']][2]:
        raise error(f'header has loss = {loss!r} and objective = {header["objective"]!r}', 'expected a task loss')


def _check_kernel(header, error):
    from cython_ext.features.kernel.function import Kernel

    try:
        Kernel.of(header['kernel'])
    except (ValueError, TypeError) as wrong:
        raise error(f'header has a kernel that is none: {wrong}') from wrong
    if header['feature_set'] != 'all':
        raise error(f'header has a kernel and feature_set = {header["feature_set"]!r}', "expected 'all'")
