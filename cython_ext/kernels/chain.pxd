from libc.stdint cimport int32_t

cdef extern from "cython_ext/kernels/chain.h" nogil:
    double viterbi "ssvm_viterbi"(Py_ssize_t T, Py_ssize_t K, Py_ssize_t S, const double *u, const double *a,
                                  Py_ssize_t step, double *v, int32_t *labels) noexcept
    double forward_backward "ssvm_forward_backward"(Py_ssize_t T, Py_ssize_t K, Py_ssize_t S, const double *u,
                                                    const double *a, Py_ssize_t step, double *mean, double *pair,
                                                    double *scratch) noexcept
