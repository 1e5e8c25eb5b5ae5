"""Sparse inputs as the kernels read them: the attributes of tokens, or of the transitions into them."""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from cython_ext.common.parallel import ranges


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

    def transposed(self, bint with_values, pool):
        """(indptr, row numbers ascending, values or None) of the columns. pool: a cython_ext.common.parallel.Pool,
        whose number of threads changes nothing."""
        cdef Py_ssize_t size = len(self.index_array)
        # their places in the columns are no more numbers than there are entries
        parts = ranges(self.indptr_array, min(pool.threads, 1 + size // max(1, self.columns)))
        places = np.zeros((len(parts), self.columns), np.int64)
        pool.map(self._count, [(places[p], *part) for p, part in enumerate(parts)])
        indptr = np.zeros(self.columns + 1, np.int64)
        np.cumsum(places.sum(axis=0), out=indptr[1:])
        begin = indptr[:self.columns].copy()
        for place in places:
            counts = place.copy()
            place[:] = begin
            begin += counts
        rows = np.empty(size, np.int32)
        values = np.empty(size) if with_values and self.value != NULL else None
        pool.map(self._place, [(places[p], rows, values, *part) for p, part in enumerate(parts)])
        return indptr, rows, values

    def _count(self, int64_t[::1] counts, Py_ssize_t begin, Py_ssize_t end):
        """How many entries the columns have in a range of rows."""
        cdef int64_t p
        with nogil:
            for p in range(self.indptr[begin], self.indptr[end]):
                counts[self.index[p]] += 1

    def _place(self, int64_t[::1] places, int32_t[::1] rows, double[::1] values, Py_ssize_t begin, Py_ssize_t end):
        """Put a range of rows into the columns, whose next entries stand at `places`."""
        cdef bint with_values = values is not None
        cdef Py_ssize_t r
        cdef int64_t p, to
        with nogil:
            for r in range(begin, end):
                for p in range(self.indptr[r], self.indptr[r + 1]):
                    to = places[self.index[p]]
                    places[self.index[p]] = to + 1
                    rows[to] = <int32_t> r
                    if with_values:
                        values[to] = self.value[p]
