from cython_ext.structures.factor_graphs cimport FactorGraphs
from cython_ext.structures.partition cimport Choices
from cython_ext.structures.structure cimport SummedStructure


cdef class NodeStates(Choices):
    cdef FactorGraphs graphs


cdef class Labelings(SummedStructure):
    cdef readonly FactorGraphs graphs
    cdef NodeStates choices
