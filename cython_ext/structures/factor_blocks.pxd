from libc.stdint cimport int32_t, int64_t

from cython_ext.structures.factor_graphs cimport FactorGraphs
from cython_ext.structures.structure cimport SummedStructure


cdef class FactorBlocks(SummedStructure):
    cdef readonly FactorGraphs graphs
    cdef object memory
    cdef const int32_t *example             # of each block
    cdef const int32_t *factor              # its number among the factors of the example
    cdef const int32_t *right               # its right joint state

    cdef int64_t factor_of(self, Py_ssize_t b) noexcept nogil
    cdef bint is_node(self, Py_ssize_t b) noexcept nogil
