from libc.stdint cimport int32_t, int64_t

cdef extern from "cython_ext/kernels/graph/elimination.h" nogil:
    ctypedef struct Source "ssvm_source":
        int64_t at
        int32_t message
        int32_t level
        int64_t node_stride
        int64_t stride
        int64_t strides
        int32_t outer
        int32_t step
        int64_t run

    ctypedef struct Bucket "ssvm_bucket":
        int32_t node
        int32_t states
        int64_t table
        int64_t message
        int64_t size
        int64_t dims
        int32_t separator
        int64_t first
        int64_t last

    ctypedef struct Elimination "ssvm_elimination":
        int64_t buckets
        int64_t work
        const Bucket *bucket
        const Source *source
        const int64_t *strides
        const int32_t *nodes
        const int32_t *dims

    double eliminate_max "ssvm_eliminate_max"(const Elimination *e, const double *theta, double *work,
                                              int32_t *code) noexcept
    double eliminate_sum "ssvm_eliminate_sum"(const Elimination *e, const double *theta, double *work, double *mean,
                                              int64_t parts) noexcept
