from libc.stdint cimport int32_t

from cython_ext.structures.structure cimport Structure
from cython_ext.structures.workspace cimport Workspace


cdef class TaskLoss:
    cdef Structure structure

    cdef double value(self, Py_ssize_t i, const int32_t *code) noexcept nogil
    cdef double max(self, Py_ssize_t i, double *theta, Workspace work, int32_t *code, double *delta) noexcept nogil
    cdef double log_partition(self, Py_ssize_t i, double *theta, Workspace work, double *mean) noexcept nogil


cdef class DecomposableLoss(TaskLoss):
    cdef void add_costs(self, Py_ssize_t i, double scale, double *theta) noexcept nogil
    cdef double expected(self, Py_ssize_t i, const double *mean) noexcept nogil
