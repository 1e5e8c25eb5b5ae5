"""Features of the soft-constraint problem (Meshi, Srebro and Hazan 2015, (5) and (6)) as an ordinary problem.

    G_rho(w, delta) = lambda/2 ||w||^2 + rho/2 ||delta||^2 + 1/M sum_m [ sum_v max_s (theta_v(s; w) + sum_{c: v in c} delta_cv(s))
                                                         + sum_c max_y (theta_c(y; w) - sum_{v in c} delta_cv(y_v)) ]

has an example for each of the B factors of the M graphs, single nodes included. A weight vector holds w and then delta',
with delta = sqrt(lambda / rho) delta': both norms then have the same lambda. The features (and the costs) of a factor are
B/M times its own, so that the mean over the factors is the sum over an example's factors, averaged over the examples.
"""

import numpy as np

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from cython_ext.features.factors cimport FactorWeights
from cython_ext.features.feature_map cimport Accumulator, FeatureMap
from cython_ext.kernels cimport vector
from cython_ext.memory import aligned_zeros
from cython_ext.parallel import even_ranges
from cython_ext.structures.factor_blocks cimport FactorBlocks

AGREEMENT = 'agreement'         # what models call delta
RELAXED_PRIMAL = 'relaxed_primal'


cdef class SoftFeatures(FeatureMap):
    """outputs: the FactorBlocks; weights: their FactorWeights."""

    def __init__(self, FactorBlocks outputs not None, FactorWeights weights not None, double lam, double rho):
        layout = weights.graphs.layout
        places, incident, counts = [], [], []
        for shape in layout.shapes:
            at, of_nodes = 0, [[] for _ in range(shape.nodes)]
            for kind, scope in zip(shape.types, shape.scopes):
                for node, states in zip(scope, layout.types[kind].states):
                    places.append(at)
                    if len(scope) > 1:
                        of_nodes[node].append(at)
                        at += states
            incident += [*of_nodes, *([] for _ in range(len(shape.types) - shape.nodes))]
            counts.append(at)
        self.outputs, self.weights_of_factors, self.graphs = outputs, weights, weights.graphs
        self.rho, self.unit = rho, sqrt(lam / rho)
        self.times = <double> outputs.n / max(1, weights.graphs.n)
        begin = np.concatenate([[0], np.cumsum(np.array(counts, np.int64)[layout.shape_of])])
        self.n_agreements = int(begin[len(begin) - 1])
        self.dim = weights.dim + self.n_agreements
        self.memory = [np.append(np.array(values, np.int64), 0) for values in (
            begin, places, np.concatenate([[0], np.cumsum([len(each) for each in incident])]),
            [where for each in incident for where in each],
        )]
        cdef int64_t[::1] agreement_begin = self.memory[0], place = self.memory[1]
        cdef int64_t[::1] incident_begin = self.memory[2], incidents = self.memory[3]
        self.agreement_begin, self.place = &agreement_begin[0], &place[0]
        self.incident_begin, self.incident = &incident_begin[0], &incidents[0]

    cdef double *agreements(self, Py_ssize_t b, const double *w) noexcept nogil:
        """The delta' of the example that a block belongs to."""
        return <double *> w + self.weights_of_factors.dim + self.agreement_begin[self.outputs.example[b]]

    cdef Py_ssize_t size_of(self, Py_ssize_t b) noexcept nogil:
        return self.outputs.size_of(b)

    cdef void scores(self, Py_ssize_t b, const double *w, double *theta) noexcept nogil:
        cdef int64_t f = self.outputs.factor_of(b), p
        cdef Py_ssize_t a, k, size = self.outputs.count(b)
        cdef const double *delta = self.agreements(b, w)
        cdef double share = self.times * self.unit, total
        self.weights_of_factors.scores(self.outputs.example[b], f, w, self.times, theta)
        for a in range(size, self.outputs.size_of(b)):
            theta[a] = 0.0
        if self.outputs.is_node(b):
            for a in range(size):
                total = 0.0
                for p in range(self.incident_begin[f], self.incident_begin[f + 1]):
                    total += delta[self.incident[p] + a]
                theta[a] += share * total
            return
        for k in range(self.graphs.scope_begin[f + 1] - self.graphs.scope_begin[f]):
            p = self.place[self.graphs.scope_begin[f] + k]
            for a in range(size):
                theta[a] -= share * delta[p + self.graphs.state_in(f, a, k)]

    cdef void add(self, Py_ssize_t b, const double *a, double scale, double *w) noexcept nogil:
        cdef Py_ssize_t joint
        for joint in range(self.outputs.count(b)):
            if a[joint] != 0.0:
                self.add_state(b, joint, scale * a[joint], w)

    cdef void add_parts(self, Py_ssize_t b, Py_ssize_t count, const int32_t *ids, const double *a, double scale,
                        double *w) noexcept nogil:
        cdef Py_ssize_t c
        for c in range(count):
            self.add_state(b, ids[c], scale * a[c], w)

    cdef void add_state(self, Py_ssize_t b, Py_ssize_t joint, double amount, double *w) noexcept nogil:
        """w += amount * the features of one joint state."""
        cdef int64_t f = self.outputs.factor_of(b), p
        cdef Py_ssize_t k
        cdef double *delta = self.agreements(b, w)
        cdef double share = amount * self.times * self.unit
        self.weights_of_factors.add_state(self.outputs.example[b], f, joint, amount * self.times, w)
        if self.outputs.is_node(b):
            for p in range(self.incident_begin[f], self.incident_begin[f + 1]):
                delta[self.incident[p] + joint] += share
            return
        for k in range(self.graphs.scope_begin[f + 1] - self.graphs.scope_begin[f]):
            p = self.place[self.graphs.scope_begin[f] + k]
            delta[p + self.graphs.state_in(f, joint, k)] -= share

    cdef double inner(self, Py_ssize_t b, int64_t f, double square, Py_ssize_t joint, Py_ssize_t other) noexcept nogil:
        """The inner product of the features of two joint states, but for times^2: they share those of the factor, of which
        the square is given, if they have the same column of weights, and an agreement variable (of a node, one for each of
        its factors) for each node to which both give the same state."""
        cdef int32_t t = self.graphs.type_of[f]
        cdef const int32_t *column = self.graphs.columns + self.graphs.column_begin[t]
        cdef Py_ssize_t k, same = 0
        if self.outputs.is_node(b):
            same = (self.incident_begin[f + 1] - self.incident_begin[f]) * (joint == other)
        else:
            for k in range(self.graphs.scope_begin[f + 1] - self.graphs.scope_begin[f]):
                same += self.graphs.state_in(f, joint, k) == self.graphs.state_in(f, other, k)
        return self.unit * self.unit * same + (square if 0 <= column[joint] == column[other] else 0.0)

    cdef void gram_parts(self, Py_ssize_t b, Py_ssize_t count, const int32_t *ids, const double *a,
                         double *out) noexcept nogil:
        cdef int64_t f = self.outputs.factor_of(b)
        cdef double square = self.weights_of_factors.square(self.outputs.example[b], f)
        cdef Py_ssize_t c, joint
        memset(out, 0, self.outputs.size_of(b) * sizeof(double))
        for joint in range(self.outputs.count(b)):
            for c in range(count):
                out[joint] += self.times * self.times * a[c] * self.inner(b, f, square, joint, ids[c])

    cdef double norm2(self, Py_ssize_t b, const double *a) noexcept nogil:
        cdef int64_t f = self.outputs.factor_of(b)
        cdef double square = self.weights_of_factors.square(self.outputs.example[b], f), total = 0.0
        cdef Py_ssize_t joint, other, size = self.outputs.count(b)
        for joint in range(size):
            for other in range(size):
                if a[joint] != 0.0 and a[other] != 0.0:
                    total += a[joint] * a[other] * self.inner(b, f, square, joint, other)
        return self.times * self.times * total

    def accumulator(self, Py_ssize_t n, window=None):
        return SoftAccumulator(self, n)

    # ------------------------------------------------------------------------------------------------- weights

    def at_lambda(self, double lam):
        return SoftFeatures(self.outputs, self.weights_of_factors, lam, self.rho)

    def figures(self, w=None, primal=None, lam=None):
        """The relaxed primal, g(w, delta) of (2): the soft one without rho/2 ||delta||^2, which is lambda/2 ||delta'||^2."""
        if w is None:
            return {RELAXED_PRIMAL: None}
        rest = np.asarray(w, np.float64)[self.weights_of_factors.dim:]
        return {RELAXED_PRIMAL: primal - lam / 2 * float(rest @ rest)}

    @property
    def naming(self):
        return self.weights_of_factors.naming

    def blocks(self, w):
        delta = self.unit * np.asarray(w, np.float64)[self.weights_of_factors.dim:]
        return {**self.weights_of_factors.blocks(w), AGREEMENT: delta}

    def weights(self, blocks):
        blocks, w = dict(blocks), self.zeros()
        delta = blocks.pop(AGREEMENT, None)
        self.weights_of_factors.write(blocks, w)
        if delta is not None:
            if len(delta) != self.n_agreements:
                raise ValueError(f'{len(delta)} agreement variables (expected {self.n_agreements})')
            w[self.weights_of_factors.dim:] = np.asarray(delta) / self.unit
        return w


