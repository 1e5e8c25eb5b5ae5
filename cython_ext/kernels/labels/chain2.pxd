from libc.stdint cimport int32_t, int64_t

cdef extern from "cython_ext/kernels/labels/chain2.h" nogil:
    double viterbi "ssvm_viterbi2"(Py_ssize_t T, Py_ssize_t K, Py_ssize_t S, const double *u, const double *a,
                                   Py_ssize_t step, const double *c, double *v, int32_t *labels) noexcept
    void viterbi_by_errors "ssvm_viterbi2_by_errors"(Py_ssize_t T, Py_ssize_t K, Py_ssize_t S, const double *u,
                                                     const double *a, Py_ssize_t step, const double *c,
                                                     const int32_t *right, double *v) noexcept
    double forward_backward "ssvm_forward_backward2"(Py_ssize_t T, Py_ssize_t K, Py_ssize_t S, const double *u,
                                                     const double *a, Py_ssize_t step, const double *c, double *mean,
                                                     double *pair, double *triple, double *scratch) noexcept
    void add_column "ssvm_add_column"(Py_ssize_t K, Py_ssize_t S, const double *x, const double *block,
                                      double *cut) noexcept
    void column_argmax "ssvm_column_argmax"(Py_ssize_t K, Py_ssize_t S, const double *cut, double *top,
                                            int64_t *first) noexcept
