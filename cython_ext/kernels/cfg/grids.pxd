cdef extern from "cython_ext/kernels/cfg/grids.h" nogil:
    void join "ssvm_grid_join"(Py_ssize_t left_rows, Py_ssize_t left_width, const double *left, Py_ssize_t right_rows,
                               Py_ssize_t right_width, const double *right, double score, Py_ssize_t width,
                               double *to) noexcept
    void row_add "ssvm_grid_add"(Py_ssize_t n, double factor, const double *row, double *to) noexcept
    double row_dot "ssvm_grid_dot"(Py_ssize_t n, const double *a, const double *b) noexcept
