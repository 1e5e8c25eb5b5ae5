"""The output space of every example and its oracles; see structure.pyx for the contract."""

cimport cython
from libc.stdint cimport int32_t

from cython_ext.kernels.stop cimport is_set


cdef class Structure:
    cdef readonly Py_ssize_t n              # examples
    cdef readonly Py_ssize_t max_size       # largest m_i
    cdef readonly Py_ssize_t max_code       # largest code length
    cdef readonly Py_ssize_t max_parts      # most parts that one output has
    cdef bint one_part                      # every output is one part, and its code the number of it
    cdef const int32_t *stop                # the flag that heed() was given
    cdef object stop_flag

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t _code_length(self, Py_ssize_t i) noexcept nogil
    cdef const int32_t *gold(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t _parts(self, Py_ssize_t i, const int32_t *code, int32_t *ids, double *counts) noexcept nogil

    @cython.final
    cdef inline Py_ssize_t parts(self, Py_ssize_t i, const int32_t *code, int32_t *ids,
                                 double *counts) noexcept nogil:
        """_parts(), without a call where outputs are so small that it would take longer than all else."""
        if not self.one_part:
            return self._parts(i, code, ids, counts)
        ids[0], counts[0] = code[0], 1.0
        return 1

    @cython.final
    cdef inline Py_ssize_t code_length(self, Py_ssize_t i) noexcept nogil:
        """_code_length(), likewise."""
        return 1 if self.one_part else self._code_length(i)

    @cython.final
    cdef inline bint stopped(self) noexcept nogil:
        """Whether nobody waits for what an oracle is at."""
        return is_set(self.stop)

    cdef Py_ssize_t scratch_size(self, Py_ssize_t k) noexcept nogil
    cdef bint valid(self, Py_ssize_t i, const int32_t *code) noexcept nogil
    cdef double max(self, Py_ssize_t i, const double *theta, double *scratch, int32_t *code) noexcept nogil


cdef class RankedStructure(Structure):
    cdef Py_ssize_t topk(self, Py_ssize_t i, const double *theta, Py_ssize_t k, double *scratch, double *values,
                         int32_t *codes) noexcept nogil


cdef class SummedStructure(RankedStructure):
    cdef double log_partition(self, Py_ssize_t i, const double *theta, double *scratch, double *mean) noexcept nogil
    cdef void subtract_offsets(self, Py_ssize_t i, double *theta) noexcept nogil
