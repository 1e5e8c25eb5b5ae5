"""The few outputs that a pass of a max or top-K oracle gives each example, with weights: a sparse dual point a pass."""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from cython_ext.duals.sparse import SparsePoint
from cython_ext.objectives.smoothed cimport SmoothedWorkspace
from cython_ext.solvers.blocks.working_sets cimport WorkingSets


cdef class ListedOutputs:
    """k: most outputs that a pass gives an example."""

    def __init__(self, problem, Py_ssize_t k):
        cdef Py_ssize_t i, n = problem.n
        self.structure, self.k = problem.structure, k
        starts_ = np.zeros(n + 1, np.int64)
        for i in range(n):
            starts_[i + 1] = starts_[i] + k * self.structure.code_length(i)
        cdef int64_t[::1] starts = starts_
        cdef int32_t[::1] codes = np.zeros(int(starts_[n]) + 1, np.int32), counts = np.zeros(n + 1, np.int32)
        cdef double[::1] weights = np.zeros(n * k + 1)
        self.starts, self.codes, self.counts, self.weights = &starts[0], &codes[0], &counts[0], &weights[0]
        self.arrays = starts, codes, counts, weights

    @property
    def bytes(self):
        """Of the dual point of a pass, at most."""
        return sum(array.nbytes for array in self.arrays)

    cdef void note(self, Py_ssize_t i, SmoothedWorkspace work) noexcept nogil:
        """What the oracle has just given example i."""
        cdef Py_ssize_t r, length = self.structure.code_length(i), at = 0
        for r in range(work.count):
            if work.weights[r] > 0.0:
                memcpy(self.codes + self.starts[i] + at * length, work.codes + work.order[r] * length,
                       length * sizeof(int32_t))
                self.weights[i * self.k + at] = work.weights[r]
                at += 1
        self.counts[i] = <int32_t> at

    def point(self):
        """The SparsePoint of the last pass."""
        cdef Py_ssize_t i, r, n = self.structure.n, length, o = 0
        cdef int64_t c = 0
        counts = np.asarray(self.arrays[2])[:n]
        cdef int64_t[::1] indptr = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        cdef int64_t[::1] code_indptr = np.zeros(indptr[n] + 1, np.int64)
        cdef double[::1] weights = np.zeros(indptr[n])
        for i in range(n):
            for r in range(self.counts[i]):
                weights[o] = self.weights[i * self.k + r]
                o += 1
                code_indptr[o] = code_indptr[o - 1] + self.structure.code_length(i)
        cdef int32_t[::1] codes = np.zeros(code_indptr[o], np.int32)
        for i in range(n):
            length = self.counts[i] * self.structure.code_length(i)
            if length:
                memcpy(&codes[c], self.codes + self.starts[i], length * sizeof(int32_t))
            c += length
        return SparsePoint(indptr, weights, code_indptr, codes)


def mixture(structure, points, const double[::1] shares):
    """The SparsePoint of a mixture of some, in which equal outputs of an example are one."""
    cdef WorkingSets sets = WorkingSets(structure, gold_weight=0.0)
    cdef const int64_t[::1] indptr, code_indptr
    cdef const double[::1] weights
    cdef const int32_t[::1] codes
    cdef const int32_t *code
    cdef int32_t nothing = 0
    cdef Py_ssize_t i, k, place
    cdef int64_t o
    for k, point in enumerate(points):
        indptr, weights, code_indptr, codes = point.indptr, point.weights, point.code_indptr, point.codes
        for i in range(sets.n):
            for o in range(indptr[i], indptr[i + 1]):
                code = &codes[code_indptr[o]] if code_indptr[o + 1] > code_indptr[o] else &nothing
                place = sets.find(i, code)
                if place < 0:
                    place = sets.append(i, code, 0.0, 0.0)
                    if place < 0:
                        raise MemoryError
                sets.sets[i].weight[place] += shares[k] * weights[o]
    for i in range(sets.n):
        sets.normalise(i)
    return sets.dual_point()
