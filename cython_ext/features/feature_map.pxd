"""The linear map from weights to part scores and its adjoint; see feature_map.pyx for the contract."""

from libc.stdint cimport int32_t


cdef class FeatureMap:
    cdef readonly Py_ssize_t dim            # length of a weight vector

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil
    cdef void scores(self, Py_ssize_t i, const double *w, double *theta) noexcept nogil
    cdef void add(self, Py_ssize_t i, const double *a, double scale, double *w) noexcept nogil
    cdef void add_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a, double scale,
                        double *w) noexcept nogil
    cdef void gram_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                         double *out) noexcept nogil
    cdef double norm2(self, Py_ssize_t i, const double *a) noexcept nogil
