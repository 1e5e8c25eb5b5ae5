"""Features x (x) Lambda(y) of multiclass outputs whose classes are described themselves (Tsochantaridis et al. 2005,
section 4.2): by the nodes above them in a taxonomy, by attributes, or by how similar they are.

Only the inner products S = Lambda Lambda' of the classes matter, so Lambda is replaced by the triangular L with L L' =
S: a weight vector has K numbers for each attribute whatever Lambda is, theta = L W'x is computed in place, and the
objective is the same for the optimal w and for every w that the training data span. What a model holds is W L', a
weight for each attribute and class, which predicts like any other.
"""

import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memset

from cython_ext.features.accumulators cimport Accumulator, NormWindows
from cython_ext.features.capabilities cimport Radius, Tables
from cython_ext.features.tokens.generative import GenerativeModel, no_model
from cython_ext.features.tokens.sparse cimport GramTables, LabelWindows, SparseAccumulator, SparseFeatures
from cython_ext.features.tokens.sparse_rows cimport SparseRows
from cython_ext.kernels.vectors cimport vector
from cython_ext.common.arrays import aligned_zeros

NOT_POSITIVE = 1e-9             # of the largest eigenvalue: a negative one that is more than rounding
ZERO_EIGENVALUE = 1e-13         # of the largest eigenvalue: one that is none
ZERO_SINGULAR_VALUE = 1e-12     # of the largest singular value of L: one that is rounding
STATE_ROUNDING = 1e-5           # of the largest class weight: what may be missing where they are in single precision


def triangular_root(similarity):
    """L, lower triangular, with L L' = S. ValueError when S is not symmetric and positive semidefinite."""
    similarity = np.asarray(similarity, np.float64)
    if similarity.ndim != 2 or similarity.shape[0] != similarity.shape[1] or not np.isfinite(similarity).all():
        raise ValueError('the class similarities are no square matrix of numbers')
    if not np.allclose(similarity, similarity.T, rtol=1e-9, atol=1e-12):
        raise ValueError('the class similarities are not symmetric')
    values, vectors = np.linalg.eigh((similarity + similarity.T) / 2)
    if np.min(values, initial=0.0) < -NOT_POSITIVE * np.max(values, initial=0.0):
        raise ValueError(f'the class similarities have the eigenvalue {values.min():.3g} and are no inner products')
    values[values < ZERO_EIGENVALUE * np.max(values, initial=0.0)] = 0.0
    half = vectors * np.sqrt(values)
    upper = np.linalg.qr(half.T, mode='r')                  # half' = Q R, so S = half half' = R' R
    return np.tril(upper.T)


