"""Sparse inputs as the kernels read them: the attributes of tokens, or of the transitions into them."""

import numpy as np

from libc.stdint cimport int32_t, int64_t


cdef class SparseRows:
    """A CSR matrix for the kernels: indptr int64[n + 1], index int32[nnz] ascending in each row, value float64[nnz]
    or None when all are 1."""

    def __init__(self, indptr, index, value, Py_ssize_t columns):
        cdef const int64_t[::1] indptr_view = np.ascontiguousarray(indptr, np.int64)
        cdef const int32_t[::1] index_view = np.ascontiguousarray(index, np.int32)
        cdef const double[::1] value_view
        self.n, self.columns = len(indptr_view) - 1, columns
        self.indptr_array, self.index_array, self.value_array = indptr_view, index_view, None
        self.indptr = &indptr_view[0]
        self.index = &index_view[0] if len(index_view) else NULL
        self.value = NULL
        if value is not None and len(index_view):
            value_view = np.ascontiguousarray(value, np.float64)
            self.value_array = value_view
            self.value = &value_view[0]

    cdef const double *values(self, int64_t p) noexcept nogil:
        """Where the values of entry p and after stand, NULL when all are 1."""
        if self.value == NULL:
            return NULL
        return self.value + p

    cdef double inner(self, Py_ssize_t r, Py_ssize_t s) noexcept nogil:
        """Inner product of rows r and s."""
        cdef int64_t p = self.indptr[r], q = self.indptr[s]
        cdef double total = 0.0
        while p < self.indptr[r + 1] and q < self.indptr[s + 1]:
            if self.index[p] < self.index[q]:
                p += 1
            elif self.index[p] > self.index[q]:
                q += 1
            else:
                total += 1.0 if self.value == NULL else self.value[p] * self.value[q]
                p += 1
                q += 1
        return total

    def transposed(self, bint with_values=True):
        """(indptr, row numbers ascending, values or None) of the columns."""
        index = np.asarray(self.index_array)
        indptr = np.zeros(self.columns + 1, np.int64)
        np.cumsum(np.bincount(index, minlength=self.columns), out=indptr[1:])
        rows = np.empty(len(index), np.int32)
        with_values = with_values and self.value != NULL
        values = np.empty(len(index)) if with_values else None
        cdef int64_t[::1] place = indptr[:self.columns].copy()
        cdef int32_t[::1] rows_view = rows
        cdef double[::1] values_view = values
        cdef Py_ssize_t r
        cdef int64_t p, to
        with nogil:
            for r in range(self.n):
                for p in range(self.indptr[r], self.indptr[r + 1]):
                    to = place[self.index[p]]
                    rows_view[to] = <int32_t> r
                    if with_values:
                        values_view[to] = self.value[p]
                    place[self.index[p]] = to + 1
        return indptr, rows, values
