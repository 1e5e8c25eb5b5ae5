"""Parts with attributes of their own, and one weight for each attribute: theta_p = <w, x_p>.

Example i has a row of attributes for each of its first parts; the parts behind these have none and score 0. They stand
for what an output leaves undone, such as a word that is linked with nothing.
"""

import numpy as np

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from cython_ext.features.capabilities cimport Radius
from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.features.tokens.sparse_rows cimport SparseRows
from cython_ext.common.arrays import aligned_zeros
from cython_ext.structures.structure import padded


cdef class PartRows(FeatureMap):
    """rows: SparseRows [N, attributes]; offsets: int64[n + 1], the rows of example i are offsets[i]:offsets[i + 1];
    blanks: int64[n], how many parts of each example have no row, None where all have one."""

    helpers = {Radius: RowsRadius}

    def __init__(self, SparseRows rows not None, offsets, blanks=None):
        offsets = np.ascontiguousarray(offsets, np.int64)
        blanks = np.zeros(len(offsets), np.int64) if blanks is None else np.append(blanks, 0).astype(np.int64)
        cdef const int64_t[::1] offset_view = offsets, blank_view = blanks
        cdef double[::1] spare = aligned_zeros(rows.columns + 1)
        self.rows, self.dim = rows, rows.columns
        self.offsets, self.blanks, self.spare = offset_view, blank_view, spare
        self.offset_data, self.blank_data, self.spare_data = &offset_view[0], &blank_view[0], &spare[0]

    cdef Py_ssize_t rows_of(self, Py_ssize_t i) noexcept nogil:
        """How many parts of example i have a row."""
        return <Py_ssize_t> (self.offset_data[i + 1] - self.offset_data[i])

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        return self.rows_of(i) + <Py_ssize_t> self.blank_data[i]

    cdef void scores(self, Py_ssize_t i, const double *w, double *theta) noexcept nogil:
        cdef Py_ssize_t p, count = self.rows_of(i)
        for p in range(count):
            theta[p] = self.row_score(self.offset_data[i] + p, w)
        memset(theta + count, 0, self.blank_data[i] * sizeof(double))

    cdef void add(self, Py_ssize_t i, const double *a, double scale, double *w) noexcept nogil:
        cdef Py_ssize_t p
        for p in range(self.rows_of(i)):
            if a[p] != 0.0:
                self.add_row(self.offset_data[i] + p, scale * a[p], w)

    cdef void add_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a, double scale,
                        double *w) noexcept nogil:
        cdef Py_ssize_t c
        for c in range(count):
            if ids[c] < self.rows_of(i):
                self.add_row(self.offset_data[i] + ids[c], scale * a[c], w)

    # By way of a weight vector of zeros, of which only what the example touches is written and cleared again: linear in
    # the attributes of the example, where inner products of its parts would be quadratic in the parts.

    cdef void gram_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                         double *out) noexcept nogil:
        cdef Py_ssize_t c
        self.add_parts(i, count, ids, a, 1.0, self.spare_data)
        self.scores(i, self.spare_data, out)
        for c in range(count):
            if ids[c] < self.rows_of(i):
                self.clear_row(self.offset_data[i] + ids[c], self.spare_data)

    cdef double norm2(self, Py_ssize_t i, const double *a) noexcept nogil:
        cdef Py_ssize_t p
        cdef double total = 0.0
        self.add(i, a, 1.0, self.spare_data)
        for p in range(self.rows_of(i)):
            if a[p] != 0.0:
                total += self.clear_row(self.offset_data[i] + p, self.spare_data)
        return total

    cdef void add_row(self, int64_t r, double scale, double *w) noexcept nogil:
        """w += scale * x_r."""
        cdef const int32_t *index = self.rows.index
        cdef const double *value = self.rows.value
        cdef int64_t p
        for p in range(self.rows.indptr[r], self.rows.indptr[r + 1]):
            w[index[p]] += scale if value == NULL else scale * value[p]

    cdef double row_score(self, int64_t r, const double *w) noexcept nogil:
        """<w, x_r>."""
        cdef const int32_t *index = self.rows.index
        cdef const double *value = self.rows.value
        cdef int64_t p
        cdef double total = 0.0
        if value == NULL:
            for p in range(self.rows.indptr[r], self.rows.indptr[r + 1]):
                total += w[index[p]]
        else:
            for p in range(self.rows.indptr[r], self.rows.indptr[r + 1]):
                total += value[p] * w[index[p]]
        return total

    cdef double clear_row(self, int64_t r, double *w) noexcept nogil:
        """Zeros into the weights of a row's attributes; the sum of squares of what was there."""
        cdef int64_t p
        cdef double total = 0.0
        for p in range(self.rows.indptr[r], self.rows.indptr[r + 1]):
            total += w[self.rows.index[p]] * w[self.rows.index[p]]
            w[self.rows.index[p]] = 0.0
        return total

    def row_scores(self, w):
        """The scores of all parts that have a row, float64[N]."""
        out = np.empty(self.rows.n)
        cdef double[::1] view = out
        cdef const double[::1] weights = padded(np.asarray(w, np.float64))
        cdef Py_ssize_t r
        with nogil:
            for r in range(self.rows.n):
                view[r] = self.row_score(r, &weights[0])
        return out

    def blocks(self, w):
        """feature [attributes]."""
        return {'feature': np.array(w, np.float64)[:self.dim]}

    def weights(self, blocks):
        """The weight vector of blocks(); ValueError when they do not fit."""
        block = np.asarray(blocks['feature'], np.float64)
        if block.shape != (self.dim,):
            raise ValueError(f'weights of shape {block.shape} for {self.dim} attributes')
        w = self.zeros()
        w[:] = block
        return w


cdef class RowsRadius(Radius):
    def radius2(self, Py_ssize_t i, const int32_t[::1] ids, const double[::1] counts, double most):
        """As of Radius, from the norms of the rows."""
        cdef PartRows map = self.features
        cdef Py_ssize_t p
        norms = np.zeros(map.num_parts(i) + 1)
        cdef double[::1] view = norms
        for p in range(map.rows_of(i)):
            view[p] = sqrt(map.rows.inner(map.offset_data[i] + p, map.offset_data[i] + p))
        gold = np.asarray(counts) @ norms[np.asarray(ids)]
        return float((gold + most * norms.max()) ** 2)
