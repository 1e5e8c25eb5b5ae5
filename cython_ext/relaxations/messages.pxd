from libc.stdint cimport int64_t

from cython_ext.relaxations.agreements cimport Agreements
from cython_ext.structures.graph.factor_graphs cimport FactorGraphs


cdef class Messages:
    cdef readonly Agreements agreements     # says where the messages stand
    cdef readonly Py_ssize_t scratch_size
    cdef FactorGraphs graphs
    cdef object memory
    cdef const int64_t *factor              # by incidence: the factor, counted from the first one of the shape,
    cdef const int64_t *entry               # and the entry of the scopes where it has the node
    cdef const int64_t *stride              # by entry of the scopes: how far two states of the node are apart

    cdef double minimise(self, Py_ssize_t i, double *theta, double *delta, double temperature, Py_ssize_t sweeps,
                         double *scratch) noexcept nogil
    cdef void sweep(self, Py_ssize_t i, bint back, double *theta, double *delta, double temperature,
                    double *scratch) noexcept nogil
    cdef void reparametrise(self, Py_ssize_t i, const double *delta, double *theta) noexcept nogil
    cdef void update(self, Py_ssize_t i, Py_ssize_t v, double *theta, double *delta, double temperature,
                     double *scratch) noexcept nogil
    cdef double value(self, Py_ssize_t i, const double *theta, double temperature) noexcept nogil
    cdef void beliefs(self, Py_ssize_t i, const double *theta, double temperature, double *mean) noexcept nogil
