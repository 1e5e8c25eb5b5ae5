from libc.stdint cimport int32_t

cdef extern from "cython_ext/kernels/dependency/spanning.h" nogil:
    Py_ssize_t forest_size "ssvm_forest_size"(Py_ssize_t T) noexcept
    double best "ssvm_spanning_best"(Py_ssize_t T, int single_root, const double *arcs, double *scratch,
                                     int32_t *heads) noexcept
    double sums "ssvm_spanning_sums"(Py_ssize_t T, int single_root, const double *arcs, double *scratch,
                                     double *mean) noexcept
