"""Costs per position: Delta(y_i, y) = sum_t cost[y_i[t], y[t]]. Hamming loss is cost = 1 off the diagonal."""

import numpy as np

from libc.stdint cimport int32_t

from cython_ext.kernels.vectors cimport vector
from cython_ext.losses.loss cimport DecomposableLoss
from cython_ext.losses.loss import TaskLoss
from cython_ext.structures.structure cimport Structure


def hamming(n_labels):
    """The cost matrix of the number of wrong positions."""
    return 1.0 - np.eye(n_labels)


cdef class PositionCosts(DecomposableLoss):
    """structure: one with label_rows (multiclass, chain); matrix: float64[K, K] costs >= 0 (gold label, label), zero
    on the diagonal; None: that of hamming."""

    unstratified = TaskLoss.unstratified

    def __init__(self, Structure structure not None, matrix=None):
        labels, self.stride = structure.label_rows()
        matrix = hamming(labels) if matrix is None else np.asarray(matrix, np.float64)
        if matrix.shape != (labels, labels):
            raise ValueError(f'a cost matrix of shape {matrix.shape} for {labels} labels')
        if not np.all(np.isfinite(matrix)) or matrix.min(initial=0) < 0 or np.any(np.diag(matrix) != 0):
            raise ValueError('costs must be finite and not negative, and zero for the right label')
        self.structure, self.matrix = structure, matrix
        padded = np.zeros((labels, self.stride))
        padded[:, :labels] = matrix
        self.rows = padded
        self.row_data = &self.rows[0, 0]

    cdef double value(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        cdef const int32_t *gold = self.structure.gold(i)
        cdef Py_ssize_t t
        cdef double total = 0.0
        for t in range(self.structure.code_length(i)):
            total += self.row_data[gold[t] * self.stride + code[t]]
        return total

    cdef void add_costs(self, Py_ssize_t i, double scale, double *theta) noexcept nogil:
        cdef const int32_t *gold = self.structure.gold(i)
        cdef Py_ssize_t t
        for t in range(self.structure.code_length(i)):
            vector.axpy(self.stride, scale, self.row_data + gold[t] * self.stride, theta + t * self.stride)

    cdef double expected(self, Py_ssize_t i, const double *mean) noexcept nogil:
        cdef const int32_t *gold = self.structure.gold(i)
        cdef Py_ssize_t t
        cdef double total = 0.0
        for t in range(self.structure.code_length(i)):
            total += vector.dot(self.stride, self.row_data + gold[t] * self.stride, mean + t * self.stride)
        return total


cdef class LabelCosts(PositionCosts):
    """Of single labels: each of them is a value."""

    unstratified = None

    def make_strata(self):
        from cython_ext.losses.strata import ChoiceStrata

        return ChoiceStrata(self.structure, self)


cdef class WrongLabels(PositionCosts):
    """Of chains: how many positions have a wrong label."""

    unstratified = None

    def __init__(self, Structure structure not None):
        PositionCosts.__init__(self, structure)

    def make_strata(self):
        from cython_ext.losses.hamming_strata import HammingStrata, SecondOrderHammingStrata
        from cython_ext.structures.labels.chain2 import SecondOrderChain

        kind = SecondOrderHammingStrata if isinstance(self.structure, SecondOrderChain) else HammingStrata
        return kind(self.structure)
