from libc.stdint cimport int32_t

from cython_ext.structures.labels.chain cimport Chain


cdef class SecondOrderChain(Chain):
    cdef readonly Py_ssize_t plane          # scores of the last two labels of a prefix
    cdef readonly Py_ssize_t triple_size

    cdef Py_ssize_t pair_size(self, Py_ssize_t T) noexcept nogil
    cdef const double *triples(self, Py_ssize_t T, const double *theta) noexcept nogil
    cdef double log_space_exp2(self, Py_ssize_t T, const double *u, const double *a, const double *c, double *scratch,
                               double *mean, double *pair, double *triple) noexcept nogil
    cdef Py_ssize_t best_of_all(self, Py_ssize_t T, Py_ssize_t k, const double *value, const int32_t *label_before,
                                const int32_t *rank_before, int32_t *used, double *values,
                                int32_t *codes) noexcept nogil
    cdef Py_ssize_t forbidden(self, Py_ssize_t i, const double *theta, double *scratch, double *values,
                              int32_t *codes) noexcept nogil
