"""The model file: everything that predicting and certifying need, in one portable file without pickle."""

from dataclasses import dataclass, field

import numpy as np

from cython_ext.common.prefixes import prefixed
from data_formats.errors import shown
from data_formats.files.atomic import atomic_output
from data_formats.files.container import START, Container, is_own, write_container
from data_formats.models.header import FORMAT, FORMAT_VERSION, MODEL_NOUN, check_header
from data_formats.parameters import parameters_of

HEADER = 'header.json'
MATRICES = ('cost', 'similarity')  # over the labels, where there are any
DUAL = 'dual.'  # the arrays of a dual point
SCALE = 'scale'  # of the values of each attribute


def _no_names():
    from cython_ext.text.vocabulary import Vocabulary

    return Vocabulary()


@dataclass
class Model:
    """A trained model.

    Attributes:
        header: JSON-able facts: format and version, task, objective, loss, lambda, how the data are read ('data'),
            solver, seed, primal, dual, gap, status and so on.
        label_names: vocabulary of the K labels, empty where the task has none.
        attributes, edge_attributes, word_names, tag_names, node_types, factor_types: further vocabularies, those that
            the task has.
        weights: a dictionary of arrays, see data_formats.parameters for those of a task.
        cost: float64[K, K] (right label, predicted label) where the loss came from a file, otherwise None.
        dual: the dual point, a DualPoint (cython_ext.duals), or None.
        similarity: float64[K, K], the inner products of the features of the classes where these have some (the state
            weights are those of whole classes all the same), otherwise None.
        scale: float64[attributes], what the values of each attribute are divided by (scaling.py), otherwise None.
    """

    header: dict
    label_names: object = field(default_factory=_no_names)
    attributes: object = None
    edge_attributes: object = None
    weights: dict = field(default_factory=dict)
    cost: np.ndarray | None = None
    dual: object = None
    similarity: np.ndarray | None = None
    word_names: object = None
    tag_names: object = None
    node_types: object = None
    factor_types: object = None
    scale: np.ndarray | None = None

    @property
    def task(self):
        return self.header['task']

    @property
    def states(self):
        """For each type of nodes the names of its states (graphs)."""
        return [tuple(names) for names in self.header['data']['states']]

    @property
    def scopes(self):
        """For each type of factors the types of its nodes (graphs)."""
        return [tuple(kinds) for kinds in self.header['data']['scopes']]

    @property
    def buckets(self):
        """For each type of factors that count the first counts of its buckets, None for the others (graphs)."""
        return self.header['data'].get('buckets') or [None] * len(self.scopes)

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
    arrays, parameters = {}, parameters_of(header)
    for name in parameters.VOCABULARIES:
        arrays[f'{name}.bytes'], arrays[f'{name}.offsets'] = getattr(model, name).to_arrays()
    arrays |= prefixed('weights', parameters.stored(model.weights))
    for name in MATRICES:
        if getattr(model, name) is not None:
            arrays[name] = getattr(model, name)
    if model.scale is not None:
        arrays[SCALE] = model.scale
    if model.dual is not None:
        arrays |= prefixed('dual', model.dual.arrays())
    with atomic_output(path) as stream:
        write_container(stream, HEADER, header, arrays)


def load(path, with_dual=True, as_stored=False):
    """Read a model and check that its parts fit together.

    Args:
        path: the file; '-' is standard input.
        with_dual: read the dual point too, of which otherwise only lengths and checksums are looked at.
        as_stored: leave the state weights as lists where they are stored so.

    Raises:
        DataError: missing, foreign, truncated, altered, or written by a newer version.
    """
    container = Container(path, HEADER, MODEL_NOUN)
    header = container.document
    check_header(header, [name for name in MATRICES if name in container.names()], container.error)
    parameters = parameters_of(header)
    names = {name: _vocabulary(container, name) for name in parameters.VOCABULARIES}
    labels = len(names.get('label_names', ()))
    if 'label_names' in names and not labels:
        raise container.error('a model without labels')
    weights = parameters.read(container, header, names, as_stored)
    matrices = {name: _matrix(container, name, labels) for name in MATRICES if name in container.names()}
    scale = _scale(container, header, names)
    _refuse_others(container, as_stored)
    dual = _dual(container) if with_dual else _verify_dual(container)
    return Model(header, **names, weights=weights, dual=dual, **matrices, scale=scale)


def is_container(head):
    """Whether the first bytes of a file are those of a model (or of any zip file)."""
    return head.startswith(START)


def is_model(path):
    """Whether a file is a model, of whatever version and in whatever state."""
    return is_own(path, HEADER, FORMAT)


def _matrix(container, name, labels):
    matrix = container.array(name, '<f8', (labels, labels))
    if not np.isfinite(matrix).all():
        raise container.error(f'array {name} holds what is no finite number')
    return matrix


def _refuse_others(container, as_stored):
    """Raise DataError where there are arrays that nothing has asked for: the name of another one was altered."""
    others = [name for name in container.unread() if not name.startswith(DUAL)]
    if others and not as_stored:  # which leaves some unread
        raise container.error(f'array {shown(others[0])} is none of a model for {container.document["task"]}')


def _verify_dual(container):
    for name in container.names():
        if name.startswith(DUAL):
            container.verify(name)


def _dual(container):
    """The dual point, all of it there and consistent in itself; None where there is none."""
    point = {name.removeprefix(DUAL): container.any_array(name) for name in container.names() if name.startswith(DUAL)}
    if not point:
        return None
    from cython_ext.duals.registry import kind_of

    kind = kind_of(point)
    if kind is None:
        raise container.error(f'a dual point of {", ".join(map(shown, sorted(point)))}, of which some are missing')
    try:
        return kind.from_arrays(point)
    except (ValueError, TypeError) as error:
        raise container.error(f'a dual point that is none: {error}') from error


def _scale(container, header, names):
    """What values are divided by, if the header says that they are."""
    if header['data'].get(SCALE) is None:
        if SCALE in container.names():
            raise container.error(f'array {SCALE}, and no data.{SCALE} in the header')
        return None
    scale = container.array(SCALE, '<f8', (len(names.get('attributes', ())),))
    if not (np.isfinite(scale) & (scale > 0)).all():
        raise container.error(f'array {SCALE} holds what no value can be divided by')
    return scale


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
