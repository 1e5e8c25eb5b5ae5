"""Sums over labelings of graphs of pairs with circles, by an upper bound: the tree-reweighted free energy

    B(theta) = max over tau of <theta, tau> + sum_v H(tau_v) - sum_e rho_e I(tau_e)

over the local marginal polytope, where rho_e is the share of some spanning forests that edge e is in (Wainwright,
Jaakkola and Willsky 2005). B is convex, at least the log of the sum over all labelings, and that itself on trees.

Messages m_e(x_u), m_e(x_v) of an edge between u and v make beliefs b_v = theta_v + sum of rho_e m_e(x_v), and whatever
they are, theta is the mean over the forests T of the scores

    sum_v b_v + sum over e in T of theta_e / rho_e - m_e(x_u) - m_e(x_v),

so that the mean of their sums, which dynamic programs tell, bounds B from above; and the beliefs, made to agree, are
a point of the polytope that bounds it from below. Sweeps over the messages bring both together.
"""

import numpy as np

from libc.math cimport INFINITY, exp, fabs, log
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset

from cython_ext.relaxations.forests import forests_of
from cython_ext.structures.graph.count_layout import CountsError
from cython_ext.structures.graph.factor_graphs cimport FactorGraphs, narrow, wide
from cython_ext.structures.structure cimport SummedStructure

cdef enum:
    SWEEPS = 2000               # most sweeps over one graph
    EVERY = 5                   # sweeps between looks at the bounds
    UNDAMPED = 60               # sweeps before messages go half of the way only
cdef double ENOUGH = 1e-11      # distance of the bounds, relative to them


class PairsError(CountsError):
    """A graph has other factors than nodes and pairs of nodes."""


