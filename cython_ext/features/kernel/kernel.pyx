"""Positions by way of a kernel: phi = sum_t K(x_t, .) (x) e(y_t), and transitions with linear features.

A weight vector holds coefficients: a row beta[u, :] of `stride` doubles for each token u of a basis, so that label k
scores sum_u K(x, u) beta[u, k]; then the pair weights as in SparseFeatures. Phi_i a is a itself, in the rows of the
example's own tokens, which makes `add` cheap and `scores` dear; the inner product of two weight vectors is that of the
functions they stand for, <K beta, beta'>, and not the Euclidean one.

A solver that visits its examples more often than it changes them can have a weight vector followed: the scores of all
tokens are kept then, `scores` reads them and `add` changes them, by a row of the kernel matrix for each token of its
own.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset

from cython_ext.features.capabilities cimport Following, Radius, Tables
from cython_ext.features.tokens.generative import GenerativeModel, no_model
from cython_ext.features.kernel.basis cimport KernelBasis
from cython_ext.features.tokens.sparse cimport SparseFeatures, SparseRadius
from cython_ext.features.tokens.sparse_rows cimport SparseRows
from cython_ext.features.tokens.sparse import GRAM_LIMIT
from cython_ext.kernels.vectors cimport vector
from cython_ext.common.arrays import aligned_zeros
from cython_ext.common.parallel import Pool

cdef enum:
    LONG = 512              # positions of an example above which no table of their kernel values is kept

RANGE_ROWS = 64             # rows of the kernel matrix that a thread multiplies at a time for an inner product
NEGLIGIBLE_COEFFICIENT = 1e-14          # of the largest one: what rounding leaves of dual weights that were there


cdef class KernelFeatures(SparseFeatures):
    """As SparseFeatures; basis: a KernelBasis. Where tokens are not in it, as in data to predict, there is nothing to
    add to, and `scores` is all that may be called. pool: the threads of `inner`."""

    helpers = {Radius: SparseRadius, Tables: KernelTables, Following: KernelFollowing,
               GenerativeModel: no_model('counts has no use for a kernel')}
    euclidean = False

    def __init__(self, SparseRows tokens not None, KernelBasis basis not None, offsets, Py_ssize_t n_labels,
                 Py_ssize_t stride, Py_ssize_t order=0, bint transitions=False, SparseRows edges=None, pool=None):
        SparseFeatures.__init__(self, tokens, offsets, n_labels, stride, order, transitions, edges)
        self.basis, self.pool = basis, pool or Pool(1)
        places = basis.find(tokens.indptr_array, tokens.index_array, tokens.value_array)
        cdef const int32_t[::1] view = np.append(places, np.int32(-1))
        self.place_array, self.place = view, &view[0]
        self.dim += basis.size * stride - self.state_size
        self.state_size = basis.size * stride
        self.longest = tokens.n                             # no other way than by kernel values
        cdef double[::1] scaled = np.zeros(stride)
        self.scaled_array, self.scaled = scaled, &scaled[0]
        self.followed, self.followed_data = None, NULL

    def _make_spare(self):
        """Long examples need none."""

    cdef void scores(self, Py_ssize_t i, const double *w, double *theta) noexcept nogil:
        cdef Py_ssize_t begin = self.offset_data[i], T = self.length(i), t
        if w == self.followed_data:
            for t in range(T):
                memcpy(theta + t * self.stride, self.kept_data + self.place[begin + t] * self.stride,
                       self.stride * sizeof(double))
        else:
            self.basis.multiply(self.tokens, begin, self.place + begin, T, w, self.stride, theta)
        self.transition_scores(i, w + self.state_size, theta + T * self.stride)

    cdef void add_row(self, Py_ssize_t t, const double *row, double scale, double *w) noexcept nogil:
        vector.axpy(self.stride, scale, row, w + self.place[t] * self.stride)
        if w == self.followed_data:
            memset(self.scaled, 0, self.stride * sizeof(double))
            vector.axpy(self.stride, scale, row, self.scaled)
            self.basis.add_outer(self.place[t], self.scaled, self.stride, self.kept_data)

    cdef void add_label(self, Py_ssize_t t, Py_ssize_t k, double scale, double *w) noexcept nogil:
        w[self.place[t] * self.stride + k] += scale
        if w == self.followed_data:
            memset(self.scaled, 0, self.stride * sizeof(double))
            self.scaled[k] = scale
            self.basis.add_outer(self.place[t], self.scaled, self.stride, self.kept_data)

    cdef double gram(self, Py_ssize_t i, Py_ssize_t t, Py_ssize_t u) noexcept nogil:
        """The kernel of positions t and u of example i."""
        cdef Py_ssize_t begin = self.offset_data[i]
        if self.gram_start != NULL and self.length(i) <= LONG:
            return self.gram_double[self.gram_start[i] + t * self.length(i) + u]
        return self.basis.value(self.tokens.inner(begin + t, begin + u), self.tokens.inner(begin + t, begin + t),
                                self.tokens.inner(begin + u, begin + u))

    def inner(self, v, w):
        """<K beta, beta'> and the products of the pair weights. Takes as long as the scores of all tokens whose
        coefficients in v or in w, whichever are fewer, are not zero; next to nothing if one of them is followed."""
        v, w = np.ascontiguousarray(v, np.float64), np.ascontiguousarray(w, np.float64)
        if len(v) != self.dim or len(w) != self.dim:
            raise ValueError(f'vectors of {len(v)} and {len(w)} numbers (expected {self.dim})')
        for one, other in ((v, w), (w, v)):
            if self._follows(one):
                return float(self.kept[:self.state_size] @ other[:self.state_size]) + self._pairs_inner(v, w)
        rows, others = (self._rows(x) for x in (v, w))
        if len(others) < len(rows):
            v, w, rows = w, v, others
        ranges = [(v, w, rows[first:first + RANGE_ROWS]) for first in range(0, len(rows), RANGE_ROWS)]
        return sum(self.pool.map(self._inner, ranges)) + self._pairs_inner(v, w)

    def _follows(self, const double[::1] w):
        return self.followed_data != NULL and &w[0] == self.followed_data

    def _pairs_inner(self, v, w):
        return float(v[self.state_size:] @ w[self.state_size:])

    def _rows(self, w):
        """Numbers of the basis tokens whose coefficients in w are not all zero."""
        table = w[:self.state_size].reshape(self.basis.size, self.stride)
        return np.flatnonzero(table.any(axis=1)).astype(np.int32)

    def _inner(self, const double[::1] v, const double[::1] w, const int32_t[::1] rows):
        """The share of some rows."""
        cdef double[:, ::1] products = np.empty((len(rows), self.stride))
        cdef double total = 0.0
        cdef Py_ssize_t q
        with nogil:
            self.basis.multiply(self.basis.rows, 0, &rows[0], rows.shape[0], &w[0], self.stride, &products[0, 0])
            for q in range(rows.shape[0]):
                total += vector.dot(self.stride, &v[rows[q] * self.stride], &products[q, 0])
        return total

    def blocks(self, w):
        """The tokens with coefficients, support.indptr, support.indices and, unless all are 1, support.values, their
        coefficients support.weights [m, K], and transition, edge and triple as of SparseFeatures."""
        w = np.asarray(w, np.float64)
        table = w[:self.state_size].reshape(self.basis.size, self.stride)[:, :self.n_labels]
        size = np.abs(table).max(axis=1, initial=0)
        rows = np.flatnonzero(size > NEGLIGIBLE_COEFFICIENT * size.max(initial=0))
        table = np.ascontiguousarray(table[rows])
        return {**self.basis.support(rows), 'support.weights': table, **self._transition_blocks(w)}

    def weights(self, blocks):
        """The weight vector of blocks(). Raises ValueError where a token with coefficients is not in the basis."""
        blocks = dict(blocks)
        tokens = [blocks.pop(f'support.{name}', None) for name in ('indptr', 'indices', 'values')]
        table = blocks.pop('support.weights', None)
        if table is None or tokens[0] is None or np.shape(table) != (len(tokens[0]) - 1, self.n_labels):
            raise ValueError(f'no coefficients of support tokens for {self.n_labels} labels')
        places = self.basis.find(*tokens)
        if (places < 0).any():
            raise ValueError('the support tokens are of other data')
        w = self.zeros()
        np.add.at(w[:self.state_size].reshape(self.basis.size, self.stride)[:, :self.n_labels], places, table)
        self._set_transition_blocks(w, blocks)
        return w


cdef class KernelTables(Tables):
    """The kernel values of each example's positions."""

    def keep_gram(self):
        """Keeps them, unless they would be too large."""
        cdef KernelFeatures map = self.features
        cdef Py_ssize_t i, t, u, T, n = len(map.offsets) - 1
        lengths = np.diff(map.offsets)
        lengths[lengths > LONG] = 0
        start = np.zeros(n + 1, np.int64)
        np.cumsum(lengths * lengths, out=start[1:])
        if map.gram_start != NULL or start[n] * 8 > GRAM_LIMIT:
            return
        table = np.empty(start[n] + 1)
        cdef const int64_t[::1] start_view = start
        cdef double[::1] view = table
        with nogil:
            for i in range(n):
                T = map.length(i)
                if T > LONG:
                    continue
                for t in range(T):
                    for u in range(t + 1):
                        view[start_view[i] + t * T + u] = view[start_view[i] + u * T + t] = map.gram(i, t, u)
        map.gram_arrays = start, table
        map.gram_start, map.gram_double = &start_view[0], &view[0]

    def forget(self):
        cdef KernelFeatures map = self.features
        map.gram_start, map.gram_double, map.gram_arrays = NULL, NULL, None


cdef class KernelFollowing(Following):
    def follow(self, w, kept=None):
        cdef KernelFeatures map = self.features
        if map.followed is None:
            map.kept = aligned_zeros(map.state_size + 1)
        cdef const double[::1] view = w
        cdef double[::1] kept_view = map.kept
        map.followed, map.followed_data, map.kept_data = None, NULL, &kept_view[0]
        if kept is not None:
            map.kept[:] = kept
        else:
            size = map.basis.size
            ranges = [(view, kept_view, first, min(RANGE_ROWS, size - first)) for first in range(0, size, RANGE_ROWS)]
            map.pool.map(self._score, ranges)
        map.followed, map.followed_data = w, &view[0]

    def scores(self, w):
        cdef KernelFeatures map = self.features
        return np.array(map.kept) if len(w) and map._follows(w) else None

    def _score(self, const double[::1] w, double[::1] out, Py_ssize_t first, Py_ssize_t count):
        """The scores of a range of tokens of the basis."""
        cdef KernelFeatures map = self.features
        cdef const int32_t[::1] places = np.arange(first, first + count, dtype=np.int32)
        with nogil:
            map.basis.multiply(map.basis.rows, first, &places[0], count, &w[0], map.stride, &out[first * map.stride])
