cimport cython
from libc.stdint cimport int64_t

from cython_ext.structures.graph.factor_graphs cimport FactorGraphs


@cython.final
cdef class Agreements:
    cdef readonly Py_ssize_t n              # of all examples together
    cdef FactorGraphs graphs
    cdef object memory
    cdef const int64_t *begin               # [n + 1], of each example
    cdef const int64_t *place               # by entry of the scopes: where its agreements begin in an example
    cdef const int64_t *incident_begin      # by factor: the incidences of a node
    cdef const int64_t *incident            # their places

    cdef bint of_node(self, Py_ssize_t i, int64_t f) noexcept nogil
    cdef int64_t run(self, Py_ssize_t i, int64_t f) noexcept nogil
    cdef void fetch(self, Py_ssize_t i, int64_t f, const double *delta) noexcept nogil
    cdef void scores(self, Py_ssize_t i, int64_t f, const double *delta, double scale, double *theta) noexcept nogil
    cdef double score(self, Py_ssize_t i, int64_t f, Py_ssize_t joint, const double *delta) noexcept nogil
    cdef void add_state(self, Py_ssize_t i, int64_t f, Py_ssize_t joint, double amount, double *delta) noexcept nogil
    cdef Py_ssize_t shared(self, Py_ssize_t i, int64_t f, Py_ssize_t joint, Py_ssize_t other) noexcept nogil