cdef class SoftAccumulator(Accumulator):
    """Sums for the weights as of Accumulator. For the agreement variables, of which each belongs to one example, the
    statistics of all blocks are kept, and multiplied once."""

    def __init__(self, SoftFeatures features, Py_ssize_t n):
        layout = features.graphs.layout
        dim = features.weights_of_factors.dim
        self.features = self.map = features
        self.chunks = max(1, min(n, 16 if dim * 16 * 8 <= 1 << 28 else 4))
        self.totals = np.zeros((self.chunks, dim + 1))
        cdef double[:, ::1] view = self.totals
        self.total_data = &view[0, 0]
        parts = np.array([sum([layout.types[kind].size for kind in shape.types]) for shape in layout.shapes], np.int64)
        cdef int64_t[::1] begin = np.concatenate([[0], np.cumsum(parts[layout.shape_of])])
        cdef double[::1] statistics = aligned_zeros(begin[len(begin) - 1] + 1)
        self.begin, self.statistics = begin, np.asarray(statistics)
        self.begin_data, self.statistic_data = &begin[0], &statistics[0]

    cdef double *block(self, Py_ssize_t b, int64_t f) noexcept nogil:
        """The statistics of a block."""
        return self.statistic_data + self.begin_data[self.map.outputs.example[b]] + self.map.graphs.part[f]

    cdef void put(self, Py_ssize_t chunk, Py_ssize_t b, const double *a) noexcept nogil:
        cdef int64_t f = self.map.outputs.factor_of(b)
        cdef double *sums = self.block(b, f)
        cdef Py_ssize_t joint
        for joint in range(self.map.outputs.count(b)):
            sums[joint] += a[joint]
        self.map.weights_of_factors.add(self.map.outputs.example[b], f, a, self.map.times, self.weights(chunk))

    cdef void put_parts(self, Py_ssize_t chunk, Py_ssize_t b, Py_ssize_t count, const int32_t *ids, const double *a,
                        double scale) noexcept nogil:
        cdef int64_t f = self.map.outputs.factor_of(b)
        cdef double *sums = self.block(b, f)
        cdef Py_ssize_t c
        for c in range(count):
            sums[ids[c]] += scale * a[c]
            self.map.weights_of_factors.add_state(self.map.outputs.example[b], f, ids[c], scale * self.map.times * a[c],
                                                  self.weights(chunk))

    cdef double *weights(self, Py_ssize_t chunk) noexcept nogil:
        return self.total_data + chunk * (self.map.weights_of_factors.dim + 1)

    def clear(self, pool):
        self.totals[...] = 0
        pool.map(self._clear_statistics, even_ranges(len(self.statistics), pool.threads))

    def _clear_statistics(self, Py_ssize_t begin, Py_ssize_t end):
        self.statistics[begin:end] = 0

    def total(self, double[::1] out, pool):
        dim = self.map.weights_of_factors.dim
        np.asarray(out)[:dim] = self.totals[:, :dim].sum(axis=0)
        pool.map(self._agreements, [(out, *part) for part in even_ranges(self.map.graphs.n, 4 * pool.threads)])

    def _agreements(self, double[::1] out, Py_ssize_t begin, Py_ssize_t end):
        """The agreement variables of a range of examples."""
        cdef FactorGraphs graphs = self.map.graphs
        cdef double share = self.map.times * self.map.unit
        cdef Py_ssize_t i, s, a, k, size
        cdef int64_t f, p, first
        cdef double *to
        cdef const double *sums
        if begin < end and self.map.n_agreements:
            with nogil:
                for i in range(begin, end):
                    s = graphs.shape_of[i]
                    to = &out[self.map.weights_of_factors.dim] + self.map.agreement_begin[i]
                    memset(to, 0, (self.map.agreement_begin[i + 1] - self.map.agreement_begin[i]) * sizeof(double))
                    first = graphs.factor_begin[s]
                    for f in range(first, graphs.factor_begin[s + 1]):
                        sums = self.statistic_data + self.begin_data[i] + graphs.part[f]
                        size = graphs.size[graphs.type_of[f]]
                        for p in range(self.map.incident_begin[f], self.map.incident_begin[f + 1]):
                            for a in range(size):
                                to[self.map.incident[p] + a] += share * sums[a]
                        if f - first < graphs.nodes[s]:
                            continue
                        for k in range(graphs.scope_begin[f + 1] - graphs.scope_begin[f]):
                            p = self.map.place[graphs.scope_begin[f] + k]
                            for a in range(size):
                                to[p + graphs.state_in(f, a, k)] -= share * sums[a]
