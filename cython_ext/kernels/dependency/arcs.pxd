from libc.stdint cimport int64_t, uint32_t

cdef extern from "cython_ext/kernels/dependency/arcs.h" nogil:
    void scores "ssvm_arcs_scores"(Py_ssize_t arcs, const int64_t *begin, const uint32_t *place, const double *table,
                                   Py_ssize_t stride, double *scores) noexcept
    void row_scores "ssvm_arcs_row_scores"(Py_ssize_t arcs, const int64_t *begin, const uint32_t *place,
                                           const double *table, Py_ssize_t stride, double *scores) noexcept
    void add_one "ssvm_arc_add"(Py_ssize_t count, const uint32_t *place, double x, double *table) noexcept
    void add "ssvm_arcs_add"(Py_ssize_t arcs, const int64_t *begin, const uint32_t *place, Py_ssize_t stride,
                             const double *values, double *table) noexcept
    void add_rows "ssvm_arcs_add_rows"(Py_ssize_t arcs, const int64_t *begin, const uint32_t *place, Py_ssize_t stride,
                                       const double *values, double *table) noexcept
    void load "ssvm_rows_load"(Py_ssize_t rows, const uint32_t *place, Py_ssize_t width, const double *w,
                               double *table) noexcept
    void store "ssvm_rows_store"(Py_ssize_t rows, const uint32_t *place, Py_ssize_t width, double scale,
                                 const double *table, double *w) noexcept
