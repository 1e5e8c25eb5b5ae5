"""Dual decomposition of a graph: block minimisation over messages delta_cv(s), the agreement variables of
agreements.pyx.

    sum_v max_s (theta_v(s) + sum_{c: v in c} delta_cv(s)) + sum_c max_y (theta_c(y) - sum_{v in c} delta_cv(y_v))

is an upper bound of the best score in the local marginal polytope, and equal to it for the best delta (Meshi, Srebro
and Hazan 2015, (2)). A block is all the messages of one node ("star"). With m_c(s) the max-marginals of the factors
around it, without their own message to it, and b(s) = theta_v(s) + sum_c m_c(s), the messages delta_cv(s) = m_c(s) -
b(s) / (N + 1) let the node and each of its N factors have the same max-marginals b(s) / (N + 1), so that one state is
the best of them all: the bound becomes max_s b(s), and less it cannot be. With every maximum replaced by T log sum
exp(. / T) (Hazan and Urtasun 2010) the same formula lets their marginals agree, which is where the gradient of the
block is 0.
"""

import numpy as np

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int64_t

from cython_ext.relaxations.agreements cimport Agreements
from cython_ext.structures.graph.factor_graphs cimport FactorGraphs


cdef class Messages:
    """agreements: those of the graphs. theta below is the scores of all joint states of an example, with the messages
    in them where it is said to be reparametrised; delta, the messages of that example."""

    def __init__(self, Agreements agreements not None):
        cdef FactorGraphs graphs = agreements.graphs
        layout = graphs.layout
        factors, entries, strides, widest, at = [], [], [], 0, 0
        for shape in layout.shapes:
            of_nodes = [[] for _ in range(shape.nodes)]
            for f, (kind, scope) in enumerate(zip(shape.types, shape.scopes)):
                states = layout.types[kind].states_of(scope)
                for k, node in enumerate(scope):
                    strides.append(int(np.prod(states[k + 1:])))
                    if len(scope) > 1:
                        of_nodes[node].append((f, at))
                    at += 1
            for node, found in enumerate(of_nodes):
                factors += [f for f, _ in found]
                entries += [where for _, where in found]
                widest = max(widest, (len(found) + 1) * layout.types[shape.types[node]].size)
        self.agreements, self.graphs, self.scratch_size = agreements, graphs, widest
        self.memory = [np.array([*values, 0], np.int64) for values in (factors, entries, strides)]
        cdef int64_t[::1] factor = self.memory[0], entry = self.memory[1], stride = self.memory[2]
        self.factor, self.entry, self.stride = &factor[0], &entry[0], &stride[0]

    cdef double minimise(self, Py_ssize_t i, double *theta, double *delta, double temperature, Py_ssize_t sweeps,
                         double *scratch) noexcept nogil:
        """Sweeps over the nodes, to and fro, each of which updates their messages in turn; returns the bound. theta is
        reparametrised. temperature: T, 0 for maxima; scratch: scratch_size doubles."""
        cdef Py_ssize_t r
        self.reparametrise(i, delta, theta)
        for r in range(sweeps):
            self.sweep(i, r % 2, theta, delta, temperature, scratch)
        return self.value(i, theta, temperature)

    cdef void sweep(self, Py_ssize_t i, bint back, double *theta, double *delta, double temperature,
                    double *scratch) noexcept nogil:
        """Updates the messages of one node after the other; theta is reparametrised before and after. back: from the
        last node to the first."""
        cdef Py_ssize_t v, nodes = self.graphs.nodes[self.graphs.shape_of[i]]
        for v in range(nodes):
            self.update(i, nodes - 1 - v if back else v, theta, delta, temperature, scratch)

    cdef void reparametrise(self, Py_ssize_t i, const double *delta, double *theta) noexcept nogil:
        """Adds the messages to the scores."""
        cdef Py_ssize_t s = self.graphs.shape_of[i]
        cdef int64_t f
        delta -= self.agreements.begin[i]                   # scores() takes those of all examples
        for f in range(self.graphs.factor_begin[s], self.graphs.factor_begin[s + 1]):
            self.agreements.scores(i, f, delta, 1.0, theta + self.graphs.part[f])

    cdef void update(self, Py_ssize_t i, Py_ssize_t v, double *theta, double *delta, double temperature,
                     double *scratch) noexcept nogil:
        """Minimises the bound over all messages of node v; theta is reparametrised before and after. What the maxima of
        theta lack of m_c is the message itself, so messages change by them less b / (N + 1)."""
        cdef int64_t first = self.graphs.factor_begin[self.graphs.shape_of[i]], f = first + v, p
        cdef int64_t begin = self.agreements.incident_begin[f], end = self.agreements.incident_begin[f + 1]
        cdef Py_ssize_t a, states = self.graphs.size[self.graphs.type_of[f]]
        cdef double *own = theta + self.graphs.part[f]
        cdef double *marginal = scratch
        cdef double *message
        for p in range(begin, end):
            f = first + self.factor[p]
            marginals(self.graphs.size[self.graphs.type_of[f]], states, self.stride[self.entry[p]],
                      theta + self.graphs.part[f], temperature, marginal, scratch + (end - begin) * states)
            for a in range(states):
                own[a] += marginal[a]
            marginal += states
        for a in range(states):
            own[a] /= end - begin + 1
        marginal = scratch
        for p in range(begin, end):
            f = first + self.factor[p]
            message = delta + self.agreements.incident[p]
            for a in range(states):
                marginal[a] -= own[a]
                message[a] += marginal[a]
            subtract(self.graphs.size[self.graphs.type_of[f]], states, self.stride[self.entry[p]], marginal,
                     theta + self.graphs.part[f])
            marginal += states

    cdef double value(self, Py_ssize_t i, const double *theta, double temperature) noexcept nogil:
        """The bound; theta is reparametrised."""
        cdef Py_ssize_t s = self.graphs.shape_of[i]
        cdef int64_t f
        cdef double total = 0.0
        for f in range(self.graphs.factor_begin[s], self.graphs.factor_begin[s + 1]):
            total += maximum(self.graphs.size[self.graphs.type_of[f]], theta + self.graphs.part[f], temperature)
        return total

    cdef void beliefs(self, Py_ssize_t i, const double *theta, double temperature, double *mean) noexcept nogil:
        """The derivative of the bound by theta, which is reparametrised: of every factor the softmax of its joint
        states, or with maxima the first best one."""
        cdef Py_ssize_t s = self.graphs.shape_of[i], a, best, size
        cdef int64_t f
        cdef const double *scores
        cdef double *out
        cdef double top
        for f in range(self.graphs.factor_begin[s], self.graphs.factor_begin[s + 1]):
            size = self.graphs.size[self.graphs.type_of[f]]
            scores, out = theta + self.graphs.part[f], mean + self.graphs.part[f]
            if temperature > 0.0:
                top = maximum(size, scores, temperature)
                for a in range(size):
                    out[a] = exp((scores[a] - top) / temperature)
                continue
            best = 0
            for a in range(size):
                out[a] = 0.0
                if scores[a] > scores[best]:
                    best = a
            out[best] = 1.0

    # The same for Python, about one example.

    def minimised(self, Py_ssize_t i, theta, delta, double temperature=0.0, Py_ssize_t sweeps=1):
        """(bound, messages, beliefs) after some sweeps from the messages delta."""
        return self._look(i, theta, delta, temperature, -1, sweeps)

    def updated(self, Py_ssize_t i, Py_ssize_t v, theta, delta, double temperature=0.0):
        """The same after the update of node v alone."""
        return self._look(i, theta, delta, temperature, v, 0)

    def _look(self, Py_ssize_t i, theta, delta, double temperature, Py_ssize_t v, Py_ssize_t sweeps):
        cdef double[::1] scores = np.append(theta, 0.0), messages = np.append(delta, 0.0)
        cdef double[::1] mean = np.zeros(len(scores)), scratch = np.empty(self.scratch_size + 1)
        cdef double value
        if v >= 0:
            self.reparametrise(i, &messages[0], &scores[0])
            self.update(i, v, &scores[0], &messages[0], temperature, &scratch[0])
            value = self.value(i, &scores[0], temperature)
        else:
            value = self.minimise(i, &scores[0], &messages[0], temperature, sweeps, &scratch[0])
        self.beliefs(i, &scores[0], temperature, &mean[0])
        return value, np.asarray(messages)[:len(delta)], np.asarray(mean)[:len(theta)]


