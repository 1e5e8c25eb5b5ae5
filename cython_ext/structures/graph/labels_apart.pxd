from cython_ext.structures.labels.multiclass cimport Multiclass


cdef class LabelsApart(Multiclass):
    cdef readonly Py_ssize_t examples       # of the data
    cdef readonly Py_ssize_t times          # how many labels each of them has
