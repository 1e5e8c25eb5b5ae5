"""Features of the soft-constraint problem (Meshi, Srebro and Hazan 2015, (5) and (6)) as an ordinary problem.

    G_rho(w, delta) = lambda/2 ||w||^2 + rho/2 ||delta||^2
                      + 1/M sum_m [ sum_v max_s (theta_v(s; w) + sum_{c: v in c} delta_cv(s))
                                    + sum_c max_y (theta_c(y; w) - sum_{v in c} delta_cv(y_v)) ]

has an example for each of the B factors of the M graphs, single nodes included. A weight vector holds w and then
delta', with delta = sqrt(lambda / rho) delta': both norms then have the same lambda. The features (and the costs) of a
factor are B/M times its own, so that the mean over the factors is the sum over an example's factors, averaged over the
examples. A global factor c has the agreement variables delta_cv as scores of its nodes' states, and the weights of its
factors as scores of their joint states (relaxations/factor_blocks.pyx).

Two of the paper's extensions (section 7) are in the same form. With multipliers, delta is pulled to them instead of 0,
and delta' is the rest; what they add to the scores does not depend on weights, and is a cost (losses/graph.pyx).
Smoothed maxima, max_a theta(a) with -gamma/2 sum_a alpha(a)^2 over the wrong joint states a in its dual
(smooth-max-of-hinge of Shalev-Shwartz and Zhang 2014), are the hinge of features that every wrong joint state has of
its own: the weights of these are -sqrt(gamma / (lambda M)) alpha(a).
"""

from itertools import pairwise

import numpy as np

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from cython_ext.features.accumulators cimport Accumulator, StatisticsAccumulator
from cython_ext.features.capabilities cimport AtLambda, Prefetch
from cython_ext.features.graph.factors cimport FactorWeights
from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.relaxations.factor_blocks cimport FactorBlocks
from cython_ext.relaxations.messages cimport Messages

AGREEMENT = 'agreement'         # what models call delta,
MULTIPLIERS = 'multipliers'     # what it is pulled to,
SMOOTHING = 'smoothing'         # and the weights that joint states have of their own


