from libc.stdint cimport int32_t, int64_t

from cython_ext.features.feature_map cimport FeatureMap


cdef class AveragedWeights:
    cdef FeatureMap features
    cdef readonly object v, late, sum           # w = scale * v; sum_l A_l-1 e_l; sum_j j w_j before the last fold
    cdef double *v_data
    cdef double *late_data
    cdef double *sum_data
    cdef readonly double scale, weight_sum      # A_t
    cdef readonly int64_t t                     # steps

    cdef void scores(self, Py_ssize_t i, double *theta) noexcept nogil
    cdef void shrink(self, double factor) noexcept nogil
    cdef void add(self, Py_ssize_t i, const double *a, double amount) noexcept nogil
    cdef void add_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                        double amount) noexcept nogil
    cdef void arrive(self) noexcept nogil
    cdef void fold(self) noexcept nogil
