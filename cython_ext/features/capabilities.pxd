from libc.stdint cimport int32_t

from cython_ext.features.feature_map cimport FeatureMap


cdef class Helper:
    cdef readonly FeatureMap features


cdef class Step(Helper):
    cdef double prepare(self, Py_ssize_t i, const double *a) noexcept nogil
    cdef void apply(self, Py_ssize_t i, const double *a, double scale, double *w) noexcept nogil


cdef class Prefetch(Helper):
    cdef void fetch(self, Py_ssize_t i, const double *w) noexcept nogil


cdef class Radius(Helper):
    pass


cdef class Tables(Helper):
    pass


cdef class Following(Helper):
    pass


cdef class AtLambda(Helper):
    pass
