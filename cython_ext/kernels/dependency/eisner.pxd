from libc.stdint cimport int32_t

cdef extern from "cython_ext/kernels/dependency/eisner.h" nogil:
    enum:
        CHART "SSVM_CHART"
    double best "ssvm_eisner_best"(Py_ssize_t T, int single_root, const double *arcs, double *scratch, int32_t *stack,
                                   int32_t *heads) noexcept
    double sums "ssvm_eisner_sums"(Py_ssize_t T, int single_root, const double *arcs, double *scratch,
                                   double *mean) noexcept
