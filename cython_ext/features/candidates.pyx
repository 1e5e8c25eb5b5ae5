"""Sparse linear features of candidates: phi(x_i, y) is the row of candidate y, one weight for each attribute."""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.features.sparse_rows cimport SparseRows
from cython_ext.memory import aligned_zeros
from cython_ext.structures.candidates cimport Candidates
from cython_ext.structures.structure import padded


cdef class CandidateFeatures(FeatureMap):
    """structure: the Candidates; rows: SparseRows [N, attributes], a row for each candidate of each example."""

    cdef Candidates structure
    cdef readonly SparseRows rows
    cdef object spare
    cdef double *spare_data                 # a weight vector of zeros, for gram_parts and norm2

    def __init__(self, Candidates structure not None, SparseRows rows not None):
        cdef double[::1] view = aligned_zeros(rows.columns + 1)
        if rows.n != structure.total:
            raise ValueError(f'{rows.n} rows for {structure.total} candidates')
        self.structure, self.rows, self.dim = structure, rows, rows.columns
        self.spare, self.spare_data = view, &view[0]

    cdef Py_ssize_t size_of(self, Py_ssize_t i) noexcept nogil:
        return self.structure.size_of(i)

    cdef void scores(self, Py_ssize_t i, const double *w, double *theta) noexcept nogil:
        cdef Py_ssize_t c, count = self.structure.count(i)
        for c in range(count):
            theta[c] = self.score(self.structure.offset_data[i] + c, w)
        for c in range(count, self.structure.size_of(i)):
            theta[c] = 0.0

    cdef double score(self, int64_t row, const double *w) noexcept nogil:
        """<w, x> of a row."""
        cdef const int32_t *index = self.rows.index
        cdef const double *value = self.rows.value
        cdef int64_t p
        cdef double total = 0.0
        if value == NULL:
            for p in range(self.rows.indptr[row], self.rows.indptr[row + 1]):
                total += w[index[p]]
        else:
            for p in range(self.rows.indptr[row], self.rows.indptr[row + 1]):
                total += value[p] * w[index[p]]
        return total

    cdef void add_row(self, int64_t row, double scale, double *w) noexcept nogil:
        """w += scale * x of a row."""
        cdef const int32_t *index = self.rows.index
        cdef const double *value = self.rows.value
        cdef int64_t p
        for p in range(self.rows.indptr[row], self.rows.indptr[row + 1]):
            w[index[p]] += scale if value == NULL else scale * value[p]

    cdef double clear_row(self, int64_t row, double *w) noexcept nogil:
        """Zeros into the weights of a row's attributes; the sum of squares of what was there."""
        cdef double *weight
        cdef int64_t p
        cdef double total = 0.0
        for p in range(self.rows.indptr[row], self.rows.indptr[row + 1]):
            weight = w + self.rows.index[p]
            total += weight[0] * weight[0]
            weight[0] = 0.0
        return total

    cdef void add(self, Py_ssize_t i, const double *a, double scale, double *w) noexcept nogil:
        cdef Py_ssize_t c
        for c in range(self.structure.count(i)):
            if a[c] != 0.0:
                self.add_row(self.structure.offset_data[i] + c, scale * a[c], w)

    cdef void add_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a, double scale,
                        double *w) noexcept nogil:
        cdef Py_ssize_t c
        for c in range(count):
            self.add_row(self.structure.offset_data[i] + ids[c], scale * a[c], w)

    cdef void gram_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                         double *out) noexcept nogil:
        cdef Py_ssize_t c
        self.add_parts(i, count, ids, a, 1.0, self.spare_data)
        self.scores(i, self.spare_data, out)
        for c in range(count):
            self.clear_row(self.structure.offset_data[i] + ids[c], self.spare_data)

    cdef double norm2(self, Py_ssize_t i, const double *a) noexcept nogil:
        cdef Py_ssize_t c
        cdef double total = 0.0
        self.add(i, a, 1.0, self.spare_data)
        for c in range(self.structure.count(i)):
            if a[c] != 0.0:
                total += self.clear_row(self.structure.offset_data[i] + c, self.spare_data)
        return total

    def spread2(self, Py_ssize_t i, const int32_t[::1] ids, const double[::1] counts, double most):
        """max_y ||x_{y_i} - x_y||^2 itself. ids: the right candidate alone."""
        cdef int64_t first = self.structure.offset_data[i]
        cdef Py_ssize_t c
        cdef double total, largest = 0.0
        for c in range(self.structure.count(i)):
            self.add_row(first + c, -1.0, self.spare_data)
            self.add_row(first + ids[0], 1.0, self.spare_data)
            total = self.clear_row(first + c, self.spare_data)
            largest = max(largest, total + self.clear_row(first + ids[0], self.spare_data))
        return largest

    def all_scores(self, w):
        """The score of every candidate of every example, float64[N]."""
        out = np.empty(self.rows.n)
        cdef double[::1] view = out
        cdef const double[::1] weights = padded(np.asarray(w, np.float64))
        cdef Py_ssize_t row
        with nogil:
            for row in range(self.rows.n):
                view[row] = self.score(row, &weights[0])
        return out

    def blocks(self, w):
        """feature [attributes]."""
        return {'feature': np.array(w, np.float64)[:self.dim]}

    def weights(self, blocks):
        """The weight vector of blocks(); ValueError when they do not fit."""
        shapes = {name: np.shape(block) for name, block in blocks.items()}
        if shapes != {'feature': (self.dim,)}:
            raise ValueError(f'weights of shapes {shapes} (expected {self.dim} features)')
        w = self.zeros()
        w[:] = blocks['feature']
        return w
