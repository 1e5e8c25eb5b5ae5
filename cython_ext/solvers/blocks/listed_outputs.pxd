from libc.stdint cimport int32_t, int64_t

from cython_ext.objectives.smoothed cimport SmoothedWorkspace
from cython_ext.structures.structure cimport Structure


cdef class ListedOutputs:
    cdef Structure structure
    cdef readonly object arrays
    cdef readonly Py_ssize_t k
    cdef int32_t *codes                 # k outputs of every example, one after the other
    cdef double *weights
    cdef int32_t *counts
    cdef int64_t *starts

    cdef void note(self, Py_ssize_t i, SmoothedWorkspace work) noexcept nogil
