"""Sparse linear features of positions: phi = sum_t x_t (x) e(y_t), and what transitions.pyx has of label pairs and
triplets.

A weight vector is [attribute, label] rows of `stride` doubles, then the weights of transitions. All weights of an
attribute lie side by side, so that one visit of a token reads whole cache lines. Covers multiclass (one position, no
transitions) and chains.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint16_t
from libc.string cimport memset

from cython_ext.features.accumulators cimport Accumulator, NormWindows, StatisticsAccumulator
from cython_ext.features.capabilities cimport Radius, Tables
from cython_ext.features.tokens.generative import GenerativeModel, HiddenMarkov
from cython_ext.features.tokens.sparse_rows cimport SparseRows
from cython_ext.features.tokens.transitions cimport TransitionWeights
from cython_ext.kernels.vectors cimport vector
from cython_ext.common.arrays import aligned_zeros
from cython_ext.common.parallel import ranges

cdef enum:
    ROW = 64                # labels of a row on the stack
    LONG = 512              # positions of an example above which no table of their inner products is kept

LABELS_OF_A_WINDOW = 8                  # labels that are accumulated at a time where memory counts
ATTRIBUTES_IN_CACHE = 1024                  # attributes whose sums stay in the cache

GRAM_LIMIT = 1 << 29        # bytes; above it the inner products of positions are computed when needed


cdef class SparseFeatures(TransitionWeights):
    """tokens: SparseRows [N, attributes]; groups: the ColumnGroups that the columns of tokens are, or None where they
    are the attributes; the rest as TransitionWeights."""

    helpers = {Radius: SparseRadius, Tables: GramTables, Accumulator: SparseAccumulator, NormWindows: LabelWindows,
               GenerativeModel: HiddenMarkov}

    def __init__(self, SparseRows tokens not None, offsets, Py_ssize_t n_labels, Py_ssize_t stride, Py_ssize_t order=0,
                 bint transitions=False, SparseRows edges=None, groups=None):
        TransitionWeights.__init__(self, offsets, n_labels, stride, order, transitions, edges)
        self.tokens, self.groups = tokens, groups
        self.state_size = tokens.columns * stride
        self.dim = self.state_size + self.pair_size + self.triple_size
        self.longest = LONG
        if np.diff(offsets).max(initial=0) > LONG:
            self._make_spare()

    def _make_spare(self):
        """A weight vector of zeros for gram_by_weights and norm2_by_weights."""
        cdef double[::1] view = aligned_zeros(self.dim + 1)
        self.spare, self.spare_data = view, &view[0]

    cdef void scores(self, Py_ssize_t i, const double *w, double *theta) noexcept nogil:
        cdef Py_ssize_t begin = self.offset_data[i], end = self.offset_data[i + 1]
        vector.gather_tokens(w, self.stride, self.tokens.indptr, self.tokens.index, self.tokens.value, begin, end,
                             theta)
        self.transition_scores(i, w + self.state_size, theta + (end - begin) * self.stride)

    cdef void add(self, Py_ssize_t i, const double *a, double scale, double *w) noexcept nogil:
        cdef Py_ssize_t t, k
        for t in range(self.offset_data[i], self.offset_data[i + 1]):
            for k in range(self.n_labels):
                if a[k] != 0.0:
                    self.add_row(t, a, scale, w)
                    break
            a += self.stride
        self.add_transitions(i, a, scale, w + self.state_size)

    cdef void add_row(self, Py_ssize_t t, const double *row, double scale, double *w) noexcept nogil:
        """w += scale * x_t (x) row."""
        cdef int64_t p = self.tokens.indptr[t]
        vector.scatter(w, self.stride, self.tokens.index + p, self.tokens.values(p), self.tokens.indptr[t + 1] - p,
                       scale, row)

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
                self.add_transition(i, ids[c] - states, scale * a[c], w + self.state_size)
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
        memset(out, 0, self.num_parts(i) * sizeof(double))
        for c in range(count):
            if ids[c] < states:
                u, k = ids[c] // self.stride, ids[c] % self.stride
                for t in range(T):
                    out[t * self.stride + k] += a[c] * self.gram(i, t, u)
            else:
                self.gram_transition(i, ids[c] - states, a[c], out + states)

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
        return total + self.transitions_norm2(i, a + T * S)

    # Without inner products, in time that is linear in the length: by way of a weight vector of zeros, of which only
    # what the example touches is written and cleared again.

    cdef void gram_by_weights(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                              double *out) noexcept nogil:
        cdef Py_ssize_t t
        self.add_parts(i, count, ids, a, 1.0, self.spare_data)
        self.scores(i, self.spare_data, out)
        for t in range(self.offset_data[i], self.offset_data[i + 1]):
            self.clear_row(t, self.spare_data)
        self.clear_transitions(i, self.spare_data + self.state_size)

    cdef double norm2_by_weights(self, Py_ssize_t i, const double *a) noexcept nogil:
        cdef Py_ssize_t t
        cdef double total = 0.0
        self.add(i, a, 1.0, self.spare_data)
        for t in range(self.offset_data[i], self.offset_data[i + 1]):
            total += self.clear_row(t, self.spare_data)
        return total + self.clear_transitions(i, self.spare_data + self.state_size)

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

    cdef double gram(self, Py_ssize_t i, Py_ssize_t t, Py_ssize_t u) noexcept nogil:
        """Inner product of the attributes of positions t and u of example i."""
        cdef Py_ssize_t begin = self.offset_data[i]
        if self.gram_start == NULL:
            return self.tokens.inner(begin + t, begin + u)
        if self.gram_count != NULL:
            return self.gram_count[self.gram_start[i] + t * self.length(i) + u]
        return self.gram_double[self.gram_start[i] + t * self.length(i) + u]

    def _largest_norm2(self):
        """Of the rows of tokens."""
        indptr = np.asarray(self.tokens.indptr_array)
        if self.groups is None:
            return np.diff(indptr).max(initial=0)
        norms = np.concatenate([[0], np.cumsum(self.groups.sizes[np.asarray(self.tokens.index_array)])])
        return np.diff(norms[indptr]).max(initial=0)

    def by_column(self, pool):
        """The transposed features (SparseRows.transposed), made once; without values where there are groups, since
        these are the same in all rows of a column."""
        if self.tokens_by_column is None:
            self.tokens_by_column = self.tokens.transposed(self.groups is None, pool)
        return self.tokens_by_column

    def blocks(self, w):
        """The weights by name: state [attributes, K], transition [K, K] and edge [edge attributes, K, K], without
        padding."""
        states = np.asarray(w)[:self.state_size].reshape(self.tokens.columns, self.stride)
        states = states[:, :self.n_labels]
        states = np.ascontiguousarray(states, np.float64) if self.groups is None else self.groups.expand(states)
        return {'state': states, **self._transition_blocks(w)}

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
        self._set_transition_blocks(w, blocks)
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


cdef class SparseRadius(Radius):
    def radius2(self, Py_ssize_t i, const int32_t[::1] ids, const double[::1] counts, double most):
        """As of Radius. The squared norm is a sum over pairs of positions, of transitions and of triplets: their inner
        product times [y_i the same at both] - [y_i at one is y at the other, both ways] + [y the same at both]."""
        cdef SparseFeatures map = self.features
        cdef Py_ssize_t begin = map.offset_data[i], states = map.length(i) * map.stride, c, d, t, u, size
        cdef Py_ssize_t pairs = states + map.pair_parts(i)
        cdef double total = 0.0, g
        cdef bint same
        for c in range(len(ids)):
            for d in range(len(ids)):
                t, u, size = ids[c], ids[d], map.stride
                if (t < states) != (u < states) or (t < pairs) != (u < pairs):
                    continue
                if t < states:
                    g = map.gram(i, t // size, u // size)
                elif t < pairs:
                    t, u, size, g = t - states, u - states, map.square, 1.0 if map.transitions else 0.0
                    if map.edges is not None:
                        g += map.edges.inner(begin + 1 + t // size, begin + 1 + u // size)
                else:
                    t, u, size, g = t - pairs, u - pairs, map.triple_size, 1.0
                same = t % size == u % size
                total += (2.0 * g if same else g) if g > 0 else (0.0 if same else -2.0 * g)
        return total


cdef class GramTables(Tables):
    """The inner products of each example's positions (counts, where all values are 1)."""

    def keep_gram(self):
        """Keeps them, unless they would be too large."""
        cdef SparseFeatures map = self.features
        cdef Py_ssize_t i, n = len(map.offsets) - 1, t, u, T
        cdef Py_ssize_t begin
        lengths = np.diff(map.offsets)
        lengths[lengths > LONG] = 0
        start = np.zeros(n + 1, np.int64)
        np.cumsum(lengths * lengths, out=start[1:])
        # values are square roots of whole numbers where there are groups, so inner products are whole numbers
        single = (map.tokens.value == NULL or map.groups is not None) and map._largest_norm2() < 1 << 16
        if map.gram_start != NULL or start[n] * (2 if single else 8) > GRAM_LIMIT:
            return
        table = np.zeros(start[n] + 1, np.uint16 if single else np.float64)
        cdef const int64_t[::1] start_view = start
        cdef uint16_t[::1] count_view = table if single else np.zeros(1, np.uint16)
        cdef double[::1] double_view = np.zeros(1) if single else table
        cdef double[::1] spread = np.zeros(map.tokens.columns + 1)
        cdef const int64_t *indptr = map.tokens.indptr
        cdef const int32_t *index = map.tokens.index
        cdef const double *value = map.tokens.value
        cdef int64_t p, at
        cdef double total
        cdef bint counts = single
        with nogil:
            for i in range(n):
                begin, T = map.offset_data[i], map.length(i)
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
        map.gram_arrays = start, table
        map.gram_start = &start_view[0]
        map.gram_count = &count_view[0] if single else NULL
        map.gram_double = NULL if single else &double_view[0]

    def forget(self):
        cdef SparseFeatures map = self.features
        map.gram_start, map.gram_count, map.gram_double, map.gram_arrays = NULL, NULL, NULL, None


