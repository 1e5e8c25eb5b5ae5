"""The linear map from weights to part scores and its adjoint; see feature_map.pyx for the contract."""

from libc.stdint cimport int32_t


cdef class FeatureMap:
    cdef readonly Py_ssize_t dim            # length of a weight vector

    cdef Py_ssize_t size_of(self, Py_ssize_t i) noexcept nogil
    cdef void fetch(self, Py_ssize_t i, const double *w) noexcept nogil
    cdef void scores(self, Py_ssize_t i, const double *w, double *theta) noexcept nogil
    cdef void add(self, Py_ssize_t i, const double *a, double scale, double *w) noexcept nogil
    cdef void add_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a, double scale,
                        double *w) noexcept nogil
    cdef void gram_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                         double *out) noexcept nogil
    cdef double norm2(self, Py_ssize_t i, const double *a) noexcept nogil
    cdef double hold(self, Py_ssize_t i, const double *a) noexcept nogil
    cdef void add_held(self, Py_ssize_t i, const double *a, double scale, double *w) noexcept nogil


cdef class Accumulator:
    cdef readonly Py_ssize_t chunks
    cdef FeatureMap features
    cdef object totals
    cdef double *total_data

    cdef void put(self, Py_ssize_t chunk, Py_ssize_t i, const double *a) noexcept nogil
    cdef void put_parts(self, Py_ssize_t chunk, Py_ssize_t i, Py_ssize_t count, const int32_t *ids,
                        const double *a, double scale) noexcept nogil
