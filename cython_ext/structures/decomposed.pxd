from libc.stdint cimport int32_t

from cython_ext.structures.structure cimport Structure


cdef class DecomposedStructure(Structure):
    cdef Py_ssize_t message_begin(self, Py_ssize_t i) noexcept nogil
    cdef void reparameterise(self, Py_ssize_t i, const double *messages, double *theta) noexcept nogil
    cdef void descend(self, Py_ssize_t i, double temperature, double *messages, double *theta, double *scratch) noexcept nogil
    cdef double beliefs(self, Py_ssize_t i, const double *theta, double temperature, double *mean) noexcept nogil
    cdef void agreeing(self, Py_ssize_t i, double *mean, double *scratch, int32_t *code) noexcept nogil
