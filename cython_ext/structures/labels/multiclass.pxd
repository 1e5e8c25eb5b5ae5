from cython_ext.structures.choice cimport Choice


cdef class Multiclass(Choice):
    cdef readonly Py_ssize_t n_labels
    cdef readonly Py_ssize_t stride
    cdef readonly object labels
