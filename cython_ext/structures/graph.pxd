from cython_ext.kernels.elimination cimport Elimination
from cython_ext.structures.labelings cimport Labelings


cdef class Graph(Labelings):
    cdef Elimination *plans
    cdef Py_ssize_t work
    cdef object memory

    cdef void write_plan(self, Py_ssize_t s, list buckets, Py_ssize_t work) except *
