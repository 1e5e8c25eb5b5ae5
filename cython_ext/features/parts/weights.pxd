from libc.stdint cimport int32_t, int64_t

from cython_ext.features.feature_map cimport FeatureMap


cdef class PartWeights(FeatureMap):
    cdef object arrays
    cdef const int64_t *part_at         # [n + 1] the parts of each example
    cdef const int32_t *part_weight     # their weights
    cdef readonly Py_ssize_t unweighted

    cdef Py_ssize_t weighted(self, Py_ssize_t i) noexcept nogil