cdef double maximum(Py_ssize_t size, const double *scores, double temperature) noexcept nogil:
    """max, or T log sum exp(. / T)."""
    cdef Py_ssize_t a
    cdef double top = -INFINITY, total = 0.0
    for a in range(size):
        top = max(top, scores[a])
    if temperature <= 0.0 or not top > -INFINITY:
        return top
    for a in range(size):
        total += exp((scores[a] - top) / temperature)
    return top + temperature * log(total)


cdef void marginals(Py_ssize_t size, Py_ssize_t states, Py_ssize_t stride, const double *scores, double temperature,
                    double *out, double *sums) noexcept nogil:
    """out[s]: the maximum over the joint states that give the state s to a node, whose states are `stride` apart. sums:
    room for as many numbers."""
    cdef Py_ssize_t outer, s, a
    cdef const double *row
    for s in range(states):
        out[s] = -INFINITY
        sums[s] = 0.0
    for outer in range(size // (states * stride)):
        for s in range(states):
            row = scores + (outer * states + s) * stride
            for a in range(stride):
                out[s] = max(out[s], row[a])
    if temperature <= 0.0:
        return
    for outer in range(size // (states * stride)):
        for s in range(states):
            row = scores + (outer * states + s) * stride
            for a in range(stride):
                sums[s] += exp((row[a] - out[s]) / temperature)
    for s in range(states):
        out[s] += temperature * log(sums[s])


cdef void subtract(Py_ssize_t size, Py_ssize_t states, Py_ssize_t stride, const double *message,
                   double *scores) noexcept nogil:
    """Takes a number for each state of a node off the joint states that give it to the node."""
    cdef Py_ssize_t outer, s, a
    cdef double *row
    for outer in range(size // (states * stride)):
        for s in range(states):
            row = scores + (outer * states + s) * stride
            for a in range(stride):
                row[a] -= message[s]
