"""Sparse features of positions with a weight only for the attribute-label pairs, label pairs and label triplets seen in
training.

The state weights of an attribute are a list of (label, weight) instead of a row of all labels. Most attributes have
been seen with one or two labels, so the vector is many times shorter. Weights of edge attributes are not thinned out.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memset

from cython_ext.features.capabilities cimport Radius
from cython_ext.features.tokens.generative import GenerativeModel, no_model
from cython_ext.features.tokens.sparse cimport SparseFeatures, SparseRadius
from cython_ext.features.tokens.sparse_rows cimport SparseRows
from cython_ext.kernels.vectors.search cimport first_from


def observed_pairs(SparseRows tokens, const int32_t[::1] labels, Py_ssize_t n_labels):
    """(indptr int64[attributes + 1], labels int32): the labels that occur with each attribute in the data."""
    # a bit for each pair: the rows of most label sets lie in the second-level cache then
    cdef uint32_t[:, ::1] seen = np.zeros((tokens.columns, (n_labels + 31) // 32), np.uint32)
    pairs = min(tokens.columns * n_labels, tokens.indptr[tokens.n])
    indptr, index = np.zeros(tokens.columns + 1, np.int64), np.empty(pairs, np.int32)
    cdef int64_t[::1] first = indptr
    cdef int32_t[::1] label = index
    cdef Py_ssize_t t, a, c, k
    cdef int64_t p, count = 0
    with nogil:
        for t in range(tokens.n):
            if labels[t] < 0:
                continue
            for p in range(tokens.indptr[t], tokens.indptr[t + 1]):
                seen[tokens.index[p], labels[t] >> 5] |= <uint32_t> 1 << (labels[t] & 31)
        for a in range(tokens.columns):
            for c in range(seen.shape[1]):
                if not seen[a, c]:
                    continue
                for k in range(32):
                    if seen[a, c] >> k & 1:
                        label[count] = <int32_t> (32 * c + k)
                        count += 1
            first[a + 1] = count
    return indptr, index[:count].copy()


def observed_sequences(const int32_t[::1] labels, const int64_t[::1] offsets, Py_ssize_t n_labels, Py_ssize_t length):
    """bool[K, ..., K], `length` axes: which sequences of so many labels occur in the data."""
    seen = np.zeros((n_labels,) * length, bool)
    cdef char[::1] flat = seen.reshape(-1).view(np.int8)
    cdef Py_ssize_t i, t, back, place
    with nogil:
        for i in range(offsets.shape[0] - 1):
            for t in range(offsets[i] + length - 1, offsets[i + 1]):
                place = 0
                for back in range(length - 1, -1, -1):
                    if labels[t - back] < 0:
                        place = -1
                        break
                    place = place * n_labels + labels[t - back]
                if place >= 0:
                    flat[place] = 1
    return seen


cdef class ObservedFeatures(SparseFeatures):
    """As SparseFeatures; labels: int32[N] of all tokens, from which the pairs are taken."""

    # no table of inner products of positions, which depend on the label here
    helpers = {Radius: SparseRadius,
               GenerativeModel: no_model('counts has a weight for every attribute and label, since a pair that was not '
                                         'seen has a probability too (use --feature-set all)')}

    def __init__(self, SparseRows tokens not None, offsets, labels, Py_ssize_t n_labels, Py_ssize_t stride,
                 Py_ssize_t order=0, bint transitions=False, SparseRows edges=None):
        SparseFeatures.__init__(self, tokens, offsets, n_labels, stride, order, transitions, edges)
        indptr, index = observed_pairs(tokens, labels, n_labels)
        cdef const int64_t[::1] indptr_view = indptr
        cdef const int32_t[::1] index_view = index
        self.label_indptr, self.label_index = indptr, index
        self.first = &indptr_view[0]
        self.label = &index_view[0] if len(index) else NULL
        self.dim += len(index) - self.state_size
        self.state_size = len(index)
        pairs = observed_sequences(labels, offsets, n_labels, 2)
        triples = observed_sequences(labels, offsets, n_labels, 3).transpose(1, 0, 2) if order == 2 else None
        self._set_masks(pairs, triples)
        self._make_spare()

    cdef int64_t place(self, int32_t attribute, Py_ssize_t k) noexcept nogil:
        """Where the weight of (attribute, label k) is, -1 if there is none."""
        cdef int64_t last = self.first[attribute + 1], place = first_from(self.label, self.first[attribute], last, k)
        return place if place < last and self.label[place] == k else -1

    cdef void scores(self, Py_ssize_t i, const double *w, double *theta) noexcept nogil:
        cdef Py_ssize_t t
        cdef int64_t p, e
        cdef int32_t attribute
        cdef double x
        memset(theta, 0, self.length(i) * self.stride * sizeof(double))
        for t in range(self.offset_data[i], self.offset_data[i + 1]):
            for p in range(self.tokens.indptr[t], self.tokens.indptr[t + 1]):
                attribute = self.tokens.index[p]
                x = 1.0 if self.tokens.value == NULL else self.tokens.value[p]
                for e in range(self.first[attribute], self.first[attribute + 1]):
                    theta[self.label[e]] += x * w[e]
            theta += self.stride
        self.transition_scores(i, w + self.state_size, theta)

    cdef void add_row(self, Py_ssize_t t, const double *row, double scale, double *w) noexcept nogil:
        cdef int64_t p, e
        cdef int32_t attribute
        cdef double x
        for p in range(self.tokens.indptr[t], self.tokens.indptr[t + 1]):
            attribute = self.tokens.index[p]
            x = scale if self.tokens.value == NULL else scale * self.tokens.value[p]
            for e in range(self.first[attribute], self.first[attribute + 1]):
                w[e] += x * row[self.label[e]]

    cdef void add_label(self, Py_ssize_t t, Py_ssize_t k, double scale, double *w) noexcept nogil:
        cdef int64_t p, e
        for p in range(self.tokens.indptr[t], self.tokens.indptr[t + 1]):
            e = self.place(self.tokens.index[p], k)
            if e >= 0:
                w[e] += scale if self.tokens.value == NULL else scale * self.tokens.value[p]

    cdef void gram_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                         double *out) noexcept nogil:
        self.gram_by_weights(i, count, ids, a, out)

    cdef double norm2(self, Py_ssize_t i, const double *a) noexcept nogil:
        return self.norm2_by_weights(i, a)

    cdef double clear_row(self, Py_ssize_t t, double *w) noexcept nogil:
        cdef double total = 0.0
        cdef int64_t p, e
        cdef int32_t attribute
        for p in range(self.tokens.indptr[t], self.tokens.indptr[t + 1]):
            attribute = self.tokens.index[p]
            for e in range(self.first[attribute], self.first[attribute + 1]):
                total += w[e] * w[e]
                w[e] = 0.0
        return total

    def blocks(self, w):
        """As of SparseFeatures, with the state weights as state.indptr, state.labels and state.weights."""
        out = {'state.indptr': self.label_indptr, 'state.labels': self.label_index,
               'state.weights': np.array(w[:self.state_size], np.float64)}
        return {**out, **self._transition_blocks(w)}

    def weights(self, blocks):
        blocks = dict(blocks)
        lists = [blocks.pop(f'state.{name}', np.empty(0)) for name in ('indptr', 'labels', 'weights')]
        if not (np.array_equal(lists[0], self.label_indptr) and np.array_equal(lists[1], self.label_index)):
            raise ValueError('the weights are of other attribute-label pairs than those of these data')
        if len(lists[2]) != self.state_size:
            raise ValueError(f'{len(lists[2])} state weights (expected {self.state_size})')
        w = self.zeros()
        w[:self.state_size] = lists[2]
        self._set_transition_blocks(w, blocks)
        return w
