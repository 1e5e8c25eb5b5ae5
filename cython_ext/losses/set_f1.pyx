"""1 - F1 of a set of labels, without weights for pairs: the best set, and sums over all sets.

With a of the g gold labels and b others in a set, F1 is 2 a / (g + a + b), and 1 where both sets are empty: Delta
depends on (a, b) only. Labels without pairs have gains of their own, score(in) - score(out). The best set with (a, b)
takes the a gold ones and the b others with the largest gains. For sums, the labels of a set are independent coins that
fall with probability sigmoid(gain), and a and b count them (Poisson-binomial distributions): those are found coin by
coin, and those without one label by taking its coin out again, from the side on which rounding does not grow.
"""

from libc.math cimport INFINITY, exp, fabs, log, log1p
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport qsort

from cython_ext.losses.loss cimport TaskLoss
from cython_ext.structures.graph.factor_graphs cimport FactorGraphs
from cython_ext.structures.graph.graph cimport Graph
from cython_ext.structures.structure cimport Structure
from cython_ext.structures.workspace cimport Workspace


cdef struct Gain:
    double gain
    int64_t node


cdef int descending(const void *a, const void *b) noexcept nogil:
    """By gain, equal ones in their order."""
    cdef const Gain *x = <const Gain *> a
    cdef const Gain *y = <const Gain *> b
    if x.gain != y.gain:
        return 1 if x.gain < y.gain else -1
    return 1 if x.node > y.node else -1


