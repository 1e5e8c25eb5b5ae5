from libc.stdint cimport int32_t

from cython_ext.kernels.counts cimport Counts
from cython_ext.kernels.elimination cimport Elimination
from cython_ext.structures.factor_graphs cimport FactorGraphs
from cython_ext.structures.partition cimport Choices
from cython_ext.structures.structure cimport SummedStructure


cdef class NodeStates(Choices):
    cdef FactorGraphs graphs

    cdef bint valid(self, Py_ssize_t i, const int32_t *code) noexcept nogil


cdef class Graph(SummedStructure):
    cdef readonly FactorGraphs graphs
    cdef NodeStates choices
    cdef Elimination *plans                 # by shape; no buckets where it has counts
    cdef Counts *counts                     # by shape; no nodes where it has none
    cdef Py_ssize_t work
    cdef bint sums                          # whether the tables of sums are small enough
    cdef object memory

    cdef void write_plan(self, Py_ssize_t s, list buckets, Py_ssize_t work) except *
    cdef void write_counts(self, Py_ssize_t s, int32_t nodes, tuple arrays) except *
