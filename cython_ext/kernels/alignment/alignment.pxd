from libc.stdint cimport int32_t, int64_t, uint8_t

cdef extern from "cython_ext/kernels/alignment/alignment.h" nogil:
    enum:
        LANES "SSVM_LANES"

    ctypedef struct Costs "ssvm_align_costs":
        const double *s
        Py_ssize_t L
        double open, extend
        int local

    void align_scores "ssvm_align_scores"(const Costs *costs, Py_ssize_t n, const uint8_t *x, Py_ssize_t m,
                                          const uint8_t *y, const int32_t *lengths, double *scratch,
                                          double *best) noexcept

cdef extern from "cython_ext/kernels/alignment/alignment_paths.h" nogil:
    ctypedef struct Fork "ssvm_fork":
        pass

    ctypedef struct Paths "ssvm_align_paths":
        const Costs *costs
        Py_ssize_t n, m
        const uint8_t *x
        const uint8_t *y
        double *table
        Fork *forks
        uint8_t *steps
        int32_t *lengths

    double align_begin "ssvm_align_begin"(Paths *paths, Py_ssize_t wanted) noexcept
    Py_ssize_t align_next "ssvm_align_next"(Paths *paths, double *loss, int32_t *start_i, int32_t *start_j) noexcept

cdef extern from "cython_ext/kernels/alignment/alignment_sums.h" nogil:
    ctypedef struct Wide "ssvm_wide":
        double m
        int64_t e

    ctypedef struct WideCosts "ssvm_align_weights":
        const Wide *s
        Py_ssize_t L
        Wide open, extend
        int local

    Wide wide_of "ssvm_wide_of"(double m) noexcept
    Wide wide_exp "ssvm_wide_exp"(double x) noexcept
    double wide_log "ssvm_wide_log"(Wide a) noexcept
    Wide wide_add "ssvm_wide_add"(Wide a, Wide b) noexcept
    Wide wide_mul "ssvm_wide_mul"(Wide a, Wide b) noexcept
    Wide normal "ssvm_normal"(Wide a) noexcept
    double wide_ratio "ssvm_wide_ratio"(Wide a, Wide b) noexcept
    Wide align_forward "ssvm_align_forward"(const WideCosts *w, Py_ssize_t n, const uint8_t *x, Py_ssize_t m,
                                            const uint8_t *y, Wide *table) noexcept
    void align_expect "ssvm_align_expect"(const WideCosts *w, Py_ssize_t n, const uint8_t *x, Py_ssize_t m,
                                          const uint8_t *y, const Wide *table, Wide total, double weight, Wide *rows,
                                          double *pairs, double *gaps) noexcept
