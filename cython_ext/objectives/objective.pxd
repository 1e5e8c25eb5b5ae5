from libc.stdint cimport int32_t

from cython_ext.losses.loss cimport TaskLoss
from cython_ext.structures.structure cimport Structure
from cython_ext.structures.workspace cimport Workspace


cdef class Objective:
    cdef readonly Structure structure
    cdef readonly TaskLoss loss

    cdef double gold_score(self, Py_ssize_t i, const double *theta, Workspace work) noexcept nogil
    cdef double value(self, Py_ssize_t i, double *theta, Workspace work) noexcept nogil


cdef class MaxObjective(Objective):
    cdef readonly bint free_mass, plain, hard
    cdef readonly double ridge

    cdef double loss_augmented_max(self, Py_ssize_t i, double *theta, Workspace work, int32_t *code, double *bias,
                                   double *scale) noexcept nogil
    cdef void terms(self, Py_ssize_t i, const int32_t *code, double *bias, double *scale) noexcept nogil
    cdef double loss_of(self, double margin) noexcept nogil
    cdef double slope(self, double margin) noexcept nogil


cdef class SumObjective(Objective):
    cdef double mean(self, Py_ssize_t i, double *theta, Workspace work, double *mean) noexcept nogil
