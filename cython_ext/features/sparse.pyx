"""Sparse linear features of positions: phi = sum_t x_t (x) e(y_t), transitions, and transitions with input features.

A weight vector is [attribute, label] rows of `stride` doubles, then (where there are transitions) one [from, to]
block of stride x stride, then such a block for each edge attribute. All weights of an attribute lie side by side,
so that one visit of a token reads whole cache lines. Covers multiclass (one position, no transitions) and chains.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint16_t
from libc.string cimport memcpy, memset

from cython_ext.features.feature_map cimport Accumulator, FeatureMap
from cython_ext.features.generative import HiddenMarkov
from cython_ext.kernels cimport vector
from cython_ext.memory import aligned_zeros
from cython_ext.parallel import ranges

cdef enum:
    ROW = 64                # labels of a row on the stack
    LONG = 512              # positions of an example above which no table of their inner products is kept

WINDOW = 8                  # labels that are accumulated at a time where memory counts

GRAM_LIMIT = 1 << 29        # bytes; above it the inner products of positions are computed when needed


cdef class SparseRows:
    """A CSR matrix for the kernels: indptr int64[n + 1], index int32[nnz] ascending in each row, value float64[nnz]
    or None when all are 1."""

    def __init__(self, indptr, index, value, Py_ssize_t columns):
        cdef const int64_t[::1] indptr_view = np.ascontiguousarray(indptr, np.int64)
        cdef const int32_t[::1] index_view = np.ascontiguousarray(index, np.int32)
        cdef const double[::1] value_view
        self.n, self.columns = len(indptr_view) - 1, columns
        self.indptr_array, self.index_array, self.value_array = indptr_view, index_view, None
        self.indptr = &indptr_view[0]
        self.index = &index_view[0] if len(index_view) else NULL
        self.value = NULL
        if value is not None and len(index_view):
            value_view = np.ascontiguousarray(value, np.float64)
            self.value_array = value_view
            self.value = &value_view[0]

    cdef const double *values(self, int64_t p) noexcept nogil:
        """Where the values of entry p and after stand, NULL when all are 1."""
        if self.value == NULL:
            return NULL
        return self.value + p

    cdef double inner(self, Py_ssize_t r, Py_ssize_t s) noexcept nogil:
        """Inner product of rows r and s."""
        cdef int64_t p = self.indptr[r], q = self.indptr[s]
        cdef double total = 0.0
        while p < self.indptr[r + 1] and q < self.indptr[s + 1]:
            if self.index[p] < self.index[q]:
                p += 1
            elif self.index[p] > self.index[q]:
                q += 1
            else:
                total += 1.0 if self.value == NULL else self.value[p] * self.value[q]
                p += 1
                q += 1
        return total

    def transposed(self, bint with_values=True):
        """(indptr, row numbers ascending, values or None) of the columns."""
        index = np.asarray(self.index_array)
        indptr = np.zeros(self.columns + 1, np.int64)
        np.cumsum(np.bincount(index, minlength=self.columns), out=indptr[1:])
        rows = np.empty(len(index), np.int32)
        with_values = with_values and self.value != NULL
        values = np.empty(len(index)) if with_values else None
        cdef int64_t[::1] place = indptr[:self.columns].copy()
        cdef int32_t[::1] rows_view = rows
        cdef double[::1] values_view = values
        cdef Py_ssize_t r
        cdef int64_t p, to
        with nogil:
            for r in range(self.n):
                for p in range(self.indptr[r], self.indptr[r + 1]):
                    to = place[self.index[p]]
                    rows_view[to] = <int32_t> r
                    if with_values:
                        values_view[to] = self.value[p]
                    place[self.index[p]] = to + 1
        return indptr, rows, values


cdef class SparseFeatures(FeatureMap):
    """tokens: SparseRows [N, attributes]; offsets: int64[n + 1] tokens of each example; n_labels: K; chain:
    whether theta has transition scores; transitions: whether there are transition weights; edges: SparseRows [N, edge
    attributes] of the transition into each token, or None; groups: the ColumnGroups that the columns of tokens are, or
    None where they are the attributes."""

    def __init__(self, SparseRows tokens not None, offsets, Py_ssize_t n_labels, Py_ssize_t stride, bint chain=False,
                 bint transitions=False, SparseRows edges=None, groups=None):
        cdef const int64_t[::1] view = offsets
        self.groups = groups
        self.tokens, self.edges, self.offsets, self.offset_data = tokens, edges, offsets, &view[0]
        self.n_labels, self.stride, self.chain, self.transitions = n_labels, stride, chain, transitions
        self.state_size = tokens.columns * stride
        self.transition_size = stride * stride if transitions else 0
        self.square = stride * stride
        self.dim = self.state_size + self.transition_size + self.square * (edges.columns if edges is not None else 0)
        self._set_mask(np.ones((n_labels, n_labels)))
        self.longest = LONG
        if np.diff(offsets).max(initial=0) > LONG:
            self._make_spare()

    def _make_spare(self):
        """A weight vector of zeros for gram_by_weights and norm2_by_weights."""
        cdef double[::1] view = aligned_zeros(self.dim + 1)
        self.spare, self.spare_data = view, &view[0]

    def _set_mask(self, pairs):
        """pairs: [K, K], 1 where a transition has a weight and 0 where it has none."""
        mask = np.zeros((self.stride, self.stride))
        mask[:self.n_labels, :self.n_labels] = pairs
        cdef double[::1] view = mask.ravel()
        self.mask, self.mask_data = mask, &view[0]

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil:
        return <Py_ssize_t> (self.offset_data[i + 1] - self.offset_data[i])

    cdef Py_ssize_t size_of(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t T = self.length(i)
        if self.edges is not None:
            return T * self.stride + (T - 1 if T > 1 else 0) * self.square
        return T * self.stride + (self.square if self.chain else 0)

    cdef void scores(self, Py_ssize_t i, const double *w, double *theta) noexcept nogil:
        cdef Py_ssize_t begin = self.offset_data[i], end = self.offset_data[i + 1]
        vector.gather_tokens(w, self.stride, self.tokens.indptr, self.tokens.index, self.tokens.value, begin, end, theta)
        self.pair_scores(i, w + self.state_size, theta + (end - begin) * self.stride)

    cdef void add(self, Py_ssize_t i, const double *a, double scale, double *w) noexcept nogil:
        cdef Py_ssize_t t, k
        for t in range(self.offset_data[i], self.offset_data[i + 1]):
            for k in range(self.n_labels):
                if a[k] != 0.0:
                    self.add_row(t, a, scale, w)
                    break
            a += self.stride
        self.add_pairs(i, a, scale, w + self.state_size)

    cdef void add_row(self, Py_ssize_t t, const double *row, double scale, double *w) noexcept nogil:
        """w += scale * x_t (x) row."""
        cdef int64_t p = self.tokens.indptr[t]
        vector.scatter(w, self.stride, self.tokens.index + p, self.tokens.values(p), self.tokens.indptr[t + 1] - p, scale,
                       row)

    cdef void add_label(self, Py_ssize_t t, Py_ssize_t k, double scale, double *w) noexcept nogil:
        """w += scale * x_t (x) e_k."""
        cdef int64_t p
        for p in range(self.tokens.indptr[t], self.tokens.indptr[t + 1]):
            w[self.tokens.index[p] * self.stride + k] += scale * (
                1.0 if self.tokens.value == NULL else self.tokens.value[p])

    cdef void add_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a, double scale,
                        double *w) noexcept nogil:
        cdef Py_ssize_t c = 0, last, t, states = self.length(i) * self.stride
        cdef double[ROW] row
        while c < count:
            if ids[c] >= states:
                self.add_pair(i, ids[c] - states, scale * a[c], w + self.state_size)
                c += 1
                continue
            # several labels of one token, side by side in ids: one walk over its attributes
            t, last = ids[c] // self.stride, c + 1
            while last < count and t * self.stride <= ids[last] < (t + 1) * self.stride:
                last += 1
            if last == c + 1 or self.stride > ROW:
                for c in range(c, last):
                    self.add_label(self.offset_data[i] + t, ids[c] - t * self.stride, scale * a[c], w)
            else:
                memset(row, 0, self.stride * sizeof(double))
                for c in range(c, last):
                    row[ids[c] - t * self.stride] += a[c]
                self.add_row(self.offset_data[i] + t, row, scale, w)
            c = last

    cdef void gram_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                         double *out) noexcept nogil:
        cdef Py_ssize_t c, t, u, k, T = self.length(i)
        cdef Py_ssize_t states = T * self.stride
        if T > self.longest:
            self.gram_by_weights(i, count, ids, a, out)
            return
        memset(out, 0, self.size_of(i) * sizeof(double))
        for c in range(count):
            if ids[c] < states:
                u, k = ids[c] // self.stride, ids[c] % self.stride
                for t in range(T):
                    out[t * self.stride + k] += a[c] * self.gram(i, t, u)
            else:
                self.gram_pair(i, ids[c] - states, a[c], out + states)

    cdef double norm2(self, Py_ssize_t i, const double *a) noexcept nogil:
        cdef Py_ssize_t t, u, T = self.length(i), S = self.stride
        cdef double total = 0.0, g
        if T > self.longest:
            return self.norm2_by_weights(i, a)
        for t in range(T):
            for u in range(t + 1):
                g = self.gram(i, t, u)
                if g != 0.0:
                    total += (1.0 if t == u else 2.0) * g * vector.dot(S, a + t * S, a + u * S)
        return total + self.pairs_norm2(i, a + T * S)

    # Without inner products, in time that is linear in the length: by way of a weight vector of zeros, of which only
    # what the example touches is written and cleared again.

    cdef void gram_by_weights(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                              double *out) noexcept nogil:
        cdef Py_ssize_t t
        self.add_parts(i, count, ids, a, 1.0, self.spare_data)
        self.scores(i, self.spare_data, out)
        for t in range(self.offset_data[i], self.offset_data[i + 1]):
            self.clear_row(t, self.spare_data)
        self.clear_pairs(i, self.spare_data + self.state_size)

    cdef double norm2_by_weights(self, Py_ssize_t i, const double *a) noexcept nogil:
        cdef Py_ssize_t t
        cdef double total = 0.0
        self.add(i, a, 1.0, self.spare_data)
        for t in range(self.offset_data[i], self.offset_data[i + 1]):
            total += self.clear_row(t, self.spare_data)
        return total + self.clear_pairs(i, self.spare_data + self.state_size)

    cdef double clear_row(self, Py_ssize_t t, double *w) noexcept nogil:
        """Zeros into all weights of a token's attributes; the sum of squares of what was there."""
        cdef double total = 0.0
        cdef double *row
        cdef int64_t p
        for p in range(self.tokens.indptr[t], self.tokens.indptr[t + 1]):
            row = w + self.tokens.index[p] * self.stride
            total += vector.dot(self.stride, row, row)
            memset(row, 0, self.stride * sizeof(double))
        return total

    cdef double clear_pairs(self, Py_ssize_t i, double *block) noexcept nogil:
        """The same for the pair weights that an example touches."""
        cdef double total = vector.dot(self.transition_size, block, block)
        cdef double *row
        cdef Py_ssize_t t
        cdef int64_t p
        memset(block, 0, self.transition_size * sizeof(double))
        if self.edges is None:
            return total
        for t in range(self.offset_data[i] + 1, self.offset_data[i + 1]):
            for p in range(self.edges.indptr[t], self.edges.indptr[t + 1]):
                row = block + self.transition_size + self.edges.index[p] * self.square
                total += vector.dot(self.square, row, row)
                memset(row, 0, self.square * sizeof(double))
        return total

    # ------------------------------------------------------------------------------- the weights of label pairs

    cdef void pair_scores(self, Py_ssize_t i, const double *block, double *theta) noexcept nogil:
        """The transition scores of theta: one block, or one for each position from the second on. block: where the
        pair weights begin, here and below."""
        cdef Py_ssize_t t
        cdef int64_t p
        if self.edges is None:
            if self.transitions:
                memcpy(theta, block, self.square * sizeof(double))
            elif self.chain:
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
        """add_pairs of a single transition part."""
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
        """out += the column of a transition part in Phi' Phi, times a; out holds transition parts only."""
        cdef Py_ssize_t t, u = part // self.square, k = part % self.square
        if self.edges is None:
            if self.transitions:
                out[k] += a * self.mask_data[k]
            return
        for t in range(self.length(i) - 1):
            out[t * self.square + k] += a * self.edge_gram(i, t, u, k)

    cdef double pairs_norm2(self, Py_ssize_t i, const double *a) noexcept nogil:
        """|| Phi_i a ||^2 of transition parts."""
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

    cdef double gram(self, Py_ssize_t i, Py_ssize_t t, Py_ssize_t u) noexcept nogil:
        """Inner product of the attributes of positions t and u of example i."""
        cdef Py_ssize_t begin = self.offset_data[i]
        if self.gram_start == NULL:
            return self.tokens.inner(begin + t, begin + u)
        if self.gram_count != NULL:
            return self.gram_count[self.gram_start[i] + t * self.length(i) + u]
        return self.gram_double[self.gram_start[i] + t * self.length(i) + u]

    cdef double edge_gram(self, Py_ssize_t i, Py_ssize_t t, Py_ssize_t u, Py_ssize_t k) noexcept nogil:
        """Inner product of the features of label pair k at the transitions into positions t + 1 and u + 1."""
        cdef Py_ssize_t begin = self.offset_data[i] + 1
        return self.edges.inner(begin + t, begin + u) + (self.mask_data[k] if self.transitions else 0.0)

    def spread2(self, Py_ssize_t i, const int32_t[::1] ids, const double[::1] counts, double most):
        """As of FeatureMap. The squared norm is a sum over pairs of positions and pairs of transitions: their inner product
        times [y_i the same at both] - [y_i at one is y at the other, both ways] + [y the same at both]."""
        cdef Py_ssize_t begin = self.offset_data[i], states = self.length(i) * self.stride, c, d, t, u, size
        cdef double total = 0.0, g
        cdef bint same
        for c in range(len(ids)):
            for d in range(len(ids)):
                t, u, size = ids[c], ids[d], self.stride
                if (t < states) != (u < states):
                    continue
                if t < states:
                    g = self.gram(i, t // size, u // size)
                else:
                    t, u, size, g = t - states, u - states, self.square, 1.0 if self.transitions else 0.0
                    if self.edges is not None:
                        g += self.edges.inner(begin + 1 + t // size, begin + 1 + u // size)
                same = t % size == u % size
                total += (2.0 * g if same else g) if g > 0 else (0.0 if same else -2.0 * g)
        return total

    def keep_gram(self):
        """Keep a table of the inner products of each example's positions (counts, where all values
        are 1), unless it would be too large."""
        cdef Py_ssize_t i, n = len(self.offsets) - 1, t, u, T
        cdef Py_ssize_t begin
        lengths = np.diff(self.offsets)
        lengths[lengths > LONG] = 0
        start = np.zeros(n + 1, np.int64)
        np.cumsum(lengths * lengths, out=start[1:])
        # values are square roots of whole numbers where there are groups, so inner products are whole numbers
        single = (self.tokens.value == NULL or self.groups is not None) and self._largest_norm2() < 1 << 16
        if self.gram_start != NULL or start[n] * (2 if single else 8) > GRAM_LIMIT:
            return
        table = np.zeros(start[n] + 1, np.uint16 if single else np.float64)
        cdef const int64_t[::1] start_view = start
        cdef uint16_t[::1] count_view = table if single else np.zeros(1, np.uint16)
        cdef double[::1] double_view = np.zeros(1) if single else table
        cdef double[::1] spread = np.zeros(self.tokens.columns + 1)
        cdef const int64_t *indptr = self.tokens.indptr
        cdef const int32_t *index = self.tokens.index
        cdef const double *value = self.tokens.value
        cdef int64_t p, at
        cdef double total
        cdef bint counts = single
        with nogil:
            for i in range(n):
                begin, T = self.offset_data[i], self.length(i)
                if T > LONG:
                    continue
                for u in range(T):
                    for p in range(indptr[begin + u], indptr[begin + u + 1]):
                        spread[index[p]] = 1.0 if value == NULL else value[p]
                    for t in range(u, T):
                        total = 0.0
                        for p in range(indptr[begin + t], indptr[begin + t + 1]):
                            total += spread[index[p]] if value == NULL else spread[index[p]] * value[p]
                        at = start_view[i]
                        if counts:
                            count_view[at + t * T + u] = count_view[at + u * T + t] = <uint16_t> (total + 0.5)
                        else:
                            double_view[at + t * T + u] = double_view[at + u * T + t] = total
                    for p in range(indptr[begin + u], indptr[begin + u + 1]):
                        spread[index[p]] = 0.0
        self.gram_arrays = start, table
        self.gram_start = &start_view[0]
        self.gram_count = &count_view[0] if single else NULL
        self.gram_double = NULL if single else &double_view[0]

    def forget_gram(self):
        self.gram_start, self.gram_count, self.gram_double, self.gram_arrays = NULL, NULL, NULL, None

    def _largest_norm2(self):
        """Of the rows of tokens."""
        indptr = np.asarray(self.tokens.indptr_array)
        if self.groups is None:
            return np.diff(indptr).max(initial=0)
        norms = np.concatenate([[0], np.cumsum(self.groups.sizes[np.asarray(self.tokens.index_array)])])
        return np.diff(norms[indptr]).max(initial=0)

    def accumulator(self, Py_ssize_t n, window=None):
        return SparseAccumulator(self, n, *(window or (0, self.stride)))

    def windows(self):
        """Ranges of labels."""
        return [(first, min(first + WINDOW, self.stride)) for first in range(0, self.stride, WINDOW)]

    def generative(self):
        return HiddenMarkov(self)

    def blocks(self, w):
        """The weights by name: state [attributes, K], transition [K, K] and edge [edge attributes, K, K], without
        padding."""
        states = np.asarray(w)[:self.state_size].reshape(self.tokens.columns, self.stride)
        states = states[:, :self.n_labels]
        states = np.ascontiguousarray(states, np.float64) if self.groups is None else self.groups.expand(states)
        return {'state': states, **self._pair_blocks(w)}

    def weights(self, blocks):
        """The weight vector of blocks(), of these features or of those with observed pairs only. Raises ValueError when
        they do not fit."""
        blocks = dict(blocks)
        if self.groups is not None and 'state' not in blocks:
            raise ValueError('no state weights')
        w = self.zeros()
        states = w[:self.state_size].reshape(self.tokens.columns, self.stride)
        if 'state' in blocks:
            self._set_states(states, blocks.pop('state'))
        else:
            self._set_pairs(states, *(blocks.pop(f'state.{part}', None) for part in ('indptr', 'labels', 'weights')))
        self._set_pair_blocks(w, blocks)
        return w

    def _set_states(self, out, states):
        """Rows of all labels into out."""
        attributes = self.tokens.columns if self.groups is None else len(self.groups.group)
        if np.shape(states) != (attributes, self.n_labels):
            raise ValueError(f'state weights of shape {np.shape(states)} (expected {attributes} attributes and '
                             f'{self.n_labels} labels)')
        out[:, :self.n_labels] = states if self.groups is None else self.groups.reduce(states)

    def _set_pairs(self, out, indptr, labels, weights):
        """Lists of (label, weight) into out."""
        if indptr is None or len(indptr) != self.tokens.columns + 1 or weights is None or len(labels) != len(weights):
            raise ValueError(f'state weights of other attributes (expected {self.tokens.columns})')
        out[np.repeat(np.arange(len(out)), np.diff(indptr)), labels] = weights

    def _pair_views(self, w):
        """The unpadded pair weights as views into w."""
        k, s, at = self.n_labels, self.stride, self.state_size
        out = {}
        if self.transitions:
            out['transition'] = w[at:at + self.square].reshape(s, s)[:k, :k]
        if self.edges is not None:
            out['edge'] = w[at + self.transition_size:].reshape(self.edges.columns, s, s)[:, :k, :k]
        return out

    def _pair_blocks(self, w):
        return {name: np.ascontiguousarray(view, np.float64) for name, view in self._pair_views(np.asarray(w)).items()}

    def _set_pair_blocks(self, w, blocks):
        views = self._pair_views(w)
        if {name: np.shape(block) for name, block in blocks.items()} != {name: v.shape for name, v in views.items()}:
            raise ValueError(f'pair weights {sorted(blocks)} do not fit (expected {sorted(views)} of {self.n_labels} labels)')
        for name, view in views.items():
            view[...] = blocks[name]


cdef class SparseAccumulator(Accumulator):
    """Keeps the position statistics of all tokens and multiplies once by the transposed features: every weight is
    then one sum over the tokens that have its attribute, written once and in a fixed order.

    first, last: the labels whose state weights are summed; pair weights go with label 0. Anything but all labels is for
    put_parts and norm2 only."""

    def __init__(self, SparseFeatures features, Py_ssize_t n, Py_ssize_t first, Py_ssize_t last):
        self.features = self.map = features
        self.first, self.width = first, last - first
        self.pair_size = features.dim - features.state_size
        # Pair weights with many input features are too large to hold several times: one chunk, one thread.
        self.chunks = max(1, min(n, 16)) if self.pair_size * 16 * 8 <= 1 << 28 else 1
        self.totals = np.zeros((self.chunks, self.pair_size + 1))
        cdef double[:, ::1] view = self.totals
        self.total_data = &view[0, 0]
        self.statistics = aligned_zeros(features.tokens.n * self.width + 1)
        cdef double[::1] statistics = self.statistics
        self.statistic_data = &statistics[0]
        # a value is the same in all rows of a column where there are groups
        self.tokens_by_column = features.tokens.transposed(with_values=features.groups is None)
        self.column_values = None if features.groups is None else np.sqrt(features.groups.sizes)

    cdef void put(self, Py_ssize_t chunk, Py_ssize_t i, const double *a) noexcept nogil:
        cdef Py_ssize_t k, size = self.map.length(i) * self.map.stride
        cdef double *to = self.statistic_data + self.map.offset_data[i] * self.map.stride
        for k in range(size):
            to[k] += a[k]
        self.map.add_pairs(i, a + size, 1.0, self.total_data + chunk * (self.pair_size + 1))

    cdef void put_parts(self, Py_ssize_t chunk, Py_ssize_t i, Py_ssize_t count, const int32_t *ids,
                        const double *a, double scale) noexcept nogil:
        cdef Py_ssize_t c, label, size = self.map.length(i) * self.map.stride
        cdef double *to = self.statistic_data + self.map.offset_data[i] * self.width
        for c in range(count):
            if ids[c] < size:
                label = ids[c] % self.map.stride - self.first
                if 0 <= label < self.width:
                    to[ids[c] // self.map.stride * self.width + label] += scale * a[c]
            elif self.first == 0:
                self.map.add_pair(i, ids[c] - size, scale * a[c], self.total_data + chunk * (self.pair_size + 1))

    def clear(self):
        self.totals[...] = 0
        self.statistics[...] = 0

    def total(self, double[::1] out, pool):
        indptr = self.tokens_by_column[0]
        pool.map(self._states, [(out, begin, end) for begin, end in ranges(indptr, 4 * pool.threads)])
        if self.pair_size:
            np.asarray(out)[self.map.state_size:] = self.totals[:, :self.pair_size].sum(axis=0)

    def norm2(self, pool):
        """|| total ||^2 without the total: in fixed ranges of attributes, each summed and forgotten."""
        parts = pool.map(self._states_norm2, ranges(self.tokens_by_column[0], 64))
        pairs = self.totals[:, :self.pair_size].sum(axis=0)
        return sum(parts) + vector_norm2(pairs)

    def _states_norm2(self, Py_ssize_t begin, Py_ssize_t end):
        cdef double[::1] rows = np.empty((end - begin) * self.width)
        self._gather(&rows[0], begin, end)
        return vector.dot(len(rows), &rows[0], &rows[0])

    def _states(self, double[::1] out, Py_ssize_t begin, Py_ssize_t end):
        """out[attribute, :] for a range of attributes."""
        self._gather(&out[begin * self.map.stride], begin, end)

    cdef _gather(self, double *out, Py_ssize_t begin, Py_ssize_t end):
        """Rows begin..end-1 of the sum."""
        indptr, rows, values = self.tokens_by_column
        cdef const int64_t[::1] indptr_view = indptr
        cdef const int32_t[::1] rows_view = rows
        cdef const double[::1] values_view = values
        cdef const double *value = NULL
        if values is not None:
            value = &values_view[0]
        with nogil:
            vector.gather_tokens(self.statistic_data, self.width, &indptr_view[0], &rows_view[0], value, begin, end, out)
        if self.column_values is None:
            return
        cdef const double[::1] scales = self.column_values
        cdef Py_ssize_t c, k, S = self.width
        with nogil:
            for c in range(begin, end):
                for k in range(S):
                    out[(c - begin) * S + k] *= scales[c]


def vector_norm2(const double[::1] x):
    return vector.dot(len(x), &x[0], &x[0]) if len(x) else 0.0
