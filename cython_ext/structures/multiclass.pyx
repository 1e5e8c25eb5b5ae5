"""One label of K: the alternatives of every example are the labels."""

import numpy as np

from cython_ext.structures.choice cimport Choice
from cython_ext.structures.choice import padded
from cython_ext.structures.registry import StructureInfo


cdef class Multiclass(Choice):
    """labels: int32[n], the right label of each example (-1 where unknown); n_labels: K."""

    def __init__(self, labels, Py_ssize_t n_labels):
        self.labels = labels
        self.n_labels, self.stride = n_labels, padded(n_labels)
        self._set(labels, n_labels)

    cdef Py_ssize_t count(self, Py_ssize_t i) noexcept nogil:
        return self.n_labels

    cdef Py_ssize_t size_of(self, Py_ssize_t i) noexcept nogil:
        return self.stride


def build(dataset, feature_set='all', **how):
    """(Structure, FeatureMap) of a TokenDataset whose examples are single tokens."""
    from cython_ext.features.tokens import token_features

    structure = Multiclass(np.ascontiguousarray(dataset.labels, np.int32), len(dataset.label_names))
    return structure, token_features(dataset, structure.n_labels, structure.stride, False, feature_set, **how)


def position_costs(structure, matrix=None):
    """PositionCosts of a cost matrix, 1 off the diagonal if None."""
    from cython_ext.losses.position_costs import PositionCosts, hamming

    return PositionCosts(structure, hamming(structure.n_labels) if matrix is None else matrix)


def strata(structure, loss):
    from cython_ext.losses.strata import ChoiceStrata

    return ChoiceStrata(structure, loss)


INFO = StructureInfo(
    'multiclass', 'one label for each example', build, {'zero-one': position_costs, 'hamming': position_costs},
    'zero-one', position_costs, dict.fromkeys(('zero-one', 'hamming', 'costs'), strata),
    ('zero-one', 'hamming'),
)
