from libc.stdint cimport int32_t

from cython_ext.kernels.graph.counts cimport Counts
from cython_ext.kernels.graph.elimination cimport Elimination
from cython_ext.structures.graph.labelings cimport GraphLabelings


cdef class Graph(GraphLabelings):
    cdef Elimination *plans                 # by shape; no buckets where it has counts
    cdef Counts *counts                     # by shape; no nodes where it has none
    cdef bint sums                          # whether the tables of sums are small enough

    cdef void write_plan(self, Py_ssize_t s, list buckets, Py_ssize_t work) except *
    cdef void write_counts(self, Py_ssize_t s, int32_t nodes, tuple arrays) except *
