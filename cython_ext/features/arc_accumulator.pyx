"""Sums over all sentences of the features of their arcs, without a weight vector for each of several threads.

What is put for every arc is kept until the end; then each weight is a sum over the sentences, in their order, and
threads have ranges of weights of their own. What is put for arcs with relations, which would be too much to keep, is
added up in chunks of sentences.
"""

from itertools import pairwise

import numpy as np

from libc.stdint cimport int32_t, uint32_t

from cython_ext.features.arc_table cimport BLOCK
from cython_ext.features.arcs cimport ADD, ArcFeatures
from cython_ext.features.feature_map cimport Accumulator
from cython_ext.memory import aligned_zeros


cdef class ArcAccumulator(Accumulator):
    """features: the map; n: its sentences."""

    cdef ArcFeatures map
    cdef Py_ssize_t row_weights
    cdef object arcs
    cdef double *arc_data

    def __init__(self, ArcFeatures features, Py_ssize_t n):
        self.features = self.map = features
        self.row_weights = features.dim - features.table.first_row if features.n_labels > 1 else 0
        self.chunks = max(1, min(n, 16 if self.row_weights * 16 * 8 <= 1 << 28 else 4))
        self.totals = np.zeros((self.chunks, self.row_weights + 1))
        cdef double[:, ::1] totals = self.totals
        cdef double[::1] arcs = aligned_zeros(features.arc_indptr[n] + 1)
        self.total_data, self.arcs, self.arc_data = &totals[0, 0], np.asarray(arcs), &arcs[0]

    cdef void put(self, Py_ssize_t chunk, Py_ssize_t i, const double *a) noexcept nogil:
        cdef Py_ssize_t arc, r
        for arc in range(self.map.first_arc[i + 1] - self.map.first_arc[i]):
            for r in range(self.map.n_labels):
                self.arc_data[self.map.first_arc[i] + arc] += a[arc * self.map.stride + r]
        if self.row_weights:
            self.map.add_rows(i, a, 1.0, self.total_data + chunk * (self.row_weights + 1))

    cdef void put_parts(self, Py_ssize_t chunk, Py_ssize_t i, Py_ssize_t count, const int32_t *ids,
                        const double *a, double scale) noexcept nogil:
        cdef Py_ssize_t c
        for c in range(count):
            self.arc_data[self.map.first_arc[i] + ids[c] // self.map.stride] += scale * a[c]
        if self.row_weights:
            self.map.visit_kind(i, count, ids, a, ADD, True, scale, self.total_data + chunk * (self.row_weights + 1))

    def clear(self, pool):
        self.totals[...] = 0
        self.arcs[...] = 0

    def total(self, double[::1] out, pool):
        out[:] = 0.0
        weights = self.map.table.arc_weights
        bounds = np.linspace(0, weights, pool.threads + 1).astype(np.int64) // BLOCK * BLOCK
        bounds[pool.threads] = weights
        pool.map(self._arcs, [(out, low, high) for low, high in pairwise(bounds.tolist())])
        if self.row_weights:
            np.asarray(out)[self.map.table.first_row:] = self.totals[:, :self.row_weights].sum(axis=0)

    def _arcs(self, double[::1] out, uint32_t low, uint32_t high):
        """The weights of a range of arc features."""
        cdef Py_ssize_t i
        with nogil:
            for i in range(self.map.reader.n):
                self.map.add_arcs(i, self.arc_data + self.map.first_arc[i], 1, 1.0, low, high, &out[0])
