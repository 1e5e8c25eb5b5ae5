"""The tables of a GraphLayout for kernels; see factor_graphs.pyx."""

from libc.stdint cimport int32_t, int64_t, uint8_t


cdef class FactorGraphs:
    cdef readonly Py_ssize_t n, n_types
    cdef readonly object layout
    cdef list memory
    # by example
    cdef const int32_t *shape_of
    cdef const int64_t *row_start
    cdef const int64_t *label_begin
    cdef const int32_t *labels
    # by shape
    cdef const int32_t *nodes
    cdef const int64_t *factor_begin        # [shapes + 1]
    cdef const int64_t *parts               # joint states of all factors
    # by factor
    cdef const int32_t *type_of
    cdef const int64_t *row
    cdef const int64_t *part                # where its joint states begin among those of its shape
    cdef const int64_t *scope_begin         # [F + 1]
    cdef const int32_t *scope
    # by type
    cdef const int32_t *size                # joint states
    cdef const int64_t *state_begin         # [types + 1], one for each node of the scope
    cdef const int32_t *states
    cdef const int32_t *width               # columns of weights
    cdef const uint8_t *constant
    cdef const int64_t *column_begin        # [types + 1]
    cdef const int32_t *columns
    cdef const int64_t *bucket_begin        # [types + 1], empty where they are no counts
    cdef const int32_t *buckets             # the first count of each

    cdef Py_ssize_t joint_state(self, int64_t f, const int32_t *code) noexcept nogil
    cdef bint is_count(self, int64_t f) noexcept nogil
    cdef int64_t factor_at(self, int64_t low, int64_t high, int64_t part) noexcept nogil
    cdef Py_ssize_t state_in(self, int64_t f, Py_ssize_t joint, Py_ssize_t place) noexcept nogil
    cdef Py_ssize_t parts_of(self, Py_ssize_t i, const int32_t *code, int32_t *ids, double *counts) noexcept nogil


cdef const int64_t *wide(list memory, values) except NULL
cdef const int32_t *narrow(list memory, values) except NULL
