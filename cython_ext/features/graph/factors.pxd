cimport cython
from libc.stdint cimport int32_t, int64_t

from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.structures.graph.factor_graphs cimport FactorGraphs


@cython.final
cdef class FactorWeights:
    cdef readonly Py_ssize_t dim
    cdef readonly FactorGraphs graphs
    cdef readonly object naming
    cdef object memory, rows
    cdef const int64_t *weight_begin        # [types + 1]
    cdef const int64_t *indptr
    cdef const int32_t *index
    cdef const double *value
    cdef const int64_t *state_begin         # [types], of the weights of features with a value for each joint state
    cdef const int64_t *state_indptr        # NULL: there are none
    cdef const int32_t *state_index
    cdef const int32_t *state
    cdef const double *state_value

    cdef bint has_state_row(self, Py_ssize_t i, int64_t f, int64_t *first, int64_t *last) noexcept nogil
    cdef int64_t first_of(self, int64_t first, int64_t last, Py_ssize_t joint) noexcept nogil
    cdef double state_product(self, Py_ssize_t i, int64_t f, Py_ssize_t joint, Py_ssize_t other) noexcept nogil
    cdef Py_ssize_t occurrences(self, Py_ssize_t i, int64_t f, const int32_t **index,
                                const double **value) noexcept nogil
    cdef void scores(self, Py_ssize_t i, int64_t f, const double *w, double scale, double *theta) noexcept nogil
    cdef void column_scores(self, Py_ssize_t i, int64_t f, const double *w, double scale,
                            double *theta) noexcept nogil
    cdef void add(self, Py_ssize_t i, int64_t f, const double *a, double scale, double *w) noexcept nogil
    cdef void add_state(self, Py_ssize_t i, int64_t f, Py_ssize_t joint, double amount, double *w) noexcept nogil
    cdef void add_column(self, Py_ssize_t i, int64_t f, Py_ssize_t joint, double amount, double *w) noexcept nogil
    cdef double clear(self, Py_ssize_t i, int64_t f, double *w) noexcept nogil
    cdef double square(self, Py_ssize_t i, int64_t f) noexcept nogil


cdef class FactorMap(FeatureMap):
    cdef readonly FactorWeights weights_of_factors


cdef class GraphFeatures(FactorMap):
    cdef FactorGraphs graphs
    cdef object spare
    cdef double *spare_data
    cdef bint untied
    cdef double clear(self, Py_ssize_t i) noexcept nogil
    cdef void add_column(self, int64_t f, int32_t column, double amount, double *out) noexcept nogil
