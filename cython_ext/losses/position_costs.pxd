from libc.stdint cimport int32_t

from cython_ext.losses.loss cimport TaskLoss


cdef class PositionCosts(TaskLoss):
    cdef readonly object matrix
    cdef double[:, ::1] rows            # [right label, label], padded to the structure's stride
    cdef const double *row_data
    cdef Py_ssize_t stride

    cdef void add_costs(self, Py_ssize_t i, double *theta) noexcept nogil
