cdef extern from "cython_ext/kernels/dependency/relations.h" nogil:
    void sum_out "ssvm_relations_out"(Py_ssize_t n, Py_ssize_t R, Py_ssize_t stride, const double *theta, double *share,
                                      double *arcs) noexcept
    void bring_in "ssvm_relations_in"(Py_ssize_t n, Py_ssize_t stride, const double *mean, double *share) noexcept
