from libc.stdint cimport int32_t

from cython_ext.structures.structure cimport Structure


cdef class Choices:
    cdef Py_ssize_t positions(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t values(self, Py_ssize_t i, Py_ssize_t p) noexcept nogil
    cdef Py_ssize_t part(self, Py_ssize_t i, Py_ssize_t p, Py_ssize_t v) noexcept nogil
    cdef Py_ssize_t chosen(self, Py_ssize_t i, Py_ssize_t p, const int32_t *code) noexcept nogil
    cdef void force(self, Py_ssize_t i, Py_ssize_t p, Py_ssize_t only, const double *theta,
                    double *scores) noexcept nogil
    cdef void found(self, Py_ssize_t i, const double *scores, const int32_t *code, double *scratch) noexcept nogil
    cdef double best_without(self, Structure structure, Py_ssize_t i, Py_ssize_t p, const double *scores,
                             const int32_t *code, double *scratch, int32_t *best) noexcept nogil


cdef class LabelChoices(Choices):
    cdef Structure structure
    cdef Py_ssize_t n_labels, stride


cdef Py_ssize_t scratch_size(Structure structure, Py_ssize_t k) noexcept nogil
cdef Py_ssize_t topk(Structure structure, Choices choices, Py_ssize_t i, const double *theta, Py_ssize_t k,
                     double *scratch, double *values, int32_t *codes) noexcept nogil
