from libc.stdint cimport int32_t

from cython_ext.structures.graph.factor_graphs cimport FactorGraphs
from cython_ext.structures.partition cimport Choices
from cython_ext.structures.structure cimport SummedStructure


cdef class NodeStates(Choices):
    cdef FactorGraphs graphs

    cdef bint valid(self, Py_ssize_t i, const int32_t *code) noexcept nogil


cdef class GraphLabelings(SummedStructure):
    cdef readonly FactorGraphs graphs
    cdef NodeStates choices
    cdef Py_ssize_t work                    # doubles of scratch that the max oracle of a subclass needs
    cdef object memory                      # arrays that its kernels read
