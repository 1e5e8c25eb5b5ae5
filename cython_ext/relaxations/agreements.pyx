"""Agreement variables: one for each factor of several nodes, each of its nodes, and each state of that node. Factors
that are one global factor (layout.py) have them together.

A joint state of a factor meets minus those of the states that it gives to its nodes, a state of a node plus those that
each factor around it has for that state: delta_cv(s) in (2) of Meshi, Srebro and Hazan 2015. Their sum over all factors
of a graph is 0 wherever the factors agree.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from cython_ext.kernels.vectors.prefetch cimport prefetch_line
from cython_ext.relaxations.block_layout import Block
from cython_ext.structures.graph.factor_graphs cimport FactorGraphs


cdef class Agreements:
    """graphs: a FactorGraphs; blocks: the Blocks of each shape (block_layout.py), or None where no factor is a global
    one. Arrays of agreement variables hold those of one example after the other."""

    def __init__(self, FactorGraphs graphs not None, blocks=None):
        layout = graphs.layout
        if blocks is None:
            blocks = [[Block(f, f + 1, scope) for f, scope in enumerate(shape.scopes)] for shape in layout.shapes]
        places, incident, counts = [], [], []
        for shape, several in zip(layout.shapes, blocks):
            at, of_nodes = 0, [[] for _ in range(shape.nodes)]
            for block in several:
                if block.whole:
                    places += [at] * sum([len(scope) for scope in shape.scopes[block.first:block.end]])
                for node in block.nodes:
                    if not block.whole:
                        places.append(at)
                    if len(block.nodes) > 1:
                        of_nodes[node].append(at)
                        at += layout.types[shape.types[node]].size
            incident += [*of_nodes, *([] for _ in range(len(shape.types) - shape.nodes))]
            counts.append(at)
        begin = np.concatenate([[0], np.cumsum(np.array(counts, np.int64)[layout.shape_of])])
        self.graphs, self.n = graphs, int(begin[len(begin) - 1])
        self.memory = [np.append(np.array(values, np.int64), 0) for values in (
            begin, places, np.concatenate([[0], np.cumsum([len(each) for each in incident])]),
            [where for each in incident for where in each],
        )]
        cdef int64_t[::1] of_example = self.memory[0], place = self.memory[1]
        cdef int64_t[::1] incident_begin = self.memory[2], incidents = self.memory[3]
        self.begin, self.place = &of_example[0], &place[0]
        self.incident_begin, self.incident = &incident_begin[0], &incidents[0]

    cdef bint of_node(self, Py_ssize_t i, int64_t f) noexcept nogil:
        """Whether factor f of the tables is that of a single node."""
        cdef Py_ssize_t s = self.graphs.shape_of[i]
        return f - self.graphs.factor_begin[s] < self.graphs.nodes[s]

    cdef int64_t run(self, Py_ssize_t i, int64_t f) noexcept nogil:
        """Where the agreement variables of a global factor begin, of which f is the first factor: one for each state of
        its first node, then of its second, ..."""
        return self.begin[i] + self.place[self.graphs.scope_begin[f]]

    cdef void fetch(self, Py_ssize_t i, int64_t f, const double *delta) noexcept nogil:
        """Brings the variables of a factor of several nodes into the cache: those of its first and of its last node,
        between which the others are. (A node meets those of many factors, which it finds there.)"""
        delta += self.begin[i]
        if not self.of_node(i, f):
            prefetch_line(delta + self.place[self.graphs.scope_begin[f]])
            prefetch_line(delta + self.place[self.graphs.scope_begin[f + 1] - 1])

    cdef void scores(self, Py_ssize_t i, int64_t f, const double *delta, double scale, double *theta) noexcept nogil:
        """theta += scale * what the joint states of factor f in example i meet of delta."""
        cdef int32_t t = self.graphs.type_of[f]
        cdef Py_ssize_t a, k, state, _repeat, size = self.graphs.size[t], run = size
        cdef const int32_t *states = self.graphs.states + self.graphs.state_begin[t]
        cdef int64_t p
        cdef double total
        delta += self.begin[i]
        if self.of_node(i, f):
            for a in range(size):
                total = 0.0
                for p in range(self.incident_begin[f], self.incident_begin[f + 1]):
                    total += delta[self.incident[p] + a]
                theta[a] += scale * total
            return
        for k in range(self.graphs.scope_begin[f + 1] - self.graphs.scope_begin[f]):
            p = self.place[self.graphs.scope_begin[f] + k]
            run //= states[k]               # as many joint states after one another have the same state at this place
            a = 0
            while a < size:
                for state in range(states[k]):
                    total = scale * delta[p + state]
                    for _repeat in range(run):
                        theta[a] -= total
                        a += 1

    cdef double score(self, Py_ssize_t i, int64_t f, Py_ssize_t joint, const double *delta) noexcept nogil:
        """What one joint state meets of delta."""
        cdef Py_ssize_t k
        cdef int64_t p
        cdef double total = 0.0
        delta += self.begin[i]
        if self.of_node(i, f):
            for p in range(self.incident_begin[f], self.incident_begin[f + 1]):
                total += delta[self.incident[p] + joint]
            return total
        for k in range(self.graphs.scope_begin[f + 1] - self.graphs.scope_begin[f]):
            p = self.place[self.graphs.scope_begin[f] + k]
            total -= delta[p + self.graphs.state_in(f, joint, k)]
        return total

    cdef void add_state(self, Py_ssize_t i, int64_t f, Py_ssize_t joint, double amount, double *delta) noexcept nogil:
        """delta += amount * what one joint state meets; the adjoint of score."""
        cdef Py_ssize_t k
        cdef int32_t rest = <int32_t> joint
        cdef const int32_t *states = self.graphs.states + self.graphs.state_begin[self.graphs.type_of[f]]
        cdef int64_t p
        delta += self.begin[i]
        if self.of_node(i, f):
            for p in range(self.incident_begin[f], self.incident_begin[f + 1]):
                delta[self.incident[p] + joint] += amount
            return
        for k in range(self.graphs.scope_begin[f + 1] - self.graphs.scope_begin[f] - 1, -1, -1):
            p = self.place[self.graphs.scope_begin[f] + k]
            delta[p + rest % states[k]] -= amount       # as of state_in, of all nodes at once
            rest //= states[k]

    cdef Py_ssize_t shared(self, Py_ssize_t i, int64_t f, Py_ssize_t joint, Py_ssize_t other) noexcept nogil:
        """How many agreement variables two joint states of a factor both meet: of a node, one for each factor around it
        if they are the same; of a factor, one for each node to which both give the same state."""
        cdef Py_ssize_t k, same = 0
        if self.of_node(i, f):
            return (self.incident_begin[f + 1] - self.incident_begin[f]) * (joint == other)
        for k in range(self.graphs.scope_begin[f + 1] - self.graphs.scope_begin[f]):
            same += self.graphs.state_in(f, joint, k) == self.graphs.state_in(f, other, k)
        return same
