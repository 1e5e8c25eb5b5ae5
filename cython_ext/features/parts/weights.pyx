"""One weight for each part: the parts of an example say which weights are theirs, each a different one. Parts behind
those have none: only costs make them matter."""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from cython_ext.features.feature_map cimport FeatureMap


cdef class PartWeights(FeatureMap):
    """part_at: int64[n + 1], where the parts of each example begin; part_weight: int32, the weights of all parts, below
    dim; unweighted: how many parts of each example have no weight, behind those that have."""

    def __init__(self, const int64_t[::1] part_at, part_weight, Py_ssize_t dim, Py_ssize_t unweighted=0):
        cdef const int32_t[::1] view = np.append(part_weight, np.int32(0)).astype(np.int32)
        self.arrays = part_at, view
        self.part_at, self.part_weight, self.dim, self.unweighted = &part_at[0], &view[0], dim, unweighted

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        return self.weighted(i) + self.unweighted

    cdef Py_ssize_t weighted(self, Py_ssize_t i) noexcept nogil:
        """Parts of an example that have a weight."""
        return <Py_ssize_t> (self.part_at[i + 1] - self.part_at[i])

    cdef void scores(self, Py_ssize_t i, const double *w, double *theta) noexcept nogil:
        cdef const int32_t *weight = self.part_weight + self.part_at[i]
        cdef Py_ssize_t p
        for p in range(self.weighted(i)):
            theta[p] = w[weight[p]]
        memset(theta + self.weighted(i), 0, self.unweighted * sizeof(double))

    cdef void add(self, Py_ssize_t i, const double *a, double scale, double *w) noexcept nogil:
        cdef const int32_t *weight = self.part_weight + self.part_at[i]
        cdef Py_ssize_t p
        for p in range(self.weighted(i)):
            w[weight[p]] += scale * a[p]

    cdef void add_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a, double scale,
                        double *w) noexcept nogil:
        cdef const int32_t *weight = self.part_weight + self.part_at[i]
        cdef Py_ssize_t c, weighted = self.weighted(i)
        for c in range(count):
            if ids[c] < weighted:
                w[weight[ids[c]]] += scale * a[c]

    cdef void gram_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                         double *out) noexcept nogil:
        cdef Py_ssize_t c, weighted = self.weighted(i)
        memset(out, 0, self.num_parts(i) * sizeof(double))
        for c in range(count):
            if ids[c] < weighted:
                out[ids[c]] += a[c]

    cdef double norm2(self, Py_ssize_t i, const double *a) noexcept nogil:
        cdef Py_ssize_t p
        cdef double total = 0.0
        for p in range(self.weighted(i)):
            total += a[p] * a[p]
        return total
