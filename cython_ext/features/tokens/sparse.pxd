from libc.stdint cimport int32_t, int64_t, uint16_t

from cython_ext.features.accumulators cimport NormWindows, StatisticsAccumulator
from cython_ext.features.capabilities cimport Radius, Tables
from cython_ext.features.tokens.sparse_rows cimport SparseRows
from cython_ext.features.tokens.transitions cimport TransitionWeights


cdef class SparseFeatures(TransitionWeights):
    cdef readonly SparseRows tokens
    cdef readonly Py_ssize_t state_size     # number of weights of attributes and labels
    cdef readonly object groups
    cdef object tokens_by_column            # once they were asked for
    cdef object spare
    cdef double *spare_data                 # [dim] zeros, where an example is too long for inner products
    cdef object gram_arrays
    cdef const int64_t *gram_start          # NULL: inner products are computed when needed
    cdef const uint16_t *gram_count         # one of the two holds them
    cdef const double *gram_double
    cdef Py_ssize_t longest                 # positions of an example up to which inner products of positions are used

    cdef double gram(self, Py_ssize_t i, Py_ssize_t t, Py_ssize_t u) noexcept nogil
    cdef void add_row(self, Py_ssize_t t, const double *row, double scale, double *w) noexcept nogil
    cdef void add_label(self, Py_ssize_t t, Py_ssize_t k, double scale, double *w) noexcept nogil
    cdef void gram_by_weights(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                              double *out) noexcept nogil
    cdef double norm2_by_weights(self, Py_ssize_t i, const double *a) noexcept nogil
    cdef double clear_row(self, Py_ssize_t t, double *w) noexcept nogil


cdef class SparseRadius(Radius):
    pass


cdef class GramTables(Tables):
    pass


cdef class LabelWindows(NormWindows):
    pass


cdef class SparseAccumulator(StatisticsAccumulator):
    cdef SparseFeatures map
    cdef Py_ssize_t pair_size, first, width
    cdef object column_values

    cdef _gather(self, double *out, columns, Py_ssize_t begin, Py_ssize_t end)
