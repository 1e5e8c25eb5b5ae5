from libc.stdint cimport int32_t, int64_t

cdef extern from "cython_ext/kernels/graph/cut.h" nogil:
    ctypedef struct Term "ssvm_cut_term":
        int64_t at
        int32_t u
        int32_t v
        int32_t pair

    ctypedef struct CutGraph "ssvm_cut_graph":
        int32_t nodes
        int32_t pairs
        int32_t terms
        const Term *term
        const int32_t *begin
        const int32_t *other
        const int32_t *pair
        const int32_t *back

    Py_ssize_t cut_size "ssvm_cut_size"(Py_ssize_t nodes, Py_ssize_t pairs) noexcept
    double cut_max "ssvm_cut_max"(const CutGraph *g, const double *theta, double *scratch, int32_t *code,
                                  int *exact, const int32_t *stop) noexcept