cdef class OutputFeatures(SparseFeatures):
    """As SparseFeatures of single positions; similarity: S, float64[K, K]."""

    helpers = {Radius: OutputRadius, Tables: GramTables, Accumulator: OutputAccumulator, NormWindows: LabelWindows,
               GenerativeModel: no_model('counts has no use for features of classes')}

    def __init__(self, SparseRows tokens not None, offsets, Py_ssize_t n_labels, Py_ssize_t stride, similarity):
        SparseFeatures.__init__(self, tokens, offsets, n_labels, stride)
        if np.shape(similarity) != (n_labels, n_labels):
            raise ValueError(f'class similarities of shape {np.shape(similarity)} (expected {n_labels} classes)')
        self.root = triangular_root(similarity)
        self.similarity = self.root @ self.root.T
        norms = np.diag(self.similarity)
        rows = np.zeros((n_labels, stride))
        rows[:, :n_labels] = self.root
        cdef const double[::1] row_view = rows.ravel()
        cdef double[::1] image_view = aligned_zeros(stride)
        cdef const double[::1] largest_view = (norms[:, None] + norms - 2 * self.similarity).max(axis=1, initial=0.0)
        self.arrays = row_view, image_view, largest_view
        self.rows, self.image, self.largest = &row_view[0], &image_view[0], &largest_view[0]

    cdef void turn(self, const double *a, double *out) noexcept nogil:
        """out += L' a."""
        cdef Py_ssize_t k
        for k in range(self.n_labels):
            if a[k] != 0.0:
                vector.axpy(self.stride, a[k], self.rows + k * self.stride, out)

    cdef void scores(self, Py_ssize_t i, const double *w, double *theta) noexcept nogil:
        cdef Py_ssize_t k
        SparseFeatures.scores(self, i, w, theta)
        for k in range(self.n_labels - 1, -1, -1):          # L is lower triangular: the last ones first, in place
            theta[k] = vector.dot(k + 1, self.rows + k * self.stride, theta)

    cdef void add(self, Py_ssize_t i, const double *a, double scale, double *w) noexcept nogil:
        memset(self.image, 0, self.stride * sizeof(double))
        self.turn(a, self.image)
        self.add_row(i, self.image, scale, w)

    cdef void add_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a, double scale,
                        double *w) noexcept nogil:
        cdef Py_ssize_t c
        memset(self.image, 0, self.stride * sizeof(double))
        for c in range(count):
            vector.axpy(self.stride, a[c], self.rows + ids[c] * self.stride, self.image)
        self.add_row(i, self.image, scale, w)

    cdef void gram_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                         double *out) noexcept nogil:
        cdef Py_ssize_t c, k
        cdef double norm2 = self.gram(i, 0, 0)
        memset(self.image, 0, self.stride * sizeof(double))
        for c in range(count):
            vector.axpy(self.stride, a[c] * norm2, self.rows + ids[c] * self.stride, self.image)
        memset(out, 0, self.stride * sizeof(double))
        for k in range(self.n_labels):
            out[k] = vector.dot(k + 1, self.rows + k * self.stride, self.image)

    cdef double norm2(self, Py_ssize_t i, const double *a) noexcept nogil:
        memset(self.image, 0, self.stride * sizeof(double))
        self.turn(a, self.image)
        return self.gram(i, 0, 0) * vector.dot(self.stride, self.image, self.image)

    def blocks(self, w):
        """state [attributes, K]: W L', the weights of each class."""
        states = SparseFeatures.blocks(self, w)['state']
        return {'state': states @ self.root.T}

    def weights(self, blocks):
        """The weight vector of blocks(): the shortest one with these class weights. ValueError when they do not fit, or
        are none that the features of the classes can give."""
        states = blocks.get('state')
        if states is None:
            raise ValueError('no weights of all attribute-label pairs')
        states = np.asarray(states, np.float64)
        own = states @ np.linalg.pinv(self.root.T, rcond=ZERO_SINGULAR_VALUE) if states.ndim == 2 else states
        w = SparseFeatures.weights(self, {**blocks, 'state': own})
        if np.abs(own @ self.root.T - states).max(initial=0.0) > STATE_ROUNDING * np.abs(states).max(initial=0.0):
            raise ValueError('the weights of some classes are none that the features of the classes can give')
        return w


cdef class OutputRadius(Radius):
    def radius2(self, Py_ssize_t i, const int32_t[::1] ids, const double[::1] counts, double most):
        """max_y ||x||^2 ||Lambda(y_i) - Lambda(y)||^2, exactly."""
        cdef OutputFeatures map = self.features
        return map.gram(i, 0, 0) * map.largest[ids[0]]


cdef class OutputAccumulator(SparseAccumulator):
    """Turns the statistics by L' as they come."""

    cdef OutputFeatures outputs

    def __init__(self, OutputFeatures features, Py_ssize_t n, Py_ssize_t first=0, last=None):
        SparseAccumulator.__init__(self, features, n, first, last)
        self.outputs = features

    cdef void put(self, Py_ssize_t chunk, Py_ssize_t i, const double *a) noexcept nogil:
        self.outputs.turn(a, self.statistic_data + i * self.outputs.stride)

    cdef void put_parts(self, Py_ssize_t chunk, Py_ssize_t i, Py_ssize_t count, const int32_t *ids,
                        const double *a, double scale) noexcept nogil:
        cdef Py_ssize_t c
        for c in range(count):
            vector.axpy(self.width, scale * a[c], self.outputs.rows + ids[c] * self.outputs.stride + self.first,
                        self.statistic_data + i * self.width)