cdef class SetF1(TaskLoss):
    """structure: a Graph whose nodes are binary and have no other factors. ValueError for any other one."""

    cdef FactorGraphs graphs
    cdef Py_ssize_t most                        # nodes of a graph

    def __init__(self, Structure structure not None):
        alone = isinstance(structure, Graph) and all(
            len(shape.types) == shape.nodes and all(structure.graphs.layout.types[t].size == 2 for t in shape.types)
            for shape in structure.graphs.layout.shapes)
        if not alone:
            raise ValueError('f1 is for labels without weights for pairs (--pairs none, and no --relaxation)')
        self.structure, self.graphs = structure, structure.graphs
        self.most = max((shape.nodes for shape in structure.graphs.layout.shapes), default=0)

    def room(self):
        """A Gain for each node, distributions of both numbers, and of one without a label, and what each is worth."""
        return 0, 2 * self.most + 5 * (self.most + 2)

    cdef double value(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        cdef const int32_t *gold = self.structure.gold(i)
        cdef Py_ssize_t v, g = 0, a = 0, b = 0
        for v in range(self.structure.code_length(i)):
            g += gold[v]
            a += gold[v] * code[v]
            b += (1 - gold[v]) * code[v]
        return delta_of(g, a, b)

    cdef double gains(self, Py_ssize_t i, const double *theta, Gain *gains, Py_ssize_t *gold_count) noexcept nogil:
        """Those of the gold labels, then those of the others; the score of the empty set."""
        cdef const int32_t *gold = self.structure.gold(i)
        cdef int64_t f = self.graphs.factor_begin[self.graphs.shape_of[i]]
        cdef const double *own
        cdef Py_ssize_t v, first = 0, last = self.structure.code_length(i)
        cdef double base = 0.0
        for v in range(self.structure.code_length(i)):
            own = theta + self.graphs.part[f + v]
            base += own[0]
            if gold[v]:
                gains[first].gain, gains[first].node = own[1] - own[0], v
                first += 1
            else:
                last -= 1
                gains[last].gain, gains[last].node = own[1] - own[0], v
        gold_count[0] = first
        return base

    cdef double max(self, Py_ssize_t i, double *theta, Workspace work, int32_t *code, double *delta) noexcept nogil:
        cdef Gain *gains = <Gain *> work.table
        cdef Py_ssize_t a, b, g, n = self.structure.code_length(i), best_a = 0, best_b = 0
        cdef double base = self.gains(i, theta, gains, &g), first = 0.0, second, top = -INFINITY, value
        qsort(gains, g, sizeof(Gain), descending)
        qsort(gains + g, n - g, sizeof(Gain), descending)
        for a in range(g + 1):
            if a:
                first += gains[a - 1].gain
            second = first
            for b in range(n - g + 1):
                if b:
                    second += gains[g + b - 1].gain
                value = second + delta_of(g, a, b)
                if value > top:
                    top, best_a, best_b = value, a, b
        for a in range(n):
            code[gains[a].node] = a < (best_a if a < g else g + best_b)
        delta[0] = delta_of(g, best_a, best_b)
        return base + top

    cdef double log_partition(self, Py_ssize_t i, double *theta, Workspace work, double *mean) noexcept nogil:
        cdef Gain *gains = <Gain *> work.table
        cdef Py_ssize_t a, b, k, g, n = self.structure.code_length(i)
        cdef double *gold_share = work.table + 2 * self.most
        cdef double *other_share = gold_share + self.most + 2
        cdef double *gold_worth = other_share + self.most + 2
        cdef double *other_worth = gold_worth + self.most + 2
        cdef double *rest = other_worth + self.most + 2
        cdef double z = self.gains(i, theta, gains, &g), total = 0.0, factor
        for k in range(n):                          # log(1 + e^gain), and the probability in its place
            z += log1p(exp(-fabs(gains[k].gain))) + max(gains[k].gain, 0.0)
            gains[k].gain = sigmoid(gains[k].gain)
        count_coins(g, gains, gold_share)
        count_coins(n - g, gains + g, other_share)
        for a in range(g + 1):
            gold_worth[a] = 0.0
        for b in range(n - g + 1):
            other_worth[b] = 0.0
        for a in range(g + 1):
            for b in range(n - g + 1):
                factor = exp(delta_of(g, a, b))
                gold_worth[a] += other_share[b] * factor
                other_worth[b] += gold_share[a] * factor
                total += gold_share[a] * other_share[b] * factor
        for k in range(n):
            if k < g:
                self.put_mean(i, gains[k], chance_in(g, gains[k].gain, gold_share, gold_worth, rest) / total, mean)
            else:
                factor = chance_in(n - g, gains[k].gain, other_share, other_worth, rest)
                self.put_mean(i, gains[k], factor / total, mean)
        return z + log(total)

    cdef void put_mean(self, Py_ssize_t i, Gain own, double share, double *mean) noexcept nogil:
        cdef int64_t f = self.graphs.factor_begin[self.graphs.shape_of[i]]
        mean[self.graphs.part[f + own.node]] = 1.0 - share
        mean[self.graphs.part[f + own.node] + 1] = share


cdef inline double delta_of(Py_ssize_t g, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
    """1 - F1 with a of g gold labels and b others."""
    return 1.0 - 2.0 * a / (g + a + b) if g + a + b else 0.0


cdef inline double sigmoid(double x) noexcept nogil:
    return 1.0 / (1.0 + exp(-x)) if x > 0 else exp(x) / (1.0 + exp(x))


cdef void count_coins(Py_ssize_t n, const Gain *coins, double *share) noexcept nogil:
    """The distribution of how many of n coins fall, share[n + 1]; the gain of each is its probability."""
    cdef Py_ssize_t k, c
    cdef double p
    share[0] = 1.0
    for k in range(n):
        p = coins[k].gain
        share[k + 1] = share[k] * p
        for c in range(k, 0, -1):
            share[c] = share[c] * (1.0 - p) + share[c - 1] * p
        share[0] *= 1.0 - p


cdef double chance_in(Py_ssize_t n, double p, const double *share, const double *worth, double *rest) noexcept nogil:
    """The sum over numbers c of P(c coins fall, and that of probability p is one of them) worth[c]. rest: room."""
    cdef Py_ssize_t c
    cdef double total = 0.0
    if p <= 0.5:                                    # the others: share[c] = (1 - p) rest[c] + p rest[c - 1]
        rest[0] = share[0] / (1.0 - p)
        for c in range(1, n):
            rest[c] = (share[c] - p * rest[c - 1]) / (1.0 - p)
    else:
        rest[n - 1] = share[n] / p
        for c in range(n - 1, 0, -1):
            rest[c - 1] = (share[c] - (1.0 - p) * rest[c]) / p
    for c in range(n):
        total += p * rest[c] * worth[c + 1]
    return total