cdef class LabelWindows(NormWindows):
    """The weights of some labels at a time."""

    def accumulators(self, Py_ssize_t n):
        cdef SparseFeatures map = self.features
        for first in range(0, map.stride, LABELS_OF_A_WINDOW):
            yield map.helper(Accumulator, n, first, min(first + LABELS_OF_A_WINDOW, map.stride))


cdef class SparseAccumulator(StatisticsAccumulator):
    """Keeps the position statistics of all tokens and multiplies once by the transposed features: every weight is
    then one sum over the tokens that have its attribute, written once and in a fixed order.

    first, last: the labels whose state weights are summed; pair weights go with label 0. Anything but all labels is for
    put_parts and norm2 only."""

    def __init__(self, SparseFeatures features, Py_ssize_t n, Py_ssize_t first=0, last=None):
        last = features.stride if last is None else last
        self.features = self.map = features
        self.first, self.width = first, last - first
        self.pair_size = features.dim - features.state_size
        # Pair weights with many input features are too large to hold several times: one chunk, one thread.
        chunks = max(1, min(n, 16)) if self.pair_size * 16 * 8 <= 1 << 28 else 1
        self.keep(chunks, self.pair_size, features.tokens.n * self.width)
        self.column_values = None if features.groups is None else np.sqrt(features.groups.sizes)

    cdef void put(self, Py_ssize_t chunk, Py_ssize_t i, const double *a) noexcept nogil:
        cdef Py_ssize_t k, size = self.map.length(i) * self.map.stride
        cdef double *to = self.statistic_data + self.map.offset_data[i] * self.map.stride
        for k in range(size):
            to[k] += a[k]
        self.map.add_transitions(i, a + size, 1.0, self.total_data + chunk * (self.pair_size + 1))

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
                self.map.add_transition(i, ids[c] - size, scale * a[c], self.total_data + chunk * (self.pair_size + 1))

    def total(self, double[::1] out, pool):
        columns = self.map.by_column(pool)
        pool.map(self._states, [(out, columns, *part) for part in ranges(columns[0], 4 * pool.threads)])
        if self.pair_size:
            np.asarray(out)[self.map.state_size:] = self.totals[:, :self.pair_size].sum(axis=0)

    def norm2(self, pool):
        """|| total ||^2 without the total: in fixed ranges of attributes, each summed and forgotten."""
        columns = self.map.by_column(pool)
        parts = pool.map(self._states_norm2, [(columns, *part) for part in ranges(columns[0], 64)])
        pairs = self.totals[:, :self.pair_size].sum(axis=0)
        return sum(parts) + vector_norm2(pairs)

    def _states_norm2(self, columns, Py_ssize_t begin, Py_ssize_t end):
        cdef double[::1] rows = np.empty(ATTRIBUTES_IN_CACHE * self.width)
        cdef double total = 0.0
        for first in range(begin, end, ATTRIBUTES_IN_CACHE):
            last = min(first + ATTRIBUTES_IN_CACHE, end)
            self._gather(&rows[0], columns, first, last)
            total += vector.dot((last - first) * self.width, &rows[0], &rows[0])
        return total

    def _states(self, double[::1] out, columns, Py_ssize_t begin, Py_ssize_t end):
        """out[attribute, :] for a range of attributes."""
        self._gather(&out[begin * self.map.stride], columns, begin, end)

    cdef _gather(self, double *out, columns, Py_ssize_t begin, Py_ssize_t end):
        """Rows begin..end-1 of the sum. columns: SparseFeatures.by_column."""
        indptr, rows, values = columns
        cdef const int64_t[::1] indptr_view = indptr
        cdef const int32_t[::1] rows_view = rows
        cdef const double[::1] values_view = values
        cdef const double *value = NULL
        if values is not None:
            value = &values_view[0]
        with nogil:
            vector.gather_tokens(self.statistic_data, self.width, &indptr_view[0], &rows_view[0], value, begin, end,
                                 out)
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
