"""Features of factor graphs: a factor of type t with the features x scores its joint state y with <x, W_t[:, column of
y]>, and with <z(y), v_t> more where it has features z with a value for each joint state, such as [y_1 = y_2] of a
Potts factor.

FactorWeights is what one factor does with a weight vector; GraphFeatures is the feature map of whole graphs, and
FactorMap what it shares with others that have such weights.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.structures.graph.factor_graphs cimport FactorGraphs
from cython_ext.structures.structure import padded

cdef int32_t NO_ATTRIBUTES = 0
cdef double UNIT_VALUE = 1.0


cdef class FactorWeights:
    """Weights one type after the other, W [attributes, width] and then v [state_attributes] each. naming: what models
    call them, an object with `join(list of the W, list of the v)`, a dict, and `split(dict)`, its inverse, which raises
    ValueError."""

    def __init__(self, FactorGraphs graphs not None, naming):
        layout = graphs.layout
        cdef const int64_t[::1] indptr = layout.indptr.astype(np.int64)
        cdef const int32_t[::1] index = padded(layout.indices.astype(np.int32))
        cdef const double[::1] value = np.empty(1) if layout.values is None else padded(layout.values)
        cdef int64_t[::1] begin = np.cumsum([0, *(kind.weights for kind in layout.types)]).astype(np.int64)
        cdef int64_t[::1] ends = np.asarray(begin)[1:] - [kind.state_attributes for kind in layout.types]
        self.graphs, self.naming, self.memory = graphs, naming, [indptr, index, value, begin, ends]
        self.dim = int(begin[len(layout.types)])
        self.weight_begin, self.indptr, self.index = &begin[0], &indptr[0], &index[0]
        self.state_begin = &ends[0] if len(layout.types) else NULL
        if layout.values is not None:
            self.value = &value[0]
        if layout.state_rows is not None:
            self.keep_states(layout.state_rows)

    def keep_states(self, rows):
        """The tables of StateRows."""
        cdef const int64_t[::1] indptr = rows.indptr.astype(np.int64)
        cdef const int32_t[::1] index = padded(rows.indices.astype(np.int32))
        cdef const int32_t[::1] state = padded(rows.states.astype(np.int32))
        cdef const double[::1] value = padded(rows.values.astype(np.float64))
        self.memory.append((indptr, index, state, value))
        self.state_indptr, self.state_index, self.state, self.state_value = &indptr[0], &index[0], &state[0], &value[0]

    cdef Py_ssize_t occurrences(self, Py_ssize_t i, int64_t f, const int32_t **index,
                                const double **value) noexcept nogil:
        """How many features a factor of example i has, with their numbers and values (NULL: all 1)."""
        cdef int64_t row
        if self.graphs.constant[self.graphs.type_of[f]]:
            index[0], value[0] = &NO_ATTRIBUTES, &UNIT_VALUE
            return 1
        row = self.graphs.row_start[i] + self.graphs.row[f]
        index[0] = self.index + self.indptr[row]
        value[0] = NULL
        if self.value != NULL:
            value[0] = self.value + self.indptr[row]
        return <Py_ssize_t> (self.indptr[row + 1] - self.indptr[row])

    # Entries of features with a value for each joint state, which those of one state stand together in.

    cdef bint has_state_row(self, Py_ssize_t i, int64_t f, int64_t *first, int64_t *last) noexcept nogil:
        """Whether a factor has any, and which: from first on, below last."""
        cdef int64_t row
        if self.state_indptr == NULL or self.graphs.constant[self.graphs.type_of[f]]:
            return False
        row = self.graphs.row_start[i] + self.graphs.row[f]
        first[0], last[0] = self.state_indptr[row], self.state_indptr[row + 1]
        return first[0] < last[0]

    cdef int64_t first_of(self, int64_t first, int64_t last, Py_ssize_t joint) noexcept nogil:
        """The first one among them that is of this joint state or of a later one."""
        cdef int64_t middle
        while first < last:
            middle = (first + last) // 2
            if self.state[middle] < joint:
                first = middle + 1
            else:
                last = middle
        return first

    cdef double state_product(self, Py_ssize_t i, int64_t f, Py_ssize_t joint, Py_ssize_t other) noexcept nogil:
        """The inner product of those of two joint states."""
        cdef int64_t first = 0, last = 0, p, q
        cdef double total = 0.0
        if not self.has_state_row(i, f, &first, &last):
            return 0.0
        p, q = self.first_of(first, last, joint), self.first_of(first, last, other)
        while p < last and q < last and self.state[p] == joint and self.state[q] == other:
            if self.state_index[p] < self.state_index[q]:
                p += 1
            elif self.state_index[p] > self.state_index[q]:
                q += 1
            else:
                total += self.state_value[p] * self.state_value[q]
                p += 1
                q += 1
        return total

    cdef void scores(self, Py_ssize_t i, int64_t f, const double *w, double scale, double *theta) noexcept nogil:
        """theta[joint state] = scale * its score."""
        cdef int64_t first = 0, last = 0, p
        cdef const double *shared
        self.column_scores(i, f, w, scale, theta)
        if self.has_state_row(i, f, &first, &last):
            shared = w + self.state_begin[self.graphs.type_of[f]]
            for p in range(first, last):
                theta[self.state[p]] += scale * self.state_value[p] * shared[self.state_index[p]]

    cdef void column_scores(self, Py_ssize_t i, int64_t f, const double *w, double scale, double *theta) noexcept nogil:
        """The same by weights that belong to joint states."""
        cdef int32_t t = self.graphs.type_of[f]
        cdef Py_ssize_t size = self.graphs.size[t], width = self.graphs.width[t], a, p, count
        cdef const int32_t *column = self.graphs.columns + self.graphs.column_begin[t]
        cdef const int32_t *index
        cdef const double *value
        cdef const double *row
        cdef double x, total
        count = self.occurrences(i, f, &index, &value)
        w += self.weight_begin[t]
        if width == 1:                          # a label of a set, a pair of them
            total = 0.0
            for p in range(count):
                total += w[index[p]] * (1.0 if value == NULL else value[p])
            for a in range(size):
                theta[a] = scale * total if column[a] >= 0 else 0.0
            return
        memset(theta, 0, size * sizeof(double))
        for p in range(count):
            x = scale if value == NULL else scale * value[p]
            row = w + index[p] * width
            for a in range(size):
                if column[a] >= 0:
                    theta[a] += x * row[column[a]]

    cdef void add(self, Py_ssize_t i, int64_t f, const double *a, double scale, double *w) noexcept nogil:
        """The adjoint: w += scale * sum of a[joint state] times the features at its column."""
        cdef Py_ssize_t k
        cdef int64_t first = 0, last = 0, p
        cdef double *shared
        for k in range(self.graphs.size[self.graphs.type_of[f]]):
            if a[k] != 0.0:
                self.add_column(i, f, k, scale * a[k], w)
        if self.has_state_row(i, f, &first, &last):
            shared = w + self.state_begin[self.graphs.type_of[f]]
            for p in range(first, last):
                shared[self.state_index[p]] += scale * a[self.state[p]] * self.state_value[p]

    cdef void add_state(self, Py_ssize_t i, int64_t f, Py_ssize_t joint, double amount, double *w) noexcept nogil:
        """The same for one joint state."""
        cdef int64_t first = 0, last = 0, p
        cdef double *shared
        self.add_column(i, f, joint, amount, w)
        if self.has_state_row(i, f, &first, &last):
            shared = w + self.state_begin[self.graphs.type_of[f]]
            for p in range(self.first_of(first, last, joint), last):
                if self.state[p] != joint:
                    break
                shared[self.state_index[p]] += amount * self.state_value[p]

    cdef void add_column(self, Py_ssize_t i, int64_t f, Py_ssize_t joint, double amount, double *w) noexcept nogil:
        """The same for the weights that belong to joint states."""
        cdef int32_t t = self.graphs.type_of[f], column = self.graphs.columns[self.graphs.column_begin[t] + joint]
        cdef Py_ssize_t width = self.graphs.width[t], p, count
        cdef const int32_t *index
        cdef const double *value
        if column < 0:
            return
        count = self.occurrences(i, f, &index, &value)
        w += self.weight_begin[t] + column
        for p in range(count):
            w[index[p] * width] += amount if value == NULL else amount * value[p]

    cdef double clear(self, Py_ssize_t i, int64_t f, double *w) noexcept nogil:
        """Zeros into all weights that a factor touches; the sum of squares of what was there."""
        cdef int32_t t = self.graphs.type_of[f]
        cdef Py_ssize_t width = self.graphs.width[t], p, c, count
        cdef const int32_t *index
        cdef const double *value
        cdef double total = 0.0
        cdef double *shared = w + self.state_begin[t]
        cdef int64_t first = 0, last = 0, q
        count = self.occurrences(i, f, &index, &value)
        w += self.weight_begin[t]
        for p in range(count):
            for c in range(index[p] * width, (index[p] + 1) * width):
                total += w[c] * w[c]
                w[c] = 0.0
        if self.has_state_row(i, f, &first, &last):
            for q in range(first, last):
                total += shared[self.state_index[q]] * shared[self.state_index[q]]
                shared[self.state_index[q]] = 0.0
        return total

    cdef double square(self, Py_ssize_t i, int64_t f) noexcept nogil:
        """The squared norm of the features of a factor that do not depend on its joint state."""
        cdef const int32_t *index
        cdef const double *value
        cdef Py_ssize_t p, count = self.occurrences(i, f, &index, &value)
        cdef double total = 0.0
        if value == NULL:
            return count
        for p in range(count):
            total += value[p] * value[p]
        return total

    def blocks(self, w):
        """The weights as models name them."""
        arrays, of_states = [], []
        for t, kind in enumerate(self.graphs.layout.types):
            arrays.append(np.array(w[self.weight_begin[t]:self.state_begin[t]], np.float64)
                          .reshape(kind.attributes, kind.width))
            of_states.append(np.array(w[self.state_begin[t]:self.weight_begin[t + 1]], np.float64))
        return self.naming.join(arrays, of_states)

    def write(self, blocks, w):
        """The same into the first `dim` numbers of w; ValueError when they do not fit."""
        for t, (array, of_states) in enumerate(zip(*self.naming.split(blocks), strict=True)):
            w[self.weight_begin[t]:self.state_begin[t]] = np.ravel(array)
            w[self.state_begin[t]:self.weight_begin[t + 1]] = of_states


cdef class FactorMap(FeatureMap):
    """A map whose weights are a FactorWeights."""

    def __init__(self, FactorWeights weights not None):
        self.weights_of_factors, self.dim = weights, weights.dim

    @property
    def naming(self):
        """What models call the weights, see FactorWeights."""
        return self.weights_of_factors.naming

    def blocks(self, w):
        return self.weights_of_factors.blocks(w)

    def weights(self, blocks):
        w = self.zeros()
        self.weights_of_factors.write(blocks, w)
        return w


cdef class GraphFeatures(FactorMap):
    """The parts of an example are the joint states of its factors, one factor after the other."""

    def __init__(self, FactorWeights weights not None):
        super().__init__(weights)
        self.graphs = weights.graphs
        self.untied = self.graphs.layout.untied
        cdef double[::1] spare = np.zeros(self.dim + 1)
        self.spare, self.spare_data = spare, &spare[0]

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        return self.graphs.parts[self.graphs.shape_of[i]]

    cdef void scores(self, Py_ssize_t i, const double *w, double *theta) noexcept nogil:
        cdef Py_ssize_t s = self.graphs.shape_of[i]
        cdef int64_t f
        for f in range(self.graphs.factor_begin[s], self.graphs.factor_begin[s + 1]):
            self.weights_of_factors.scores(i, f, w, 1.0, theta + self.graphs.part[f])

    cdef void add(self, Py_ssize_t i, const double *a, double scale, double *w) noexcept nogil:
        cdef Py_ssize_t s = self.graphs.shape_of[i]
        cdef int64_t f
        for f in range(self.graphs.factor_begin[s], self.graphs.factor_begin[s + 1]):
            self.weights_of_factors.add(i, f, a + self.graphs.part[f], scale, w)

    cdef void add_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a, double scale,
                        double *w) noexcept nogil:
        cdef Py_ssize_t s = self.graphs.shape_of[i], c
        cdef int64_t f
        for c in range(count):
            f = self.graphs.factor_at(self.graphs.factor_begin[s], self.graphs.factor_begin[s + 1], ids[c])
            self.weights_of_factors.add_state(i, f, ids[c] - self.graphs.part[f], scale * a[c], w)

    # Inner products by way of a weight vector of zeros, of which only what the example touches is written and cleared:
    # factors of one type share their weights, so the features of each would have to be compared with those of each
    # other. Where no two factors of an example do, what is not 0 are products of a factor's features with themselves.

    cdef void gram_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                         double *out) noexcept nogil:
        cdef Py_ssize_t s = self.graphs.shape_of[i], c, joint
        cdef int64_t f
        cdef double amount
        cdef const int32_t *column
        if self.untied:
            memset(out, 0, self.num_parts(i) * sizeof(double))
            for c in range(count):
                f = self.graphs.factor_at(self.graphs.factor_begin[s], self.graphs.factor_begin[s + 1], ids[c])
                column = self.graphs.columns + self.graphs.column_begin[self.graphs.type_of[f]]
                joint = ids[c] - self.graphs.part[f]
                if column[joint] >= 0:
                    amount = a[c] * self.weights_of_factors.square(i, f)
                    self.add_column(f, column[joint], amount, out + self.graphs.part[f])
            return
        self.add_parts(i, count, ids, a, 1.0, self.spare_data)
        self.scores(i, self.spare_data, out)
        self.clear(i)

    cdef void add_column(self, int64_t f, int32_t column, double amount, double *out) noexcept nogil:
        """out[joint state] += amount for those of a factor with this column."""
        cdef int32_t t = self.graphs.type_of[f]
        cdef Py_ssize_t joint
        for joint in range(self.graphs.size[t]):
            if self.graphs.columns[self.graphs.column_begin[t] + joint] == column:
                out[joint] += amount

    cdef double norm2(self, Py_ssize_t i, const double *a) noexcept nogil:
        self.add(i, a, 1.0, self.spare_data)
        return self.clear(i)

    cdef double clear(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t s = self.graphs.shape_of[i]
        cdef int64_t f
        cdef double total = 0.0
        for f in range(self.graphs.factor_begin[s], self.graphs.factor_begin[s + 1]):
            total += self.weights_of_factors.clear(i, f, self.spare_data)
        return total
