from cython_ext.losses.loss cimport TaskLoss


cdef class ZeroOne(TaskLoss):
    pass
