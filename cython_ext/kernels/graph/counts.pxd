from libc.stdint cimport int32_t, int64_t

cdef extern from "cython_ext/kernels/graph/counts.h" nogil:
    ctypedef struct CountTerm "ssvm_count_term":
        int64_t at
        int64_t first
        int64_t last
        int64_t start
        int32_t buckets

    ctypedef struct Counts "ssvm_counts":
        int32_t nodes
        int32_t terms
        int32_t apart
        const int64_t *place
        const int32_t *states
        const int32_t *node
        const int32_t *starts
        const CountTerm *term

    int64_t counts_work "ssvm_counts_work"(const Counts *c) noexcept
    int64_t count_sums_work "ssvm_count_sums_work"(const Counts *c) noexcept
    int32_t bucket_of "ssvm_bucket_of"(const int32_t *starts, int32_t buckets, int64_t count) noexcept
    double counts_max "ssvm_counts_max"(const Counts *c, const double *theta, double *work, int32_t *code) noexcept
    double counts_sum "ssvm_counts_sum"(const Counts *c, const double *theta, double *work, double *mean,
                                        int64_t parts) noexcept
