"""The tokens that a kernel expansion is made of, and the rows of their kernel matrix.

A row K(x, .) is computed a block of tokens at a time by the transposed features: every attribute of x adds to the inner
products of the tokens that have it; then the kernel function is applied. Rows of the first tokens that fit into the
cache are kept when they have been computed: solvers visit all examples once a pass, so no other choice would hit
more often. Where all values are 1, inner products are counts: the cache holds them in a byte each, and the kernel
function is a table. What is cached changes no digit of a result.
"""

import numpy as np

from libc.math cimport exp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t
from libc.string cimport memset

from cython_ext.common.errors import UnfitDataError
from cython_ext.features.kernel.distinct_rows import DistinctRows
from cython_ext.features.tokens.sparse_rows cimport SparseRows
from cython_ext.kernels.vectors cimport kernel_rows

cdef enum:
    BLOCK = 2048            # tokens of a block: their kernel values stay in the first-level cache
    BATCH = 16              # tokens whose rows go through a block one after the other
    MOST = 255              # attributes of a token whose inner products are counts

CACHE_MB = 1000             # unless somebody says otherwise


cdef class KernelBasis:
    """kernel: a Kernel; parts: CSR triples (indptr, indices, values or None) whose distinct rows are the basis, in
    order of first appearance; columns: number of attributes; cache_mb: most that the cache may take. Raises
    UnfitDataError where kernel values are too large for a double."""

    def __init__(self, kernel, parts, Py_ssize_t columns, double cache_mb=CACHE_MB):
        self.kernel, self.columns = kernel, columns
        self.polynomial = kernel.kind == 'poly'
        self.degree, self.gamma, self.coef0 = kernel.degree, kernel.gamma, kernel.coef0
        self.distinct = DistinctRows(parts)
        self.rows = SparseRows(self.distinct.indptr, self.distinct.indices, self.distinct.values, columns)
        self.size = self.rows.n
        self.blocks = (self.size + BLOCK - 1) // BLOCK
        self.arrays = []
        self._set_norms()
        self._transpose()
        self._make_cache(cache_mb)

    def find(self, indptr, indices, values):
        """int32[n]: where each row of a CSR triple is in the basis, -1 for those that are not."""
        return self.distinct.find(indptr, indices, values)

    def support(self, places):
        """Some tokens of the basis as a model holds them: dict of the arrays of their CSR triple."""
        first, last = self.distinct.indptr[places], self.distinct.indptr[places + 1]
        entries = np.concatenate([np.empty(0, np.int64), *(np.arange(a, b) for a, b in zip(first, last))])
        indptr = np.concatenate([[0], np.cumsum(last - first)]).astype(np.int64)
        values = None if self.distinct.values is None else self.distinct.values[entries]
        ones = values is None or (values == 1).all()
        return {'support.indptr': indptr, 'support.indices': self.distinct.indices[entries],
                **({} if ones else {'support.values': values})}

    def _set_norms(self):
        cdef Py_ssize_t r
        cdef double[::1] norms2 = self._keep(np.zeros(self.size + 1))
        for r in range(self.size):
            norms2[r] = self.rows.inner(r, r)
        self.norms2 = &norms2[0]
        with np.errstate(over='ignore'):
            largest = (self.gamma * np.max(norms2) + self.coef0) ** np.float64(self.degree)
        if not np.isfinite(largest if self.polynomial else np.max(norms2)):
            raise UnfitDataError(f'values of the {self.kernel} are too large (expected a smaller gamma or degree, or '
                                 'values scaled by --scale max)')
        self.counts = self.rows.value == NULL and np.max(norms2) <= MOST
        cdef const uint8_t[::1] sizes
        cdef const double[::1] table
        if self.counts:
            sizes = self._keep(np.asarray(norms2).astype(np.uint8))
            table = self._keep(self._table())
            self.sizes, self.table = &sizes[0], &table[0]

    def _table(self):
        """The kernel by inner product, or by squared distance."""
        cdef double[::1] values = np.arange(2.0 * MOST + 1)
        cdef double[::1] zeros = np.zeros(len(values))
        cdef Py_ssize_t k
        if self.polynomial:
            kernel_rows.polynomial(len(values), self.gamma, self.coef0, self.degree, &values[0])
        else:
            for k in range(len(values)):
                values[k] *= -0.5                           # as products of tokens at squared distance k
            kernel_rows.gaussian(len(values), self.gamma, 0.0, &zeros[0], &values[0])
        return np.asarray(values)

    def _transpose(self):
        """The entries of each block by attribute."""
        indptr, index = self.distinct.indptr, self.distinct.indices
        starts = np.zeros((self.blocks, self.columns + 1), np.int32)
        rows = np.empty(len(index) + 1, np.uint16)
        values = None if self.distinct.values is None else np.empty(len(index) + 1)
        for b, first in enumerate(range(0, self.size, BLOCK)):
            last = min(first + BLOCK, self.size)
            begin, end = indptr[first], indptr[last]
            order = np.argsort(index[begin:end], kind='stable')
            np.cumsum(np.bincount(index[begin:end], minlength=self.columns), out=starts[b, 1:])
            rows[begin:end] = np.repeat(np.arange(last - first), np.diff(indptr[first:last + 1]))[order]
            if values is not None:
                values[begin:end] = self.distinct.values[begin:end][order]
        cdef const int32_t[::1] starts_view = self._keep(np.append(starts.ravel(), np.int32(0)))
        cdef const uint16_t[::1] rows_view = self._keep(rows)
        cdef const double[::1] values_view
        self.start, self.row, self.row_value = &starts_view[0], &rows_view[0], NULL
        if values is not None:
            values_view = self._keep(values)
            self.row_value = &values_view[0]

    def _make_cache(self, cache_mb):
        width = self.size * (1 if self.counts else 8)
        self.kept = min(self.size, int(cache_mb * 2**20 / width)) if width else 0
        cdef uint8_t[::1] states, counts
        cdef double[::1] values
        if self.kept == 0:
            return
        states = self._keep(np.zeros(self.kept, np.uint8))
        self.states = &states[0]
        if self.counts:
            counts = self._keep(np.empty(self.kept * self.size, np.uint8))
            self.count_cache = &counts[0]
        else:
            values = self._keep(np.empty(self.kept * self.size))
            self.value_cache = &values[0]

    def _keep(self, array):
        """array, which now lives as long as its pointers are used."""
        self.arrays.append(array)
        return array

    @property
    def cache_bytes(self):
        """What the cache takes when it is full."""
        return self.kept * self.size * (1 if self.counts else 8)

    def __str__(self):
        share = 'all' if self.kept == self.size else f'{self.kept}'
        return (f'{self.kernel}: {self.size} distinct tokens, the cache holds {share} rows of their kernel matrix in '
                f'{self.cache_bytes / 2**20:.0f} MB')

    # ---------------------------------------------------------------------------------------------- kernel values

    cdef double value(self, double product, double norm2, double other_norm2) noexcept nogil:
        """The kernel of two tokens from their inner product and squared norms."""
        cdef double power, distance
        cdef long _factor
        if self.polynomial:
            product = power = self.gamma * product + self.coef0
            for _factor in range(1, self.degree):
                power *= product
            return power
        distance = norm2 + other_norm2 - 2.0 * product
        return exp(-self.gamma * (distance if distance > 0.0 else 0.0))

    cdef void multiply(self, SparseRows rows, Py_ssize_t first, const int32_t *place, Py_ssize_t count,
                       const double *beta, Py_ssize_t stride, double *out) noexcept nogil:
        """out[q, :] = sum_u K(x, u) beta[u, :] for x = row first + q of rows, q < count. place[q]: where in the basis
        it is, -1 if it is not there."""
        cdef Query[BATCH] queries
        cdef Py_ssize_t q, batch
        memset(out, 0, count * stride * sizeof(double))
        while count > 0:
            batch = min(count, <Py_ssize_t> BATCH)
            for q in range(batch):
                if place[q] >= 0:
                    self.describe(self.rows, place[q], place[q], queries + q)
                else:
                    self.describe(rows, first + q, self.kept, queries + q)
            self.multiply_batch(queries, batch, beta, stride, out)
            first += batch
            place += batch
            out += batch * stride
            count -= batch

    cdef void multiply_batch(self, Query *queries, Py_ssize_t count, const double *beta, Py_ssize_t stride,
                             double *out) noexcept nogil:
        cdef double[BLOCK] room
        cdef const double *values
        cdef Py_ssize_t b, q, first, size
        for b in range(self.blocks):
            first = b * BLOCK
            size = min(self.size - first, <Py_ssize_t> BLOCK)
            for q in range(count):
                values = self.block_values(queries + q, b, room)
                kernel_rows.add_mixture(size, values, beta + first * stride, stride, out + q * stride)
        for q in range(count):
            if queries[q].filling:
                kernel_rows.publish_row(self.states + queries[q].slot)

    cdef void add_outer(self, Py_ssize_t place, const double *row, Py_ssize_t stride, double *out) noexcept nogil:
        """out[u, :] += K(x, u) row[:] for all u, x being a token of the basis."""
        cdef double[BLOCK] room
        cdef Query query
        cdef Py_ssize_t b, first
        self.describe(self.rows, place, place, &query)
        for b in range(self.blocks):
            first = b * BLOCK
            kernel_rows.add_outer(min(self.size - first, <Py_ssize_t> BLOCK), self.block_values(&query, b, room), row,
                                  stride, out + first * stride)
        if query.filling:
            kernel_rows.publish_row(self.states + query.slot)

    cdef void describe(self, SparseRows rows, Py_ssize_t r, Py_ssize_t slot, Query *query) noexcept nogil:
        """slot: the row of the cache that is this token's, if the cache is that long."""
        cdef int64_t p = rows.indptr[r]
        query.index, query.value, query.count = rows.index + p, rows.values(p), <Py_ssize_t> (rows.indptr[r + 1] - p)
        query.norm2 = 0.0 if self.polynomial else rows.inner(r, r)
        query.by_counts = self.counts and query.value == NULL and query.count <= MOST
        query.slot, query.ready, query.filling = -1, False, False
        if slot < self.kept:
            query.ready = kernel_rows.row_state(self.states + slot) == kernel_rows.READY
            query.filling = not query.ready and kernel_rows.claim_row(self.states + slot)
            if query.ready or query.filling:
                query.slot = slot

    cdef const double *block_values(self, Query *query, Py_ssize_t block, double *room) noexcept nogil:
        """The kernel values of a token and a block of the basis; room: for so many of them."""
        cdef uint8_t[BLOCK] count_room
        cdef uint8_t *counts = count_room
        cdef double *values = room
        cdef Py_ssize_t first = block * BLOCK, n = min(self.size - first, <Py_ssize_t> BLOCK)
        cdef int64_t entry = self.rows.indptr[first]
        cdef const int32_t *start = self.start + block * (self.columns + 1)
        if query.by_counts:
            if query.slot >= 0:
                counts = self.count_cache + query.slot * self.size + first
            if not query.ready:
                memset(counts, 0, n)
                kernel_rows.count_common(query.index, query.count, start, self.row + entry, counts)
            if self.polynomial:
                kernel_rows.look_up(n, counts, self.table, room)
            else:
                kernel_rows.look_up_distances(n, counts, query.count, self.sizes + first, self.table, room)
            return room
        if query.slot >= 0:
            values = self.value_cache + query.slot * self.size + first
        if not query.ready:
            memset(values, 0, n * sizeof(double))
            kernel_rows.add_products(query.index, query.value, query.count, start, self.row + entry,
                                     self.row_value + entry if self.row_value != NULL else NULL, values)
            if self.polynomial:
                kernel_rows.polynomial(n, self.gamma, self.coef0, self.degree, values)
            else:
                kernel_rows.gaussian(n, self.gamma, query.norm2, self.norms2 + first, values)
        return values
