cdef extern from "cython_ext/kernels/grids.h" nogil:
    void row_raise "ssvm_grid_raise"(Py_ssize_t n, double value, double score, const double *row, double *to) noexcept
    void row_add "ssvm_grid_add"(Py_ssize_t n, double factor, const double *row, double *to) noexcept
    double row_dot "ssvm_grid_dot"(Py_ssize_t n, const double *a, const double *b) noexcept
