"""The model file: everything that predicting and certifying need, in one portable file without pickle."""

from dataclasses import dataclass, field

import numpy as np

from cython_ext.objectives.registry import OBJECTIVES
from cython_ext.structures.registry import MODULES as TASKS
from data_formats.atomic import atomic_output
from data_formats.container import START, Container, write_container
from data_formats.sparse_weights import dense, packed

FORMAT = 'ssvm-model'
FORMAT_VERSION = 1
HEADER = 'header.json'
WHAT = 'an ssvm model'
VOCABULARIES = ('label_names', 'attributes', 'edge_attributes')
# What a reader relies on: key -> type. Everything else in a header informs people.
REQUIRED = {
    'task': str,
    'objective': str,
    'loss': str,
    'lambda': float,
    'feature_set': str,
    'data': dict,
    'data.format': str,
}
OPTIONAL = {
    'data.template': str,
    'data.columns': int,
    'data.bias': bool,
}


@dataclass
class Model:
    """A trained model.

    Attributes:
        header: JSON-able facts: format and version, task, objective, loss, lambda, how the data are read ('data'),
            solver, seed, primal, dual, gap, status and so on.
        label_names, attributes, edge_attributes: vocabularies; K labels, F attributes, E edge attributes.
        weights: 'state' float64[F, K], or 'state.indptr' int64[F+1], 'state.labels' int32[m] and
            'state.weights' float64[m] where only some pairs have a weight; 'transition' float64[K, K]
            (from, to); 'edge' float64[E, K, K].
        cost: float64[K, K] (right label, predicted label) where the loss came from a file, otherwise None.
        dual: the dual point, a dictionary of arrays, or None.
    """

    header: dict
    label_names: object
    attributes: object
    edge_attributes: object
    weights: dict = field(default_factory=dict)
    cost: np.ndarray | None = None
    dual: dict | None = None

    @property
    def task(self):
        return self.header['task']


def save(model, path):
    """Write a model; `path` holds the old file or the whole new one at any moment.

    Raises:
        DataError: the file cannot be written.
    """
    header = {'format': FORMAT, 'format_version': FORMAT_VERSION, **model.header}
    arrays = {}
    for name in VOCABULARIES:
        arrays[f'{name}.bytes'], arrays[f'{name}.offsets'] = getattr(model, name).to_arrays()
    arrays |= {f'weights.{name}': array for name, array in packed(model.weights).items()}
    if model.cost is not None:
        arrays['cost'] = model.cost
    if model.dual is not None:
        arrays |= {f'dual.{name}': array for name, array in model.dual.items()}
    with atomic_output(path) as stream:
        write_container(stream, HEADER, header, arrays)


def load(path, with_dual=True, as_stored=False):
    """Read a model and check that its parts fit together.

    Args:
        path: the file; '-' is standard input.
        with_dual: read the dual point too.
        as_stored: leave the state weights as lists where they are stored so.

    Raises:
        DataError: missing, foreign, truncated, altered, or written by a newer version.
    """
    container = Container(path, HEADER, WHAT)
    header = container.document
    check_header(header, container.error)
    labels, attributes, edge_attributes = (_vocabulary(container, name) for name in VOCABULARIES)
    if not len(labels):
        raise container.error('a model without labels')
    weights = _weights(container, len(labels), len(attributes), len(edge_attributes))
    if not as_stored and header['feature_set'] == 'all':
        weights = dense(weights, len(attributes), len(labels))
    cost = container.array('cost', '<f8', (len(labels),) * 2) if 'cost' in container.names() else None
    dual = None
    if with_dual:
        names = [name for name in container.names() if name.startswith('dual.')]
        dual = {name.removeprefix('dual.'): container.any_array(name) for name in names} or None
    return Model(header, labels, attributes, edge_attributes, weights, cost, dual)


def is_container(head):
    """Whether the first bytes of a file are those of a model (or of any zip file)."""
    return head.startswith(START)


def check_header(header, error):
    """Raise error(text, expected) unless this is the header of a model that this version can use."""
    if header.get('format') != FORMAT:
        raise error(f'not {WHAT}', f'expected "format": "{FORMAT}" in its header')
    version = header.get('format_version')
    if not isinstance(version, int):
        raise error(f'format version is {version!r}', 'expected a whole number')
    if version > FORMAT_VERSION:
        by = header.get('package_version')
        raise error(
            f'model format {version}, written by ssvm {by}, is newer than this program',
            f'this ssvm reads formats up to {FORMAT_VERSION}: upgrade it',
        )
    if isinstance(header.get('lambda'), int):
        header['lambda'] = float(header['lambda'])
    for key, kind in (REQUIRED | OPTIONAL).items():
        place, _, name = key.rpartition('.')
        value = (header[place] if place else header).get(name)
        if type(value) is not kind and not (value is None and key in OPTIONAL):
            raise error(f'header has {key} = {value!r}', f'expected a value of type {kind.__name__}')
    for key, known in (('task', TASKS), ('objective', OBJECTIVES)):
        if header[key] not in known:
            raise error(f'header has {key} = {header[key]!r}', f'expected {" or ".join(known)}')
    if not 0 < header['lambda'] < float('inf'):
        raise error(f'header has lambda = {header["lambda"]!r}', 'expected a number above 0')


def _vocabulary(container, name):
    from cython_ext.text.vocabulary import Vocabulary

    blob = container.array(f'{name}.bytes', '|u1', (None,))
    offsets = container.array(f'{name}.offsets', '<i8', (None,))
    try:
        vocabulary = Vocabulary.from_arrays(blob, offsets)
    except ValueError as error:
        raise container.error(f'array {name}.offsets is no table of names') from error
    if name == 'label_names' and len(set(vocabulary.names())) < len(vocabulary):
        raise container.error('two labels have the same name')
    return vocabulary


def _weights(container, K, F, E):
    """The weight arrays, their shapes and ranges checked against the vocabularies."""
    names = container.names()
    shapes = {'transition': (K, K), 'edge': (E, K, K)}
    weights = {}
    if 'weights.state.indptr' in names:
        indptr = container.array('weights.state.indptr', '<i8', (F + 1,))
        labels = container.array('weights.state.labels', '<i4', (None,))
        if indptr[0] != 0 or indptr[-1] != len(labels) or (np.diff(indptr) < 0).any():
            raise container.error('array weights.state.indptr is no table of rows')
        if len(labels) and not 0 <= labels.min() <= labels.max() < K:
            raise container.error('array weights.state.labels holds a label that is not there')
        weights = {'state.indptr': indptr, 'state.labels': labels}
        shapes['state.weights'] = (len(labels),)
    else:
        shapes['state'] = (F, K)
    for name, shape in shapes.items():
        needed = name.startswith('state') or (name == 'edge' and E > 0)
        if needed or f'weights.{name}' in names:
            array = container.array(f'weights.{name}', '<f8', shape)
            if not np.isfinite(array).all():
                raise container.error(f'array weights.{name} holds a weight that is no finite number')
            weights[name] = array
    return weights
