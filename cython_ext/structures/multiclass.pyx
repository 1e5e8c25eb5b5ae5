"""One label of K: parts are the labels, theta is one padded row of label scores."""

import numpy as np

from libc.math cimport INFINITY, log
from libc.stdint cimport int32_t

from cython_ext.kernels cimport vector
from cython_ext.structures.registry import StructureInfo
from cython_ext.structures.structure cimport SummedStructure


def padded(n_labels):
    """Row length for n_labels: the next multiple of 4, the width of the vector kernels."""
    return (n_labels + 3) // 4 * 4


cdef class Multiclass(SummedStructure):
    """labels: int32[n], the right label of each example (-1 where unknown); n_labels: K."""

    def __init__(self, labels, Py_ssize_t n_labels):
        cdef const int32_t[::1] view = labels
        self.labels = labels
        self.label_data = &view[0] if len(view) else NULL
        self.n = len(view)
        self.n_labels = n_labels
        self.stride = self.max_size = padded(n_labels)
        self.max_code = self.max_parts = 1

    cdef Py_ssize_t size_of(self, Py_ssize_t i) noexcept nogil:
        return self.stride

    cdef Py_ssize_t code_of(self, Py_ssize_t i) noexcept nogil:
        return 1

    cdef const int32_t *gold(self, Py_ssize_t i) noexcept nogil:
        return self.label_data + i

    cdef Py_ssize_t parts(self, Py_ssize_t i, const int32_t *code, int32_t *ids, double *counts) noexcept nogil:
        ids[0] = code[0]
        counts[0] = 1.0
        return 1

    cdef Py_ssize_t scratch_size(self, Py_ssize_t k) noexcept nogil:
        return self.stride

    cdef bint valid(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        return 0 <= code[0] < self.n_labels

    cdef double max(self, Py_ssize_t i, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        code[0] = <int32_t> vector.argmax(self.n_labels, theta)
        return theta[code[0]]

    cdef Py_ssize_t topk(self, Py_ssize_t i, const double *theta, Py_ssize_t k, double *scratch, double *values,
                         int32_t *codes) noexcept nogil:
        cdef Py_ssize_t r, j, best, count = 0
        cdef double before = INFINITY
        cdef int32_t last = -1
        # The next output is the first one with the largest score among those that come after the last one found.
        for r in range(min(k, self.n_labels)):
            best = -1
            for j in range(self.n_labels):
                if theta[j] < before or (theta[j] == before and j > last):
                    if best < 0 or theta[j] > theta[best]:
                        best = j
            if best < 0 or (count > 0 and theta[best] == -INFINITY):
                break
            before, last = theta[best], <int32_t> best
            values[count], codes[count] = before, last
            count += 1
        return count

    cdef double exp(self, Py_ssize_t i, const double *theta, double *scratch, double *mean) noexcept nogil:
        cdef double top = vector.maximum(self.n_labels, theta), total
        cdef Py_ssize_t k
        if top == -INFINITY:
            for k in range(self.stride):
                mean[k] = 0.0
            return -INFINITY
        vector.exp_shifted(self.stride, theta, top, mean)
        for k in range(self.n_labels, self.stride):
            mean[k] = 0.0
        total = vector.row_sum(self.stride, mean)
        vector.scale(self.stride, 1.0 / total, mean)
        return top + log(total)

    cdef void centre(self, Py_ssize_t i, double *theta) noexcept nogil:
        cdef double top = vector.maximum(self.n_labels, theta)
        cdef Py_ssize_t k
        if top > -INFINITY:
            for k in range(self.n_labels):
                theta[k] -= top


def build(dataset, feature_set='all', **how):
    """(Structure, FeatureMap) of a TokenDataset whose examples are single tokens."""
    from cython_ext.features.tokens import token_features

    structure = Multiclass(np.ascontiguousarray(dataset.labels, np.int32), len(dataset.label_names))
    return structure, token_features(dataset, structure.n_labels, structure.stride, False, feature_set, **how)


def position_costs(structure, matrix=None):
    """PositionCosts of a cost matrix, 1 off the diagonal if None."""
    from cython_ext.losses.position_costs import PositionCosts, hamming

    return PositionCosts(structure, hamming(structure.n_labels) if matrix is None else matrix)


def label_strata(structure, loss):
    from cython_ext.losses.strata import LabelStrata

    return LabelStrata(structure, loss)


INFO = StructureInfo(
    'multiclass', 'one label for each example', build, {'zero-one': position_costs, 'hamming': position_costs},
    'zero-one', position_costs, dict.fromkeys(('zero-one', 'hamming', 'costs'), label_strata),
    ('zero-one', 'hamming'),
)
