"""One weight for each part: the parts of an example say which weights are theirs, each a different one."""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from cython_ext.features.feature_map cimport FeatureMap


cdef class PartWeights(FeatureMap):
    """part_at: int64[n + 1], where the parts of each example begin; part_weight: int32, the weights of all parts, below
    dim."""

    def __init__(self, const int64_t[::1] part_at, part_weight, Py_ssize_t dim):
        cdef const int32_t[::1] view = np.append(part_weight, np.int32(0)).astype(np.int32)
        self.arrays = part_at, view
        self.part_at, self.part_weight, self.dim = &part_at[0], &view[0], dim

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        return <Py_ssize_t> (self.part_at[i + 1] - self.part_at[i])

    cdef void scores(self, Py_ssize_t i, const double *w, double *theta) noexcept nogil:
        cdef const int32_t *weight = self.part_weight + self.part_at[i]
        cdef Py_ssize_t p
        for p in range(self.num_parts(i)):
            theta[p] = w[weight[p]]

    cdef void add(self, Py_ssize_t i, const double *a, double scale, double *w) noexcept nogil:
        cdef const int32_t *weight = self.part_weight + self.part_at[i]
        cdef Py_ssize_t p
        for p in range(self.num_parts(i)):
            w[weight[p]] += scale * a[p]

    cdef void add_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a, double scale,
                        double *w) noexcept nogil:
        cdef const int32_t *weight = self.part_weight + self.part_at[i]
        cdef Py_ssize_t c
        for c in range(count):
            w[weight[ids[c]]] += scale * a[c]

    cdef void gram_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                         double *out) noexcept nogil:
        cdef Py_ssize_t c
        memset(out, 0, self.num_parts(i) * sizeof(double))
        for c in range(count):
            out[ids[c]] += a[c]

    cdef double norm2(self, Py_ssize_t i, const double *a) noexcept nogil:
        cdef Py_ssize_t p
        cdef double total = 0.0
        for p in range(self.num_parts(i)):
            total += a[p] * a[p]
        return total