cdef class TreeReweighted(SummedStructure):
    """graphs: a FactorGraphs of nodes and pairs; PairsError elsewhere. The value of a sum is the upper bound, its mean
    the point of the polytope; `slack` says how far the bounds were apart."""

    exact = False
    oracles = ('exp',)

    cdef readonly FactorGraphs graphs
    cdef list memory
    cdef object distances
    cdef double *distance
    cdef Py_ssize_t most_states, most_messages, widest
    # by shape
    cdef const int64_t *node_states         # of all nodes, which come first among the parts
    cdef const int64_t *message_count
    cdef const int64_t *edge_begin          # [shapes + 1]
    cdef const int64_t *forest_begin        # [shapes + 1]
    # by edge
    cdef const int64_t *message             # where those of its first node begin, the others behind them
    cdef double *appearance
    # by forest
    cdef const int64_t *step_begin          # [forests + 1]
    cdef const int32_t *step                # 2 * edge of the shape + whether its first node is the child

    def __init__(self, FactorGraphs graphs not None):
        cdef double[::1] distances = np.zeros(graphs.n + 1), appearances
        layout, rho, steps, sizes, counts, messages = graphs.layout, [], [], [], [], []
        states, edges_of, forests = [], [], []
        self.graphs, self.n, self.memory = graphs, graphs.n, []
        self.distances, self.distance = np.asarray(distances), &distances[0]
        for shape in layout.shapes:
            sizes = [layout.types[kind].size for kind in shape.types[:shape.nodes]]
            edges = shape.scopes[shape.nodes:]
            counting = any([layout.types[kind].buckets is not None for kind in shape.types])
            if counting or any([len(edge) != 2 for edge in edges]):
                raise PairsError('tree-reweighted sums are for graphs of nodes and pairs of them, and there are '
                                 'factors that count or have three nodes or more')
            found, at = forests_of(shape.nodes, edges), 0
            times = np.zeros(len(edges))
            for forest in found:
                np.add.at(times, [e for e, _ in forest], 1)
                steps += [2 * e + first for e, first in forest]
                counts.append(len(forest))
            if (times == 0).any():
                raise PairsError(f'a graph has so many pairs that {len(found)} forests do not have all of them')
            rho += (times / len(found)).tolist()
            for a, b in edges:
                messages.append(at)
                at += sizes[a] + sizes[b]
            total = sum(sizes)
            states.append(total)
            edges_of.append(len(edges))
            forests.append(len(found))
            self.most_states, self.most_messages = max(self.most_states, total), max(self.most_messages, at)
            self.widest = max(self.widest, *sizes, 1)
        appearances = np.array([*rho, 1.0])
        self.memory.append(appearances)
        self.appearance = &appearances[0]
        self.node_states, self.message = wide(self.memory, states), wide(self.memory, messages)
        self.edge_begin = wide(self.memory, np.cumsum([0, *edges_of]))
        self.forest_begin = wide(self.memory, np.cumsum([0, *forests]))
        self.step_begin, self.step = wide(self.memory, np.cumsum([0, *counts])), narrow(self.memory, steps)
        for i in range(self.n):
            self.max_size = max(self.max_size, self.num_parts(i))
            self.max_code = max(self.max_code, self.code_length(i))
            s = graphs.shape_of[i]
            self.max_parts = max(self.max_parts, graphs.factor_begin[s + 1] - graphs.factor_begin[s])

    def slack(self):
        """float64[n]: by how much the last value of each sum may be too large for the mean that was given with it."""
        return self.distances[:self.n]

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        return self.graphs.parts[self.graphs.shape_of[i]]

    cdef Py_ssize_t _code_length(self, Py_ssize_t i) noexcept nogil:
        return self.graphs.nodes[self.graphs.shape_of[i]]

    cdef const int32_t *gold(self, Py_ssize_t i) noexcept nogil:
        return self.graphs.labels + self.graphs.label_begin[i]

    cdef Py_ssize_t _parts(self, Py_ssize_t i, const int32_t *code, int32_t *ids, double *counts) noexcept nogil:
        return self.graphs.parts_of(i, code, ids, counts)

    cdef bint valid(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        cdef int64_t v, first = self.graphs.factor_begin[self.graphs.shape_of[i]]
        for v in range(self.code_length(i)):
            if not 0 <= code[v] < self.graphs.size[self.graphs.type_of[first + v]]:
                return False
        return True

    cdef Py_ssize_t scratch_size(self, Py_ssize_t k) noexcept nogil:
        return self.max_size + 2 * self.most_states + self.most_messages + 2 * self.widest

    cdef double max(self, Py_ssize_t i, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        """The score of the labeling of each node's likeliest state, the first of equal ones: none need be better."""
        cdef Py_ssize_t s = self.graphs.shape_of[i], v, a
        cdef int64_t f, first = self.graphs.factor_begin[s]
        cdef const double *chances
        cdef double total = 0.0
        self.log_partition(i, theta, scratch + self.max_size, scratch)
        for v in range(self.graphs.nodes[s]):
            chances, code[v] = scratch + self.graphs.part[first + v], 0
            for a in range(self.graphs.size[self.graphs.type_of[first + v]]):
                if chances[a] > chances[code[v]]:
                    code[v] = <int32_t> a
        for f in range(first, self.graphs.factor_begin[s + 1]):
            total += theta[self.graphs.part[f] + self.graphs.joint_state(f, code)]
        return total

    def labelings(self, codes, indptr):
        """The state of every node, int32, of all examples; as of LocalPolytope."""
        return codes

    cdef double log_partition(self, Py_ssize_t i, const double *theta, double *scratch, double *mean) noexcept nogil:
        cdef Py_ssize_t s = self.graphs.shape_of[i], e, r, edges = self.edge_begin[s + 1] - self.edge_begin[s]
        cdef double *beliefs = scratch
        cdef double *messages = scratch + self.most_states
        cdef double *room = messages + self.most_messages
        cdef double upper = 0.0, lower = 0.0, pace = 1.0
        memcpy(beliefs, theta, self.node_states[s] * sizeof(double))
        memset(messages, 0, self.message_size(s) * sizeof(double))
        for r in range(SWEEPS):
            if r == UNDAMPED:
                pace = 0.5
            for e in range(edges):
                self.send(s, e, theta, beliefs, messages, pace, room)
            for e in range(edges - 1, -1, -1):
                self.send(s, e, theta, beliefs, messages, pace, room)
            if r % EVERY == 0 or r == SWEEPS - 1 or self.stopped():
                upper = self.upper(s, theta, beliefs, messages, room)
                lower = self.lower(s, theta, beliefs, messages, mean, room)
                if not upper - lower > ENOUGH * (1.0 + fabs(upper)) or self.stopped():
                    break
        self.distance[i] = max(0.0, upper - lower)
        return upper

    cdef Py_ssize_t message_size(self, Py_ssize_t s) noexcept nogil:
        """How many numbers the messages of a graph are."""
        cdef Py_ssize_t e = self.edge_begin[s + 1] - 1
        cdef int64_t f
        if e < self.edge_begin[s]:
            return 0
        f = self.graphs.factor_begin[s + 1] - 1
        return self.message[e] + self.states(s, f, 0) + self.states(s, f, 1)

    # An edge of a shape is the factor behind those of its nodes.

    cdef int64_t factor(self, Py_ssize_t s, Py_ssize_t e) noexcept nogil:
        return self.graphs.factor_begin[s] + self.graphs.nodes[s] + e

    cdef Py_ssize_t states(self, Py_ssize_t s, int64_t f, Py_ssize_t place) noexcept nogil:
        """How many states a node of a pair has."""
        return self.graphs.states[self.graphs.state_begin[self.graphs.type_of[f]] + place]

    cdef int64_t node(self, Py_ssize_t s, int64_t f, Py_ssize_t place) noexcept nogil:
        """Where the states of a node of a pair begin among the parts."""
        return self.graphs.part[self.graphs.factor_begin[s] + self.graphs.scope[self.graphs.scope_begin[f] + place]]

    cdef void send(self, Py_ssize_t s, Py_ssize_t e, const double *theta, double *beliefs, double *messages,
                   double pace, double *room) noexcept nogil:
        """New messages of an edge to both of its nodes, and their beliefs."""
        cdef int64_t f = self.factor(s, e)
        cdef Py_ssize_t place, a, to = self.states(s, f, 0)
        cdef double rho = self.appearance[self.edge_begin[s] + e], change, top
        cdef double *first = messages + self.message[self.edge_begin[s] + e]
        cdef double *mine
        cdef double *belief
        for place in range(1, -1, -1):
            self.sums(s, f, 1 - place, theta + self.graphs.part[f], 1.0 / rho,
                      beliefs + self.node(s, f, 1 - place), first if place == 1 else first + to, room)
            mine = first + to if place == 1 else first
            belief = beliefs + self.node(s, f, place)
            top = room[0]                       # the largest message is 0, so that none grow without end
            for a in range(self.states(s, f, place)):
                top = max(top, room[a])
            for a in range(self.states(s, f, place)):
                change = pace * (room[a] - top - mine[a])
                mine[a] += change
                belief[a] += rho * change

    cdef void sums(self, Py_ssize_t s, int64_t f, Py_ssize_t child, const double *theta, double times,
                   const double *belief, const double *message, double *out) noexcept nogil:
        """out[state of the other node] = log sum over the states of one of a pair of exp(its belief - its message +
        times * theta)."""
        cdef Py_ssize_t own = self.states(s, f, child), other = self.states(s, f, 1 - child), a, b
        cdef Py_ssize_t step = other if child == 0 else 1, stride = 1 if child == 0 else own
        cdef double top, value, total
        for b in range(other):
            top, total = -INFINITY, 0.0
            for a in range(own):
                top = max(top, belief[a] - message[a] + times * theta[a * step + b * stride])
            for a in range(own):
                value = belief[a] - message[a] + times * theta[a * step + b * stride]
                total += exp(value - top)
            out[b] = top + log(total)

    cdef double upper(self, Py_ssize_t s, const double *theta, const double *beliefs, const double *messages,
                      double *room) noexcept nogil:
        """The mean of the log sums of the forests."""
        cdef double *scores = room + 2 * self.widest
        cdef const double *mine
        cdef double *parent
        cdef double total = 0.0
        cdef int64_t k, p, f
        cdef Py_ssize_t e, child, a, v, first_states
        for k in range(self.forest_begin[s], self.forest_begin[s + 1]):
            memcpy(scores, beliefs, self.node_states[s] * sizeof(double))
            for p in range(self.step_begin[k], self.step_begin[k + 1]):
                e, child = self.step[p] // 2, 1 - self.step[p] % 2
                f, mine = self.factor(s, e), messages + self.message[self.edge_begin[s] + e]
                first_states = self.states(s, f, 0)
                self.sums(s, f, child, theta + self.graphs.part[f], 1.0 / self.appearance[self.edge_begin[s] + e],
                          scores + self.node(s, f, child), mine if child == 0 else mine + first_states, room)
                parent, mine = scores + self.node(s, f, 1 - child), mine + first_states if child == 0 else mine
                for a in range(self.states(s, f, 1 - child)):
                    parent[a] += room[a] - mine[a]
                # what is in the parent is not to be counted again as a root
                for a in range(self.states(s, f, child)):
                    scores[self.node(s, f, child) + a] = 0.0 if a == 0 else -INFINITY
            for v in range(self.graphs.nodes[s]):
                f = self.graphs.factor_begin[s] + v
                total += log_sum(scores + self.graphs.part[f], self.graphs.size[self.graphs.type_of[f]])
        return total / (self.forest_begin[s + 1] - self.forest_begin[s])

    cdef double lower(self, Py_ssize_t s, const double *theta, const double *beliefs, const double *messages,
                      double *mean, double *room) noexcept nogil:
        """<theta, tau> and the entropies at the point of the polytope that the beliefs are near, which goes to mean."""
        cdef Py_ssize_t e, v, a, b, own, other
        cdef int64_t f
        cdef double total = 0.0, rho, z
        cdef double *table
        cdef double *first
        cdef double *second
        cdef const double *mine
        cdef const double *theirs
        for v in range(self.graphs.nodes[s]):
            f = self.graphs.factor_begin[s] + v
            own, first = self.graphs.size[self.graphs.type_of[f]], mean + self.graphs.part[f]
            z = log_sum(beliefs + self.graphs.part[f], own)
            for a in range(own):
                first[a] = exp(beliefs[self.graphs.part[f] + a] - z)
                total += theta[self.graphs.part[f] + a] * first[a]
            total += entropy(first, own)
        for e in range(self.edge_begin[s + 1] - self.edge_begin[s]):
            f, rho = self.factor(s, e), self.appearance[self.edge_begin[s] + e]
            own, other, table = self.states(s, f, 0), self.states(s, f, 1), mean + self.graphs.part[f]
            mine = messages + self.message[self.edge_begin[s] + e]
            theirs = mine + own
            for a in range(own):
                for b in range(other):
                    table[a * other + b] = (theta[self.graphs.part[f] + a * other + b] / rho
                                            + beliefs[self.node(s, f, 0) + a] - mine[a]
                                            + beliefs[self.node(s, f, 1) + b] - theirs[b])
            z = log_sum(table, own * other)
            for a in range(own * other):
                table[a] = exp(table[a] - z)
            first, second = mean + self.node(s, f, 0), mean + self.node(s, f, 1)
            agree(table, own, other, first, second, room)
            for a in range(own * other):
                total += theta[self.graphs.part[f] + a] * table[a]
            total += rho * (entropy(table, own * other) - entropy(first, own) - entropy(second, other))
        return total


cdef double log_sum(const double *values, Py_ssize_t count) noexcept nogil:
    cdef double top = -INFINITY, total = 0.0
    cdef Py_ssize_t a
    for a in range(count):
        top = max(top, values[a])
    for a in range(count):
        total += exp(values[a] - top)
    return top + log(total)


cdef double entropy(const double *chances, Py_ssize_t count) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t a
    for a in range(count):
        if chances[a] > 0.0:
            total -= chances[a] * log(chances[a])
    return total


cdef void agree(double *table, Py_ssize_t own, Py_ssize_t other, const double *first, const double *second,
                double *room) noexcept nogil:
    """Changes a table of chances so that its rows and columns sum to those of two nodes: what is too much in a row or a
    column is scaled down, and what is missing then has the chances of independent states."""
    cdef Py_ssize_t a, b
    cdef double total, missing = 0.0
    cdef double *columns = room + own
    for a in range(own):
        total = 0.0
        for b in range(other):
            total += table[a * other + b]
        if total > first[a]:
            for b in range(other):
                table[a * other + b] *= first[a] / total
    for b in range(other):
        total = 0.0
        for a in range(own):
            total += table[a * other + b]
        columns[b] = max(0.0, second[b] - total)
        if total > second[b]:
            for a in range(own):
                table[a * other + b] *= second[b] / total
    for a in range(own):
        total = 0.0
        for b in range(other):
            total += table[a * other + b]
        room[a] = max(0.0, first[a] - total)
        missing += room[a]
    if missing > 0.0:
        for a in range(own):
            for b in range(other):
                table[a * other + b] += room[a] * columns[b] / missing
