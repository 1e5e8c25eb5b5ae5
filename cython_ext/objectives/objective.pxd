from libc.stdint cimport int32_t

from cython_ext.losses.loss cimport TaskLoss
from cython_ext.structures.structure cimport Structure
from cython_ext.workspace cimport Workspace


cdef class Objective:
    cdef readonly Structure structure
    cdef readonly TaskLoss loss

    cdef double right_score(self, Py_ssize_t i, const double *theta, Workspace work) noexcept nogil
    cdef double value(self, Py_ssize_t i, double *theta, Workspace work) noexcept nogil


cdef class MaxObjective(Objective):
    cdef double best(self, Py_ssize_t i, double *theta, Workspace work, int32_t *code, double *delta) noexcept nogil


cdef class SumObjective(Objective):
    cdef double mean(self, Py_ssize_t i, double *theta, Workspace work, double *mean) noexcept nogil
