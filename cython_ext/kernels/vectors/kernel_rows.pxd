from libc.stdint cimport int32_t, uint8_t, uint16_t

cdef extern from "cython_ext/kernels/vectors/kernel_rows.h" nogil:
    enum:
        READY "SSVM_READY"
    void count_common "ssvm_count_common"(const int32_t *index, Py_ssize_t count, const int32_t *start,
                                          const uint16_t *row, uint8_t *counts) noexcept
    void add_products "ssvm_add_products"(const int32_t *index, const double *value, Py_ssize_t count,
                                          const int32_t *start, const uint16_t *row, const double *row_value,
                                          double *products) noexcept
    void polynomial "ssvm_polynomial"(Py_ssize_t n, double gamma, double coef0, long degree, double *x) noexcept
    void gaussian "ssvm_gaussian"(Py_ssize_t n, double gamma, double norm, const double *norms, double *x) noexcept
    void look_up "ssvm_look_up"(Py_ssize_t n, const uint8_t *counts, const double *table, double *out) noexcept
    void look_up_distances "ssvm_look_up_distances"(Py_ssize_t n, const uint8_t *counts, Py_ssize_t size,
                                                    const uint8_t *sizes, const double *table, double *out) noexcept
    void add_mixture "ssvm_add_mixture"(Py_ssize_t n, const double *share, const double *rows, Py_ssize_t stride,
                                        double *out) noexcept
    void add_outer "ssvm_add_outer"(Py_ssize_t n, const double *share, const double *row, Py_ssize_t stride,
                                    double *out) noexcept
    int row_state "ssvm_row_state"(const uint8_t *state) noexcept
    bint claim_row "ssvm_claim_row"(uint8_t *state) noexcept
    void publish_row "ssvm_publish_row"(uint8_t *state) noexcept