cdef class SoftFeatures(FeatureMap):
    """outputs: the FactorBlocks; weights: their FactorWeights; smoothing: gamma, of smoothed maxima (0: none)."""

    helpers = {Prefetch: SoftPrefetch, AtLambda: SoftAtLambda, Accumulator: SoftAccumulator}

    def __init__(self, FactorBlocks outputs not None, FactorWeights weights not None, double lam, double rho,
                 double smoothing=0.0):
        self.outputs, self.weights_of_factors, self.graphs = outputs, weights, weights.graphs
        self.agreements = outputs.agreements
        self.rho, self.smoothing, self.times = rho, smoothing, outputs.times
        self.unit, self.own = sqrt(lam / rho), sqrt(smoothing * lam * weights.graphs.n)
        self.n_agreements = self.agreements.n
        self.dim = weights.dim + self.n_agreements
        if smoothing > 0:
            self.dim += outputs.part_begin[self.graphs.n]
        cdef double[::1] spare = np.zeros(weights.dim + 1 if outputs.inside.n else 1)
        self.spare, self.spare_data = spare, &spare[0]

    cdef double *delta(self, const double *w) noexcept nogil:
        """The delta' of all examples."""
        return <double *> w + self.weights_of_factors.dim

    cdef double *own_weights(self, Py_ssize_t b, const double *w) noexcept nogil:
        """The weights that the joint states of a block have of their own, where maxima are smoothed."""
        return self.delta(w) + self.n_agreements + self.outputs.part_of(b)

    cdef Py_ssize_t num_parts(self, Py_ssize_t b) noexcept nogil:
        return self.outputs.num_parts(b)

    cdef void scores(self, Py_ssize_t b, const double *w, double *theta) noexcept nogil:
        cdef int64_t f = self.outputs.factor_of(b)
        cdef Py_ssize_t a, i = self.outputs.example[b], size = self.outputs.count(b)
        cdef const double *own
        if self.outputs.inner(b) >= 0:
            self.whole_scores(b, w, theta)
            return
        self.weights_of_factors.scores(i, f, w, self.times, theta)
        for a in range(size, self.outputs.num_parts(b)):
            theta[a] = 0.0
        self.agreements.scores(i, f, self.delta(w), self.times * self.unit, theta)
        if self.own > 0:
            own = self.own_weights(b, w)
            for a in range(size):
                if a != self.outputs.gold_data[b]:
                    theta[a] += self.times * self.own * own[a]

    cdef void whole_scores(self, Py_ssize_t b, const double *w, double *theta) noexcept nogil:
        """The scores of a global factor."""
        cdef int64_t f = self.outputs.factor_of(b)
        cdef Py_ssize_t p, i = self.outputs.example[b]
        cdef const double *delta = self.delta(w) + self.agreements.run(i, f)
        for p in range(self.outputs.node_parts(b)):
            theta[p] = -self.times * self.unit * delta[p]
        for f in range(f, self.outputs.end_of(b)):
            self.weights_of_factors.scores(i, f, w, self.times, theta + self.outputs.offset(b, f))

    cdef void add(self, Py_ssize_t b, const double *a, double scale, double *w) noexcept nogil:
        cdef Py_ssize_t part
        for part in range(self.outputs.count(b)):
            if a[part] != 0.0:
                self.add_part(b, part, scale * a[part], w)

    cdef void add_parts(self, Py_ssize_t b, Py_ssize_t count, const int32_t *ids, const double *a, double scale,
                        double *w) noexcept nogil:
        cdef Py_ssize_t c
        for c in range(count):
            self.add_part(b, ids[c], scale * a[c], w)

    cdef void add_part(self, Py_ssize_t b, Py_ssize_t part, double amount, double *w) noexcept nogil:
        """w += amount * the features of one part."""
        self.add_weights(b, part, amount, w)
        self.add_agreements(b, part, amount, self.delta(w))
        if self.own > 0 and part != self.outputs.gold_data[b]:
            self.own_weights(b, w)[part] += amount * self.times * self.own

    cdef void add_weights(self, Py_ssize_t b, Py_ssize_t part, double amount, double *w) noexcept nogil:
        """The same for the weights of factors alone."""
        cdef int64_t f = self.outputs.factor_of(b)
        if self.outputs.inner(b) >= 0:
            if part < self.outputs.node_parts(b):
                return
            part += self.graphs.part[f] - self.outputs.node_parts(b)
            f = self.graphs.factor_at(f, self.outputs.end_of(b), part)
            part -= self.graphs.part[f]
        self.weights_of_factors.add_state(self.outputs.example[b], f, part, amount * self.times, w)

    cdef void add_agreements(self, Py_ssize_t b, Py_ssize_t part, double amount, double *delta) noexcept nogil:
        """The same for delta' alone."""
        cdef int64_t f = self.outputs.factor_of(b)
        cdef Py_ssize_t i = self.outputs.example[b]
        amount = amount * self.times * self.unit
        if self.outputs.inner(b) < 0:
            self.agreements.add_state(i, f, part, amount, delta)
        elif part < self.outputs.node_parts(b):
            delta[self.agreements.run(i, f) + part] -= amount

    cdef double inner(self, Py_ssize_t b, int64_t f, double square, Py_ssize_t joint, Py_ssize_t other) noexcept nogil:
        """The inner product of the features of two joint states of a factor, but for times^2: they share those of the
        factor, of which the square is given, if they have the same column of weights, those that have a value for each
        state, and agreement variables."""
        cdef const int32_t *column = self.graphs.columns + self.graphs.column_begin[self.graphs.type_of[f]]
        cdef double total = square if 0 <= column[joint] == column[other] else 0.0
        if joint == other != self.outputs.gold_data[b]:
            total += self.own * self.own
        total += self.weights_of_factors.state_product(self.outputs.example[b], f, joint, other)
        return total + self.unit * self.unit * self.agreements.shared(self.outputs.example[b], f, joint, other)

    cdef void gram_parts(self, Py_ssize_t b, Py_ssize_t count, const int32_t *ids, const double *a,
                         double *out) noexcept nogil:
        cdef int64_t f = self.outputs.factor_of(b)
        cdef double square, unit2 = self.times * self.times * self.unit * self.unit
        cdef Py_ssize_t c, joint
        memset(out, 0, self.outputs.num_parts(b) * sizeof(double))
        if self.outputs.inner(b) >= 0:
            for c in range(count):
                self.add_weights(b, ids[c], a[c], self.spare_data)
            for f in range(f, self.outputs.end_of(b)):
                self.weights_of_factors.scores(self.outputs.example[b], f, self.spare_data, self.times,
                                               out + self.outputs.offset(b, f))
            self.clear(b)
            for c in range(count):
                if ids[c] < self.outputs.node_parts(b):
                    out[ids[c]] += unit2 * a[c]
            return
        square = self.weights_of_factors.square(self.outputs.example[b], f)
        for joint in range(self.outputs.count(b)):
            for c in range(count):
                out[joint] += self.times * self.times * a[c] * self.inner(b, f, square, joint, ids[c])

    cdef double norm2(self, Py_ssize_t b, const double *a) noexcept nogil:
        cdef int64_t f = self.outputs.factor_of(b)
        cdef double square, total = 0.0
        cdef Py_ssize_t joint, other, size = self.outputs.count(b)
        if self.outputs.inner(b) >= 0:
            for joint in range(self.outputs.node_parts(b)):
                total += a[joint] * a[joint]
            for joint in range(self.outputs.node_parts(b), size):
                self.add_weights(b, joint, a[joint], self.spare_data)
            return self.times * self.times * self.unit * self.unit * total + self.clear(b)
        square = self.weights_of_factors.square(self.outputs.example[b], f)
        for joint in range(size):
            for other in range(size):
                if a[joint] != 0.0 and a[other] != 0.0:
                    total += a[joint] * a[other] * self.inner(b, f, square, joint, other)
        return self.times * self.times * total

    cdef double clear(self, Py_ssize_t b) noexcept nogil:
        """Zeros into the weights of `spare` that the factors of a global factor touch; the sum of their squares."""
        cdef int64_t f
        cdef double total = 0.0
        for f in range(self.outputs.factor_of(b), self.outputs.end_of(b)):
            total += self.weights_of_factors.clear(self.outputs.example[b], f, self.spare_data)
        return total

    def messages(self):
        """The Messages that may take the place of delta, made once; there are none about global factors."""
        if self.made is None:
            self.made = Messages(self.agreements)
        return self.made

    # ------------------------------------------------------------------------------------------------- weights

    @property
    def naming(self):
        return self.weights_of_factors.naming

    def delta_of(self, w):
        """The agreement variables, delta, float64[n_agreements]."""
        first = self.weights_of_factors.dim
        delta = self.unit * np.asarray(w, np.float64)[first:first + self.n_agreements]
        return delta if self.outputs.multipliers is None else delta + self.outputs.multipliers[:self.n_agreements]

    def blocks(self, w):
        found = {**self.weights_of_factors.blocks(w), AGREEMENT: self.delta_of(w)}
        if self.outputs.multipliers is not None:
            found[MULTIPLIERS] = self.outputs.multipliers[:self.n_agreements]
        if self.smoothing > 0:
            found[SMOOTHING] = np.asarray(w, np.float64)[self.weights_of_factors.dim + self.n_agreements:]
        return found

    def weights(self, blocks):
        blocks, w = dict(blocks), self.zeros()
        first, last = self.weights_of_factors.dim, self.weights_of_factors.dim + self.n_agreements
        delta, own = blocks.pop(AGREEMENT, None), blocks.pop(SMOOTHING, None)
        blocks.pop(MULTIPLIERS, None)                       # of the problem, which the outputs have
        self.weights_of_factors.write(blocks, w)
        if delta is not None:
            check(delta, self.n_agreements, 'agreement variables')
            if self.outputs.multipliers is not None:
                delta = delta - self.outputs.multipliers[:self.n_agreements]
            w[first:last] = np.asarray(delta) / self.unit
        if own is not None:
            check(own, self.dim - last, 'weights that smooth maxima')
            w[last:] = own
        return w


