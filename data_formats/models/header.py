"""What the header of a model must say, checked however it was written: by a program, or by hand in a model as text."""

from cython_ext.features.feature_sets import FEATURE_SETS
from cython_ext.objectives.registry import OBJECTIVES, RESCALINGS, SLACK_NORMS
from cython_ext.tasks.registry import TASKS, task_info
from data_formats.datasets.divisors import SCALES
from data_formats.parameters import parameters_of
from data_formats.parameters.values import count, exactly, lists_of, number, one_of, positive, up_to

FORMAT = 'ssvm-model'
FORMAT_VERSION = 1
MODEL_NOUN = 'an ssvm model'
BY_MATRIX = ('costs', 'tree')  # losses that are the cost matrix of the model
CLASSES = ('taxonomy', 'class_features', 'class_similarity')  # what describes the classes
MAX_WINDOW = 100  # window
MOST_COLUMNS = 10_000
STATUSES = ('converged', 'finished', 'max-passes', 'max-time', 'interrupted')


def _scopes(value):
    return isinstance(value, list) and all(each == [] or lists_of(int)([each]) for each in value)


def _buckets(value):
    return isinstance(value, list) and all(each is None or lists_of(int)([each]) for each in value)


def _counts(value):
    return isinstance(value, list) and all(map(count, value))


def _tolerance(value):
    return (
        isinstance(value, dict)
        and number(value.get('rel_gap'))
        and value['rel_gap'] >= 0
        and (value.get('epsilon') is None or (number(value['epsilon']) and value['epsilon'] > 0))
    )


def _format(value):
    from data_formats.formats.registry import FORMATS

    return type(value) is str and value in list(FORMATS)


# key -> (whether a value is valid, what is expected). REQUIRED is what a reader relies on; the rest may be missing.
REQUIRED = {
    'task': (one_of(*TASKS), ' or '.join(TASKS)),
    'objective': (one_of(*OBJECTIVES), ' or '.join(OBJECTIVES)),
    'loss': (exactly(str), 'the name of a task loss'),
    'lambda': (positive, 'a number above 0'),
    'feature_set': (one_of(*FEATURE_SETS), ' or '.join(FEATURE_SETS)),
    'data': (exactly(dict), 'an object'),
    'data.format': (_format, 'the name of a format'),
}
OPTIONAL = {
    'data.template': (exactly(str), 'a text'),
    'data.columns': (up_to(MOST_COLUMNS), f'a whole number from 0 to {MOST_COLUMNS}'),
    'data.bias': (exactly(bool), 'true or false'),
    'data.window': (up_to(MAX_WINDOW), f'a whole number from 0 to {MAX_WINDOW}'),
    'data.edge_features': (exactly(bool), 'true or false'),
    'data.tag_column': (one_of('coarse', 'fine', 'both'), 'coarse, fine or both'),
    'data.grades': (exactly(bool), 'true or false'),
    'data.zero_based': (exactly(bool), 'true or false'),
    'data.scale': (one_of(*SCALES), ' or '.join(SCALES)),
    'data.unlabelled': (exactly(bool), 'true or false'),
    'data.states': (lists_of(str), 'lists of names'),
    'data.scopes': (_scopes, 'lists of numbers'),
    'data.buckets': (_buckets, 'null or lists of numbers'),
    'data.per_state': (_counts, 'a list of numbers'),
    'kernel': (exactly(dict), 'an object'),
    'structure': (exactly(dict), 'an object'),
    'data.top': (exactly(str), 'the name of a label'),
    'rescale': (one_of(*RESCALINGS), ' or '.join(RESCALINGS)),
    'classes': (one_of(*CLASSES), ' or '.join(CLASSES)),
    'slack_norm': (one_of(*SLACK_NORMS), ' or '.join(map(str, SLACK_NORMS))),
    'hard_margin': (exactly(bool), 'true or false'),
    'solver': (exactly(str), 'the name of a solver'),
    'settings': (exactly(dict), 'an object'),
    'status': (one_of(*STATUSES), ' or '.join(STATUSES)),
    'tolerance': (_tolerance, 'an object with rel_gap, a number from 0, and epsilon, a number above 0 or null'),
    **dict.fromkeys(
        ('min_freq', 'seed', 'examples', 'tokens', 'passes', 'oracle_calls'), (count, 'a whole number from 0')
    ),
    **dict.fromkeys(('primal', 'dual', 'gap', 'relative_gap'), (number, 'a finite number')),
}


def check_header(header, matrices, error):
    """Raise error(text, expected) unless this is the header of a model that this version can use.

    matrices: names of the matrices over its labels that the model has.
    """
    _check_version(header, error)
    for key, (valid, expected) in (REQUIRED | OPTIONAL).items():
        place, _, name = key.rpartition('.')
        value = (header.get(place) or {} if place else header).get(name)
        if not valid(value) and not (value is None and key in OPTIONAL):
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
    keys = parameters_of(header).STRUCTURE
    for name, value in structure.items():
        key = keys.get(name)
        if key is None:
            raise error(f'header has structure.{name} and task = {task!r}')
        if not key.valid(value) and not (value is None and key.nullable):
            raise error(f'header has structure.{name} = {value!r}', f'expected {key.expected}')
    for name, key in keys.items():
        if key.needed and name not in structure:
            raise error(f'header has task = {task!r} and no structure.{name}')
    if structure.get('relaxation') == 'soft' and structure.get('rho') is None:
        raise error("header has structure.relaxation = 'soft' and no structure.rho")


def _check_version(header, error):
    if header.get('format') != FORMAT:
        raise error(f'not {MODEL_NOUN}', f'expected "format": "{FORMAT}" in its header')
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
