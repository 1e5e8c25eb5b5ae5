from libc.stdint cimport int32_t

from cython_ext.structures.structure cimport SummedStructure


cdef class Multiclass(SummedStructure):
    cdef readonly Py_ssize_t n_labels
    cdef readonly Py_ssize_t stride
    cdef readonly object labels
    cdef const int32_t *label_data
