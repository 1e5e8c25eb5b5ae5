from libc.stdint cimport int32_t

from cython_ext.losses.loss cimport DecomposableLoss


cdef class PositionCosts(DecomposableLoss):
    cdef readonly object matrix
    cdef double[:, ::1] rows            # [gold label, label], padded to the structure's stride
    cdef const double *row_data
    cdef Py_ssize_t stride
