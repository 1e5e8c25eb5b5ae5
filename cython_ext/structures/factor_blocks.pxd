from libc.stdint cimport int32_t, int64_t

from cython_ext.structures.agreements cimport Agreements
from cython_ext.structures.choice cimport Choice
from cython_ext.structures.factor_graphs cimport FactorGraphs


cdef class FactorBlocks(Choice):
    cdef readonly FactorGraphs graphs
    cdef readonly Agreements agreements
    cdef readonly object multipliers        # float64 [agreements.n], or None
    cdef readonly double times              # B / M, blocks of a graph on average
    cdef object memory
    cdef const int32_t *example             # of each block
    cdef const int32_t *factor              # its number among the factors of the example

    cdef int64_t factor_of(self, Py_ssize_t b) noexcept nogil
    cdef bint is_node(self, Py_ssize_t b) noexcept nogil
