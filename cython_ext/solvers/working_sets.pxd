from libc.stdint cimport int32_t, int64_t

from cython_ext.structures.structure cimport Structure


cdef struct WorkingSet:
    int32_t count
    int32_t capacity
    int32_t *codes          # [capacity, code length]
    double *weight          # [capacity] alpha
    double *delta           # [capacity] task loss
    int64_t *used           # [capacity] when the oracle last gave the output, or a step used it
    double *gram            # [capacity, capacity] <psi, psi'>, or NULL


cdef class WorkingSets:
    cdef Structure structure
    cdef WorkingSet *sets
    cdef readonly Py_ssize_t n
    cdef readonly bint with_gram
    cdef readonly Py_ssize_t largest        # most outputs that any set has had room for

    cdef Py_ssize_t find(self, Py_ssize_t i, const int32_t *code) noexcept nogil
    cdef Py_ssize_t append(self, Py_ssize_t i, const int32_t *code, double delta, double weight) noexcept nogil
    cdef void remove(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil
    cdef void replace(self, Py_ssize_t i, Py_ssize_t j, const int32_t *code, double delta) noexcept nogil
    cdef bint reserve(self, Py_ssize_t i, Py_ssize_t capacity) noexcept nogil
    cdef double mean_loss(self) noexcept nogil
