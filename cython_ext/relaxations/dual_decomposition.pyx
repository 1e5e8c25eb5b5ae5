"""Predictions by dual decomposition: sweeps over the messages of a graph (messages.pyx), after each of which every node
takes its best state. The best of these labelings is the output; where its score is the bound, there is no better
one."""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset

from cython_ext.relaxations.agreements cimport Agreements
from cython_ext.structures.graph.factor_graphs cimport FactorGraphs
from cython_ext.relaxations.messages cimport Messages
from cython_ext.structures.structure cimport Structure

cdef enum:
    SWEEPS = 500                # most sweeps over one graph
    PATIENCE = 10               # sweeps that have to lower the bound
cdef double LEAST_IMPROVEMENT = 1e-7       # by more than this, relative to it
cdef double BOUND_ROUNDING = 1e-10    # by which a score that is the bound may miss it, relative to it


cdef class DualDecomposition(Structure):
    """graphs: a FactorGraphs. For predictions only: gold outputs and statistics of outputs are Graph's.

    Attributes:
        bounds: float64[n], of the best score of each example, after its call of the max oracle.
        scores: float64[n], of the labeling that it found.
    """

    exact = False

    cdef readonly FactorGraphs graphs
    cdef readonly Messages messages
    cdef readonly object bounds, scores
    cdef double *bound_data
    cdef double *score_data
    cdef Py_ssize_t most

    def __init__(self, FactorGraphs graphs not None):
        cdef Agreements agreements = Agreements(graphs)
        cdef double[::1] bounds = np.zeros(graphs.n + 1), scores = np.full(graphs.n + 1, -np.inf)
        cdef Py_ssize_t i
        self.graphs, self.n, self.messages = graphs, graphs.n, Messages(agreements)
        self.bounds, self.bound_data = np.asarray(bounds)[:self.n], &bounds[0]
        self.scores, self.score_data = np.asarray(scores)[:self.n], &scores[0]
        for i in range(self.n):
            self.max_size = max(self.max_size, self.num_parts(i))
            self.max_code = max(self.max_code, self.code_length(i))
            self.most = max(self.most, agreements.begin[i + 1] - agreements.begin[i])

    def proved(self):
        return int((self.scores >= self.bounds - BOUND_ROUNDING * np.abs(self.bounds)).sum())

    def labelings(self, codes, indptr):
        """The state of every node, int32, of all examples; as of LocalPolytope."""
        return codes

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        return self.graphs.parts[self.graphs.shape_of[i]]

    cdef Py_ssize_t _code_length(self, Py_ssize_t i) noexcept nogil:
        return self.graphs.nodes[self.graphs.shape_of[i]]

    cdef Py_ssize_t scratch_size(self, Py_ssize_t k) noexcept nogil:
        return self.max_size + self.most + self.messages.scratch_size + self.max_code

    cdef double max(self, Py_ssize_t i, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        cdef double *messages = scratch + self.max_size
        cdef double *room = messages + self.most
        cdef int32_t *trial = <int32_t *> (room + self.messages.scratch_size)
        cdef double bound = INFINITY, before = INFINITY, score, best = -INFINITY
        cdef Py_ssize_t r
        memcpy(scratch, theta, self.num_parts(i) * sizeof(double))
        memset(messages, 0, self.most * sizeof(double))
        for r in range(SWEEPS):
            self.messages.sweep(i, r % 2, scratch, messages, 0.0, room)
            bound = self.messages.value(i, scratch, 0.0)
            score = self.round(i, scratch, trial)
            if score > best or r == 0:
                best = score
                memcpy(code, trial, self.code_length(i) * sizeof(int32_t))
            if best >= bound - BOUND_ROUNDING * fabs(bound) or self.stopped():
                break
            if (r + 1) % PATIENCE == 0:
                if not before - bound > LEAST_IMPROVEMENT * fabs(bound):
                    break
                before = bound
        self.bound_data[i], self.score_data[i] = bound, best
        return best

    cdef double round(self, Py_ssize_t i, const double *theta, int32_t *code) noexcept nogil:
        """Writes the best state of each node, the first of equal ones; the score of the labeling, which messages in
        theta do not change."""
        cdef Py_ssize_t s = self.graphs.shape_of[i], v, a
        cdef int64_t f, first = self.graphs.factor_begin[s]
        cdef const double *scores
        cdef double total = 0.0
        for v in range(self.graphs.nodes[s]):
            scores, code[v] = theta + self.graphs.part[first + v], 0
            for a in range(self.graphs.size[self.graphs.type_of[first + v]]):
                if scores[a] > scores[code[v]]:
                    code[v] = <int32_t> a
        for f in range(first, self.graphs.factor_begin[s + 1]):
            total += theta[self.graphs.part[f] + self.graphs.joint_state(f, code)]
        return total
