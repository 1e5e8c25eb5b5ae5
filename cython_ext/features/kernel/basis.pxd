from libc.stdint cimport int32_t, uint8_t, uint16_t

from cython_ext.features.tokens.sparse_rows cimport SparseRows


cdef struct Query:                      # a token whose row of the kernel matrix is asked for
    const int32_t *index
    const double *value                 # NULL: all ones
    Py_ssize_t count
    double norm2
    Py_ssize_t slot                     # its row of the cache, -1 without one
    bint ready, filling                 # that row can be read, or is written by this call
    bint by_counts


cdef class KernelBasis:
    cdef readonly object kernel
    cdef readonly SparseRows rows
    cdef readonly Py_ssize_t size, kept     # tokens, and rows of the kernel matrix that the cache has room for
    cdef readonly bint counts               # inner products are small whole numbers
    cdef bint polynomial
    cdef double gamma, coef0
    cdef long degree
    cdef readonly object distinct           # DistinctRows
    cdef object arrays
    cdef Py_ssize_t columns, blocks
    # the transposed features of each block
    cdef const int32_t *start               # [blocks, columns + 1] where the entries of an attribute begin in the block
    cdef const uint16_t *row                # [entries] row in the block
    cdef const double *row_value            # [entries], NULL: all ones
    cdef const double *norms2               # [size] squared norms of the tokens
    cdef const uint8_t *sizes               # [size] the same where they are counts
    cdef const double *table                # kernel by count, or by squared distance, where they are whole numbers
    cdef uint8_t *states                    # [kept] of the rows of the cache
    cdef uint8_t *count_cache               # [kept, size] inner products; one of the two is NULL
    cdef double *value_cache                # [kept, size] kernel values

    cdef double value(self, double product, double norm2, double other_norm2) noexcept nogil
    cdef void multiply(self, SparseRows rows, Py_ssize_t first, const int32_t *place, Py_ssize_t count,
                       const double *beta, Py_ssize_t stride, double *out) noexcept nogil
    cdef void multiply_batch(self, Query *queries, Py_ssize_t count, const double *beta, Py_ssize_t stride,
                             double *out) noexcept nogil
    cdef void add_outer(self, Py_ssize_t place, const double *row, Py_ssize_t stride, double *out) noexcept nogil
    cdef void describe(self, SparseRows rows, Py_ssize_t r, Py_ssize_t slot, Query *query) noexcept nogil
    cdef const double *block_values(self, Query *query, Py_ssize_t block, double *room) noexcept nogil
