"""Weights of pairs of letters and of gaps: what an alignment counts is what has weights, and its candidate has none.

A weight vector is [native letter, candidate letter], then the weight of a gap's letter, or those of opening a gap and
of extending it. Letters that have no weights, which only data for predictions have, come after the others in theta.
"""

import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.kernels.vectors cimport vector
from cython_ext.structures.alignment.alignment cimport Alignment


cdef class AlignmentFeatures(FeatureMap):
    """structure: the Alignment; known: how many letters have weights, at most its n_letters."""

    cdef Alignment structure
    cdef readonly Py_ssize_t known, letters, gaps

    def __init__(self, Alignment structure not None, Py_ssize_t known):
        self.structure, self.known = structure, known
        self.letters, self.gaps = structure.n_letters, structure.gap_parts
        self.dim = known * known + self.gaps

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        return self.structure.num_parts(i)

    cdef Py_ssize_t weight_of(self, Py_ssize_t part) noexcept nogil:
        """Where the weight of a part stands, -1 if it has none."""
        cdef Py_ssize_t a = part // self.letters, b = part % self.letters, gap = part - self.letters * self.letters
        if gap >= 0:
            return self.known * self.known + gap if gap < self.gaps else -1
        return a * self.known + b if a < self.known and b < self.known else -1

    cdef void scores(self, Py_ssize_t i, const double *w, double *theta) noexcept nogil:
        cdef Py_ssize_t a, K = self.known, L = self.letters
        memset(theta, 0, self.structure.num_parts(i) * sizeof(double))
        for a in range(K):
            memcpy(theta + a * L, w + a * K, K * sizeof(double))
        memcpy(theta + L * L, w + K * K, self.gaps * sizeof(double))

    cdef void add(self, Py_ssize_t i, const double *a, double scale, double *w) noexcept nogil:
        cdef Py_ssize_t k, K = self.known, L = self.letters
        for k in range(K):
            vector.axpy(K, scale, a + k * L, w + k * K)
        vector.axpy(self.gaps, scale, a + L * L, w + K * K)

    cdef void add_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a, double scale,
                        double *w) noexcept nogil:
        cdef Py_ssize_t c, k
        for c in range(count):
            k = self.weight_of(ids[c])
            if k >= 0:
                w[k] += scale * a[c]

    cdef void gram_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                         double *out) noexcept nogil:
        cdef Py_ssize_t c
        memset(out, 0, self.structure.num_parts(i) * sizeof(double))
        for c in range(count):
            if self.weight_of(ids[c]) >= 0:
                out[ids[c]] += a[c]

    cdef double norm2(self, Py_ssize_t i, const double *a) noexcept nogil:
        cdef Py_ssize_t k, K = self.known, L = self.letters
        cdef double total = vector.dot(self.gaps, a + L * L, a + L * L)
        for k in range(K):
            total += vector.dot(K, a + k * L, a + k * L)
        return total

    def blocks(self, w):
        """substitute [K, K] (native, candidate), gap [1] or [2]."""
        w, square = np.array(w, np.float64), self.known * self.known
        return {'substitute': w[:square].reshape(self.known, self.known), 'gap': w[square:self.dim]}

    def weights(self, blocks):
        """The weight vector of blocks(); ValueError when they do not fit."""
        wanted = {'substitute': (self.known, self.known), 'gap': (self.gaps,)}
        shapes = {name: np.shape(block) for name, block in blocks.items()}
        if shapes != wanted:
            raise ValueError(f'weights of shapes {shapes} (expected {wanted})')
        w = self.zeros()
        w[:] = np.concatenate([np.ravel(blocks['substitute']), blocks['gap']])
        return w