def check(values, expected, what):
    if len(values) != expected:
        raise ValueError(f'{len(values)} {what} (expected {expected}: they belong to the training examples, and ssvm '
                         'convert to text leaves them out)')


cdef class SoftPrefetch(Prefetch):
    """The agreement variables of a block."""

    def __init__(self, SoftFeatures features not None):
        self.features = self.map = features

    cdef void fetch(self, Py_ssize_t b, const double *w) noexcept nogil:
        if self.map.outputs.inner(b) < 0:
            self.map.agreements.fetch(self.map.outputs.example[b], self.map.outputs.factor_of(b), self.map.delta(w))


cdef class SoftAtLambda(AtLambda):
    """With another unit of the agreement variables."""

    def at_lambda(self, double lam):
        cdef SoftFeatures map = self.features
        return SoftFeatures(map.outputs, map.weights_of_factors, lam, map.rho, map.smoothing)


cdef class SoftAccumulator(StatisticsAccumulator):
    """Sums for the weights as of Accumulator. For the weights that belong to one example (agreement variables, and
    those that smooth maxima) the statistics of all blocks are kept, and multiplied once."""

    def __init__(self, SoftFeatures features, Py_ssize_t n):
        dim = features.weights_of_factors.dim
        self.features = self.map = features
        chunks = max(1, min(n, 16 if dim * 16 * 8 <= 1 << 28 else 4))
        self.keep(chunks, dim, features.outputs.part_begin[features.graphs.n])

    cdef double *block(self, Py_ssize_t b) noexcept nogil:
        """The statistics of a block."""
        return self.statistic_data + self.map.outputs.part_of(b)

    cdef void put(self, Py_ssize_t chunk, Py_ssize_t b, const double *a) noexcept nogil:
        cdef double *sums = self.block(b)
        cdef Py_ssize_t part
        for part in range(self.map.outputs.count(b)):
            if a[part] != 0.0:
                sums[part] += a[part]
                self.map.add_weights(b, part, a[part], self.weights(chunk))

    cdef void put_parts(self, Py_ssize_t chunk, Py_ssize_t b, Py_ssize_t count, const int32_t *ids, const double *a,
                        double scale) noexcept nogil:
        cdef double *sums = self.block(b)
        cdef Py_ssize_t c
        for c in range(count):
            sums[ids[c]] += scale * a[c]
            self.map.add_weights(b, ids[c], scale * a[c], self.weights(chunk))

    cdef double *weights(self, Py_ssize_t chunk) noexcept nogil:
        return self.total_data + chunk * (self.map.weights_of_factors.dim + 1)

    def total(self, double[::1] out, pool):
        dim = self.map.weights_of_factors.dim
        np.asarray(out)[:dim] = self.totals[:, :dim].sum(axis=0)
        # blocks of an example stand together, so that ranges of whole examples share no weights
        bounds = np.searchsorted(self.map.outputs.examples(), np.linspace(0, self.map.graphs.n, 4 * pool.threads + 1))
        pool.map(self._own, [(out, a, b) for a, b in pairwise(bounds.tolist()) if b > a])

    def _own(self, double[::1] out, Py_ssize_t begin, Py_ssize_t end):
        """The weights that belong to one example, of a range of blocks."""
        cdef SoftFeatures features = self.map
        cdef Py_ssize_t b, a, i, last = -1
        cdef const double *sums
        cdef double *delta = features.delta(&out[0])
        cdef double *own
        with nogil:
            for b in range(begin, end):
                i = features.outputs.example[b]
                if i != last:
                    memset(delta + features.agreements.begin[i], 0,
                           (features.agreements.begin[i + 1] - features.agreements.begin[i]) * sizeof(double))
                    last = i
                sums = self.block(b)
                for a in range(features.outputs.count(b)):
                    if sums[a] != 0.0:
                        features.add_agreements(b, a, sums[a], delta)
                if features.own > 0:
                    own = features.own_weights(b, &out[0])
                    for a in range(features.outputs.count(b)):
                        own[a] = 0.0 if a == features.outputs.gold_data[b] else features.times * features.own * sums[a]
