from libc.stdint cimport int32_t, int64_t

cdef extern from "cython_ext/kernels/vectors/vector.h" nogil:
    void gather "ssvm_gather"(const double *w, Py_ssize_t stride, const int32_t *index, const double *value,
                              Py_ssize_t count, double *out) noexcept
    void gather_tokens "ssvm_gather_tokens"(const double *w, Py_ssize_t stride, const int64_t *indptr,
                                            const int32_t *index,
                                            const double *value, Py_ssize_t begin, Py_ssize_t end, double *out) noexcept
    void scatter "ssvm_scatter"(double *w, Py_ssize_t stride, const int32_t *index, const double *value,
                                Py_ssize_t count, double scale, const double *row) noexcept
    void axpy "ssvm_axpy"(Py_ssize_t n, double scale, const double *source, double *target) noexcept
    void scale "ssvm_scale"(Py_ssize_t n, double scale, double *target) noexcept
    double dot "ssvm_dot"(Py_ssize_t n, const double *x, const double *y) noexcept
    double maximum "ssvm_max"(Py_ssize_t n, const double *x) noexcept
    Py_ssize_t argmax "ssvm_argmax"(Py_ssize_t n, const double *x) noexcept
    double row_sum "ssvm_sum"(Py_ssize_t stride, const double *x) noexcept
    void exp_shifted "ssvm_exp"(Py_ssize_t n, const double *x, double shift, double *out) noexcept
    double extrapolate "ssvm_extrapolate"(Py_ssize_t n, double *w, float *center, float *before, double share,
                                          double beta) noexcept
    void regularise "ssvm_regularise"(Py_ssize_t n, const double *w, double lam, double scale, double *g,
                                      double *norms) noexcept
    void blend "ssvm_blend"(Py_ssize_t n, double a, double *w, double b, const float *center) noexcept
    double average "ssvm_average"(Py_ssize_t n, const double *w, const float *center, double share, float *mean,
                                  double rate) noexcept
