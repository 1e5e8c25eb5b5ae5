from cython_ext.structures.agreements cimport Agreements
from cython_ext.structures.factor_graphs cimport FactorGraphs


cdef void reparameterise(FactorGraphs graphs, Agreements agreements, Py_ssize_t i, const double *delta, double *theta) noexcept nogil
cdef void sweep(FactorGraphs graphs, Agreements agreements, Py_ssize_t i, double temperature, double *delta,
                double *theta, double *scratch) noexcept nogil
cdef double beliefs_of(FactorGraphs graphs, Py_ssize_t i, const double *theta, double temperature, double *mean) noexcept nogil
