from libc.stdint cimport int32_t

cdef extern from "cython_ext/kernels/labels/chain.h" nogil:
    double viterbi "ssvm_viterbi"(Py_ssize_t T, Py_ssize_t K, Py_ssize_t S, const double *u, const double *a,
                                  Py_ssize_t step, double *v, int32_t *labels) noexcept
    void viterbi_by_errors "ssvm_viterbi_by_errors"(Py_ssize_t T, Py_ssize_t K, Py_ssize_t S, const double *u,
                                                    const double *a, Py_ssize_t step, const int32_t *right,
                                                    double *v) noexcept
    double forward_backward "ssvm_forward_backward"(Py_ssize_t T, Py_ssize_t K, Py_ssize_t S, const double *u,
                                                    const double *a, Py_ssize_t step, double *mean, double *pair,
                                                    double *scratch) noexcept
    void terms_before "ssvm_terms_before"(Py_ssize_t K, Py_ssize_t S, const double *alpha, const double *block,
                                          double *shift, double *terms, double *sums) noexcept
    void share_out "ssvm_share_out"(Py_ssize_t K, Py_ssize_t S, const double *terms, double *sums, const double *after,
                                    double *before, double *pair) noexcept
