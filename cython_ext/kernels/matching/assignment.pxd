from libc.stdint cimport int32_t, int64_t

cdef extern from "cython_ext/kernels/matching/assignment.h" nogil:
    Py_ssize_t assignment_size "ssvm_assignment_size"(Py_ssize_t n, Py_ssize_t m) noexcept
    double assign "ssvm_assign"(Py_ssize_t n, Py_ssize_t m, const int64_t *begin, const int32_t *column,
                                const int32_t *part, const double *theta, const double *none, double *scratch,
                                int32_t *code) noexcept
    double assign_again "ssvm_assign_again"(Py_ssize_t n, Py_ssize_t m, const int64_t *begin, const int32_t *column,
                                            const int32_t *part, const double *theta, const double *none, Py_ssize_t s,
                                            const double *potentials, const int32_t *known, double *scratch,
                                            int32_t *code) noexcept
