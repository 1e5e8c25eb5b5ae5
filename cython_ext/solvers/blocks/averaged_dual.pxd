from libc.stdint cimport int32_t, int64_t

from cython_ext.objectives.smoothed cimport SmoothedWorkspace
from cython_ext.solvers.blocks.working_sets cimport WorkingSets
from cython_ext.structures.structure cimport Structure


cdef class AveragedDual:
    cdef Structure structure
    cdef readonly WorkingSets sets
    cdef readonly object sum, arrays
    cdef readonly double bias, lam
    cdef readonly Py_ssize_t k
    cdef int32_t *codes                 # of the last pass: k outputs of every example, one after the other
    cdef double *weights
    cdef double *biases
    cdef int32_t *counts
    cdef int64_t *starts

    cdef void note(self, Py_ssize_t i, SmoothedWorkspace work) noexcept nogil
    cdef void move(self, Py_ssize_t i, double rate) noexcept nogil
