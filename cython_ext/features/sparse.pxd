from libc.stdint cimport int32_t, int64_t, uint16_t

from cython_ext.features.feature_map cimport Accumulator, FeatureMap


cdef class SparseRows:
    cdef readonly Py_ssize_t n, columns
    cdef readonly object indptr_array, index_array, value_array
    cdef const int64_t *indptr
    cdef const int32_t *index
    cdef const double *value                # NULL: all ones

    cdef const double *values(self, int64_t p) noexcept nogil
    cdef double inner(self, Py_ssize_t r, Py_ssize_t s) noexcept nogil


cdef class SparseFeatures(FeatureMap):
    cdef readonly SparseRows tokens, edges
    cdef readonly Py_ssize_t n_labels, stride, square
    cdef readonly Py_ssize_t state_size, transition_size    # numbers of weights
    cdef readonly bint chain, transitions
    cdef readonly object offsets, groups
    cdef const int64_t *offset_data
    cdef object mask, spare
    cdef double *spare_data                 # [dim] zeros, where an example is too long for inner products
    cdef const double *mask_data            # [stride, stride] 1 where a transition has a weight
    cdef object gram_arrays
    cdef const int64_t *gram_start          # NULL: inner products are computed when needed
    cdef const uint16_t *gram_count         # one of the two holds them
    cdef const double *gram_double
    cdef Py_ssize_t longest                 # positions of an example up to which inner products of positions are used

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil
    cdef double gram(self, Py_ssize_t i, Py_ssize_t t, Py_ssize_t u) noexcept nogil
    cdef double edge_gram(self, Py_ssize_t i, Py_ssize_t t, Py_ssize_t u, Py_ssize_t k) noexcept nogil
    cdef void add_row(self, Py_ssize_t t, const double *row, double scale, double *w) noexcept nogil
    cdef void add_label(self, Py_ssize_t t, Py_ssize_t k, double scale, double *w) noexcept nogil
    cdef void gram_by_weights(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                              double *out) noexcept nogil
    cdef double norm2_by_weights(self, Py_ssize_t i, const double *a) noexcept nogil
    cdef double clear_row(self, Py_ssize_t t, double *w) noexcept nogil
    cdef double clear_pairs(self, Py_ssize_t i, double *block) noexcept nogil
    cdef void pair_scores(self, Py_ssize_t i, const double *block, double *theta) noexcept nogil
    cdef void add_pairs(self, Py_ssize_t i, const double *a, double scale, double *block) noexcept nogil
    cdef void add_pair(self, Py_ssize_t i, Py_ssize_t part, double scale, double *block) noexcept nogil
    cdef void gram_pair(self, Py_ssize_t i, Py_ssize_t part, double a, double *out) noexcept nogil
    cdef double pairs_norm2(self, Py_ssize_t i, const double *a) noexcept nogil


cdef class SparseAccumulator(Accumulator):
    cdef SparseFeatures map
    cdef Py_ssize_t pair_size, first, width
    cdef object tokens_by_column, column_values, statistics
    cdef double *statistic_data

    cdef _gather(self, double *out, Py_ssize_t begin, Py_ssize_t end)
