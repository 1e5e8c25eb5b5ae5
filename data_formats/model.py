"""The model file: everything that predicting and certifying need, in one portable file without pickle."""

from dataclasses import dataclass, field

import numpy as np

from data_formats.atomic import atomic_output
from data_formats.container import START, Container, is_own, write_container
from data_formats.model_header import FORMAT, FORMAT_VERSION, WHAT, check_header
from data_formats.sparse_weights import dense, packed
from data_formats.windows import check_names

HEADER = 'header.json'
VOCABULARIES = ('label_names', 'attributes', 'edge_attributes')
MATRICES = ('cost', 'similarity')  # over the labels, where there are any


@dataclass
class Model:
    """A trained model.

    Attributes:
        header: JSON-able facts: format and version, task, objective, loss, lambda, how the data are read ('data'),
            solver, seed, primal, dual, gap, status and so on.
        label_names, attributes, edge_attributes: vocabularies; K labels, F attributes, E edge attributes.
        weights: 'state' float64[F, K], or 'state.indptr' int64[F+1], 'state.labels' int32[m] and
            'state.weights' float64[m] where only some pairs have a weight; 'transition' float64[K, K]
            (from, to); 'edge' float64[E, K, K]; 'triple' float64[K, K, K] where the order is 2. With a kernel no state
            weights, but the tokens that have coefficients, 'support.indptr' int64[M+1], 'support.indices' int32
            attributes, 'support.values' float64 (unless all are 1), and 'support.weights' float64[M, K].
        cost: float64[K, K] (right label, predicted label) where the loss came from a file, otherwise None.
        dual: the dual point, a dictionary of arrays, or None.
        similarity: float64[K, K], the inner products of the features of the classes where these have some (the state
            weights are those of whole classes all the same), otherwise None.
    """

    header: dict
    label_names: object
    attributes: object
    edge_attributes: object
    weights: dict = field(default_factory=dict)
    cost: np.ndarray | None = None
    dual: dict | None = None
    similarity: np.ndarray | None = None

    @property
    def task(self):
        return self.header['task']

    @property
    def order(self):
        """How many labels before a label the parts of a chain look at."""
        return self.header.get('order') or 1

    @property
    def kernel(self):
        """Kind and parameters of the kernel, None for linear features."""
        return self.header.get('kernel')


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
    for name in MATRICES:
        if getattr(model, name) is not None:
            arrays[name] = getattr(model, name)
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
    check_header(header, [name for name in MATRICES if name in container.names()], container.error)
    labels, attributes, edge_attributes = (_vocabulary(container, name) for name in VOCABULARIES)
    if not len(labels):
        raise container.error('a model without labels')
    check_names(attributes, edge_attributes, header['data'], container.error)
    linear = header.get('kernel') is None
    read_states = _states if linear else _support
    weights = read_states(container, len(labels), len(attributes))
    weights |= _transitions(container, len(labels), len(edge_attributes), header.get('order') == 2)
    if linear and not as_stored and header['feature_set'] == 'all':
        weights = dense(weights, len(attributes), len(labels))
    matrices = [
        container.array(name, '<f8', (len(labels),) * 2) if name in container.names() else None for name in MATRICES
    ]
    dual = None
    if with_dual:
        names = [name for name in container.names() if name.startswith('dual.')]
        dual = {name.removeprefix('dual.'): container.any_array(name) for name in names} or None
    cost, similarity = matrices
    return Model(header, labels, attributes, edge_attributes, weights, cost, dual, similarity)


def is_container(head):
    """Whether the first bytes of a file are those of a model (or of any zip file)."""
    return head.startswith(START)


def is_model(path):
    """Whether a file is a model, of whatever version and in whatever state."""
    return is_own(path, HEADER, FORMAT)


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


def _states(container, K, F):
    """State weights, their shapes and ranges checked against the vocabularies."""
    if 'weights.state.indptr' not in container.names():
        return {'state': _numbers(container, 'state', (F, K))}
    labels = container.array('weights.state.labels', '<i4', (None,))
    indptr = _table(container, 'state.indptr', F, len(labels))
    if len(labels) and not 0 <= labels.min() <= labels.max() < K:
        raise container.error('array weights.state.labels holds a label that is not there')
    weights = _numbers(container, 'state.weights', (len(labels),))
    return {'state.indptr': indptr, 'state.labels': labels, 'state.weights': weights}


def _support(container, K, F):
    """Tokens and their coefficients, where there is a kernel."""
    indices = container.array('weights.support.indices', '<i4', (None,))
    table = _numbers(container, 'support.weights', (None, K))
    indptr = _table(container, 'support.indptr', len(table), len(indices))
    if len(indices) and not 0 <= indices.min() <= indices.max() < F:
        raise container.error('array weights.support.indices holds an attribute that is not there')
    inside = np.ones(len(indices), bool)
    inside[indptr[:-1][np.diff(indptr) > 0]] = False
    if (np.diff(indices) <= 0)[inside[1:]].any():
        raise container.error('array weights.support.indices is not ascending in each token')
    weights = {'support.indptr': indptr, 'support.indices': indices, 'support.weights': table}
    if 'weights.support.values' in container.names():
        weights['support.values'] = _numbers(container, 'support.values', (len(indices),))
    return weights


def _transitions(container, K, E, triples):
    """Weights of pairs and triplets of labels; those of edge attributes there must be, and triplets where the order
    says so."""
    weights = {}
    needed = {'transition': False, 'edge': E > 0, 'triple': triples}
    for name, shape in {'transition': (K, K), 'edge': (E, K, K), 'triple': (K, K, K)}.items():
        if f'weights.{name}' in container.names() or needed[name]:
            weights[name] = _numbers(container, name, shape)
    return weights


def _table(container, name, rows, size):
    """Where each of the rows begins in an array of that size."""
    indptr = container.array(f'weights.{name}', '<i8', (rows + 1,))
    if indptr[0] != 0 or indptr[-1] != size or (np.diff(indptr) < 0).any():
        raise container.error(f'array weights.{name} is no table of rows')
    return indptr


def _numbers(container, name, shape):
    array = container.array(f'weights.{name}', '<f8', shape)
    if not np.isfinite(array).all():
        raise container.error(f'array weights.{name} holds a weight that is no finite number')
    return array
