from libc.stdint cimport int32_t

from cython_ext.structures.structure cimport SummedStructure


cdef class Choice(SummedStructure):
    cdef readonly Py_ssize_t most           # alternatives of an example, at most
    cdef const int32_t *gold_data

    cdef Py_ssize_t count(self, Py_ssize_t i) noexcept nogil
