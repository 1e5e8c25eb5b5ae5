cimport cython
from libc.stdint cimport int32_t, int64_t

from cython_ext.structures.structure cimport Structure


cdef struct WorkingSet:
    int32_t count
    int32_t capacity
    int32_t *codes          # [capacity, code length]
    double *weight          # [capacity] alpha
    double *delta           # [capacity] task loss, or b of the objective
    int64_t *used           # [capacity] when the oracle last gave the output, or a step used it
    double *gram            # [capacity (capacity + 1) / 2] <psi, psi'> at cell(j, k), or NULL


cdef inline Py_ssize_t cell(Py_ssize_t j, Py_ssize_t k) noexcept nogil:
    """Place of the pair j, k in a symmetric table."""
    return j * (j + 1) // 2 + k if j >= k else k * (k + 1) // 2 + j


@cython.final
cdef class WorkingSets:
    cdef Structure structure
    cdef WorkingSet *sets
    cdef object memory
    cdef readonly Py_ssize_t n
    cdef readonly bint with_gram
    cdef Py_ssize_t first                   # outputs that every set has room for in the common block
    cdef readonly Py_ssize_t largest        # most outputs that any set has had room for

    cdef Py_ssize_t find(self, Py_ssize_t i, const int32_t *code) noexcept nogil
    cdef Py_ssize_t append(self, Py_ssize_t i, const int32_t *code, double delta, double weight) noexcept nogil
    cdef void remove(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil
    cdef void replace(self, Py_ssize_t i, Py_ssize_t j, const int32_t *code, double delta) noexcept nogil
    cdef Py_ssize_t hold(self, Py_ssize_t i, const int32_t *code, double delta, Py_ssize_t most) noexcept nogil
    cdef void normalise(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t bytes_of_codes(self, Py_ssize_t i, Py_ssize_t capacity) noexcept nogil
    cdef Py_ssize_t bytes_of(self, Py_ssize_t i, Py_ssize_t capacity) noexcept nogil
    cdef void divide(self, Py_ssize_t i, char *block) noexcept nogil
    cdef void announce(self, Py_ssize_t i) noexcept nogil
    cdef void fetch(self, Py_ssize_t i) noexcept nogil
    cdef bint reserve(self, Py_ssize_t i, Py_ssize_t capacity) noexcept nogil
    cdef double mean_loss(self, double ridge=*) noexcept nogil
