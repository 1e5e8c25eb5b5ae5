"""The weights of label pairs and triplets, which all maps of token features share (Tsochantaridis et al. 2005, section
4.3.1). They stand behind the weights of the tokens, and their parts behind the label scores of theta.

weights     one [from, to] block of stride x stride (where pairs have a weight of their own), then such a block for each
            edge attribute, then (order 2) the triplets, [second, first, third] with rows of `stride` third labels
theta       one [from, to] block that all positions share, or with edge attributes one for each position from the second
            on; then the triplets, which all positions share, as they stand in the weights

Triplets are kept by their second label because the recursions of second-order chains take them so: for a given label in
the middle they are a [from, to] block.
"""

import numpy as np

from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.features.tokens.sparse_rows cimport SparseRows
from cython_ext.kernels.vectors cimport vector


cdef class TransitionWeights(FeatureMap):
    """offsets: int64[n + 1] tokens of each example; n_labels: K; order: 0 where theta has label scores only, 1 with
    pairs, 2 with triplets too; transitions: whether pairs have weights of their own; edges: SparseRows [N, edge
    attributes] of the transition into each token, or None. block: where the weights of pairs begin, in all methods."""

    def __init__(self, offsets, Py_ssize_t n_labels, Py_ssize_t stride, Py_ssize_t order, bint transitions,
                 SparseRows edges):
        cdef const int64_t[::1] view = offsets
        self.offsets, self.offset_data, self.edges = offsets, &view[0], edges
        self.n_labels, self.stride, self.order, self.transitions = n_labels, stride, order, transitions
        self.square = stride * stride
        self.transition_size = self.square if transitions else 0
        self.pair_size = self.transition_size + self.square * (edges.columns if edges is not None else 0)
        self.triple_size = n_labels * n_labels * stride if order == 2 else 0
        self._set_masks(np.ones((n_labels, n_labels)))

    def _set_masks(self, pairs, triples=None):
        """pairs: [K, K], 1 where a pair has a weight and 0 where it has none; triples: the same [second, first, third],
        None where all have one."""
        mask = np.zeros((self.stride, self.stride))
        mask[:self.n_labels, :self.n_labels] = pairs
        cdef double[::1] view = mask.ravel(), triple_view
        self.mask, self.mask_data = mask, &view[0]
        self.triple_mask, self.triple_mask_data = None, NULL
        if triples is not None and self.triple_size:
            mask = np.zeros((self.n_labels, self.n_labels, self.stride))
            mask[:, :, :self.n_labels] = triples
            triple_view = mask.ravel()
            self.triple_mask, self.triple_mask_data = mask, &triple_view[0]

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil:
        return <Py_ssize_t> (self.offset_data[i + 1] - self.offset_data[i])

    cdef Py_ssize_t pair_parts(self, Py_ssize_t i) noexcept nogil:
        """Numbers of theta that belong to pairs."""
        cdef Py_ssize_t T = self.length(i)
        if self.edges is not None:
            return (T - 1 if T > 1 else 0) * self.square
        return self.square if self.order else 0

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        return self.length(i) * self.stride + self.pair_parts(i) + self.triple_size

    cdef void transition_scores(self, Py_ssize_t i, const double *block, double *theta) noexcept nogil:
        """The scores of pairs and triplets."""
        self.pair_scores(i, block, theta)
        if self.triple_size:
            memcpy(theta + self.pair_parts(i), block + self.pair_size, self.triple_size * sizeof(double))

    cdef void add_transitions(self, Py_ssize_t i, const double *a, double scale, double *block) noexcept nogil:
        """The adjoint of transition_scores."""
        cdef Py_ssize_t k
        self.add_pairs(i, a, scale, block)
        a += self.pair_parts(i)
        block += self.pair_size
        if self.triple_mask_data == NULL:
            vector.axpy(self.triple_size, scale, a, block)
        else:
            for k in range(self.triple_size):
                block[k] += scale * a[k] * self.triple_mask_data[k]

    cdef void add_transition(self, Py_ssize_t i, Py_ssize_t part, double scale, double *block) noexcept nogil:
        """add_transitions of a single part."""
        cdef Py_ssize_t k = part - self.pair_parts(i)
        if k < 0:
            self.add_pair(i, part, scale, block)
        elif self.triple_mask_data == NULL or self.triple_mask_data[k] != 0.0:
            block[self.pair_size + k] += scale

    cdef void gram_transition(self, Py_ssize_t i, Py_ssize_t part, double a, double *out) noexcept nogil:
        """out += the column of a part in Phi' Phi, times a; out holds the parts of pairs and triplets only."""
        cdef Py_ssize_t k = part - self.pair_parts(i)
        if k < 0:
            self.gram_pair(i, part, a, out)
        elif self.triple_mask_data == NULL or self.triple_mask_data[k] != 0.0:
            out[part] += a

    cdef double transitions_norm2(self, Py_ssize_t i, const double *a) noexcept nogil:
        """|| Phi_i a ||^2 of pairs and triplets."""
        cdef double total = self.pairs_norm2(i, a)
        cdef Py_ssize_t k
        a += self.pair_parts(i)
        for k in range(self.triple_size):
            if a[k] != 0.0 and (self.triple_mask_data == NULL or self.triple_mask_data[k] != 0.0):
                total += a[k] * a[k]
        return total

    cdef double clear_transitions(self, Py_ssize_t i, double *block) noexcept nogil:
        """Zeros into the weights that an example touches; the sum of squares of what was there."""
        cdef double total = vector.dot(self.transition_size, block, block)
        cdef double *row
        cdef Py_ssize_t t
        cdef int64_t p
        memset(block, 0, self.transition_size * sizeof(double))
        total += vector.dot(self.triple_size, block + self.pair_size, block + self.pair_size)
        memset(block + self.pair_size, 0, self.triple_size * sizeof(double))
        if self.edges is None:
            return total
        for t in range(self.offset_data[i] + 1, self.offset_data[i + 1]):
            for p in range(self.edges.indptr[t], self.edges.indptr[t + 1]):
                row = block + self.transition_size + self.edges.index[p] * self.square
                total += vector.dot(self.square, row, row)
                memset(row, 0, self.square * sizeof(double))
        return total

    cdef void pair_scores(self, Py_ssize_t i, const double *block, double *theta) noexcept nogil:
        """The scores of pairs: one block, or one for each position from the second on."""
        cdef Py_ssize_t t
        cdef int64_t p
        if self.edges is None:
            if self.transitions:
                memcpy(theta, block, self.square * sizeof(double))
            elif self.order:
                memset(theta, 0, self.square * sizeof(double))
            return
        for t in range(self.offset_data[i] + 1, self.offset_data[i + 1]):
            p = self.edges.indptr[t]
            vector.gather(block + self.transition_size, self.square, self.edges.index + p, self.edges.values(p),
                          self.edges.indptr[t + 1] - p, theta)
            if self.transitions:
                vector.axpy(self.square, 1.0, block, theta)
            theta += self.square

    cdef void add_pairs(self, Py_ssize_t i, const double *a, double scale, double *block) noexcept nogil:
        """The adjoint of pair_scores."""
        cdef Py_ssize_t t, k
        cdef int64_t p
        if self.edges is None:
            if self.transitions:
                for k in range(self.square):
                    block[k] += scale * a[k] * self.mask_data[k]
            return
        for t in range(self.offset_data[i] + 1, self.offset_data[i + 1]):
            if self.transitions:
                for k in range(self.square):
                    block[k] += scale * a[k] * self.mask_data[k]
            p = self.edges.indptr[t]
            vector.scatter(block + self.transition_size, self.square, self.edges.index + p, self.edges.values(p),
                           self.edges.indptr[t + 1] - p, scale, a)
            a += self.square

    cdef void add_pair(self, Py_ssize_t i, Py_ssize_t part, double scale, double *block) noexcept nogil:
        """add_pairs of a single part."""
        cdef Py_ssize_t t = self.offset_data[i] + 1 + part // self.square, k = part % self.square
        cdef int64_t p
        if self.transitions:
            block[k] += scale * self.mask_data[k]
        if self.edges is None:
            return
        block += self.transition_size
        for p in range(self.edges.indptr[t], self.edges.indptr[t + 1]):
            block[self.edges.index[p] * self.square + k] += scale * (
                1.0 if self.edges.value == NULL else self.edges.value[p])

    cdef void gram_pair(self, Py_ssize_t i, Py_ssize_t part, double a, double *out) noexcept nogil:
        """out += the column of a pair's part in Phi' Phi, times a; out holds the parts of pairs and triplets only."""
        cdef Py_ssize_t t, u = part // self.square, k = part % self.square
        if self.edges is None:
            if self.transitions:
                out[k] += a * self.mask_data[k]
            return
        for t in range(self.length(i) - 1):
            out[t * self.square + k] += a * self.edge_gram(i, t, u, k)

    cdef double pairs_norm2(self, Py_ssize_t i, const double *a) noexcept nogil:
        """|| Phi_i a ||^2 of pairs."""
        cdef Py_ssize_t t, u, k
        cdef double total = 0.0
        if self.edges is None:
            if self.transitions:
                for k in range(self.square):
                    total += a[k] * a[k] * self.mask_data[k]
            return total
        for t in range(self.length(i) - 1):
            for u in range(t + 1):
                for k in range(self.square):
                    if a[t * self.square + k] != 0.0 and a[u * self.square + k] != 0.0:
                        total += ((1.0 if t == u else 2.0) * self.edge_gram(i, t, u, k) * a[t * self.square + k]
                                  * a[u * self.square + k])
        return total

    cdef double edge_gram(self, Py_ssize_t i, Py_ssize_t t, Py_ssize_t u, Py_ssize_t k) noexcept nogil:
        """Inner product of the features of label pair k at the transitions into positions t + 1 and u + 1."""
        cdef Py_ssize_t begin = self.offset_data[i] + 1
        return self.edges.inner(begin + t, begin + u) + (self.mask_data[k] if self.transitions else 0.0)

    def _transition_views(self, w):
        """The weights without padding as views into a weight vector: transition [K, K], edge [edge attributes, K, K]
        and triple [K, K, K], in the order of the labels."""
        k, s, at = self.n_labels, self.stride, self.dim - self.pair_size - self.triple_size
        out = {}
        if self.transitions:
            out['transition'] = w[at:at + self.square].reshape(s, s)[:k, :k]
        if self.edges is not None:
            out['edge'] = w[at + self.transition_size:at + self.pair_size].reshape(self.edges.columns, s, s)[:, :k, :k]
        if self.triple_size:
            triples = w[at + self.pair_size:at + self.pair_size + self.triple_size].reshape(k, k, s)[:, :, :k]
            out['triple'] = triples.transpose(1, 0, 2)
        return out

    def _transition_blocks(self, w):
        return {name: np.ascontiguousarray(view, np.float64)
                for name, view in self._transition_views(np.asarray(w)).items()}

    def _set_transition_blocks(self, w, blocks):
        views = self._transition_views(w)
        if {name: np.shape(block) for name, block in blocks.items()} != {name: v.shape for name, v in views.items()}:
            raise ValueError(f'transition weights {sorted(blocks)} do not fit (expected {sorted(views)} of '
                             f'{self.n_labels} labels)')
        for name, view in views.items():
            view[...] = blocks[name]
