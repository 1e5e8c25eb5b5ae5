"""Labelings of factor graphs by dual decomposition: messages between the factors lower a bound of the best score, and each
node takes the state that is best for it then (Sontag, Globerson and Jaakkola 2011).

It needs no linear program and no interpreter. The labeling is not always the best one, but it is proved to be where its
score is the bound.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset

from cython_ext.kernels cimport vector
from cython_ext.structures.agreements cimport Agreements
from cython_ext.structures.factor_graphs cimport FactorGraphs
from cython_ext.structures.labelings cimport Labelings
from cython_ext.structures.messages cimport sweep

cdef enum:
    SWEEPS = 200                # at most
    PATIENCE = 20               # sweeps in which the bound has to fall
cdef double PROGRESS = 1e-4     # by this share
cdef double ROUNDING = 1e-9


cdef class Decomposition(Labelings):
    """graphs: a FactorGraphs."""

    exact = False
    oracles = ('max',)

    cdef Agreements agreements
    cdef Py_ssize_t most_messages, most_states

    def __init__(self, FactorGraphs graphs not None):
        Labelings.__init__(self, graphs)
        cdef Py_ssize_t i
        self.agreements = Agreements(graphs)
        for i in range(self.n):
            self.most_messages = max(self.most_messages, self.agreements.begin[i + 1] - self.agreements.begin[i])
        self.most_states = max([max(kind.states) for kind in graphs.layout.types], default=1)

    cdef Py_ssize_t scratch_size(self, Py_ssize_t k) noexcept nogil:
        return self.max_size + self.most_messages + self.most_states + (self.max_code + 1) // 2

    cdef double max(self, Py_ssize_t i, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        """The score of the best labeling that was seen on the way."""
        cdef double *scores = scratch
        cdef double *messages = scratch + self.max_size
        cdef double *room = messages + self.most_messages
        cdef int32_t *other = <int32_t *> (room + self.most_states)
        cdef Py_ssize_t turn, since = 0
        cdef double bound, least = INFINITY, score, best = -INFINITY
        memcpy(scores, theta, self.size_of(i) * sizeof(double))
        memset(messages, 0, self.most_messages * sizeof(double))
        for turn in range(SWEEPS + 1):
            if turn > 0:
                sweep(self.graphs, self.agreements, i, 0.0, messages, scores, room)
            bound = self.decode(i, scores, other)
            score = self.score(i, theta, other)
            if score > best:
                best = score
                memcpy(code, other, self.code_of(i) * sizeof(int32_t))
            if bound - best <= ROUNDING * (1.0 + fabs(bound)):
                break
            if bound < least - PROGRESS * (1.0 + fabs(least)) or least == INFINITY:
                least, since = bound, 0
            since += 1
            if since > PATIENCE:
                break
        return best

    cdef double decode(self, Py_ssize_t i, const double *scores, int32_t *code) noexcept nogil:
        """The best state of each node, and the sum of the maxima of all factors."""
        cdef Py_ssize_t s = self.graphs.shape_of[i], size
        cdef int64_t f, first = self.graphs.factor_begin[s]
        cdef double bound = 0.0
        for f in range(first, self.graphs.factor_begin[s + 1]):
            size = self.graphs.size[self.graphs.type_of[f]]
            if f - first < self.graphs.nodes[s]:
                code[f - first] = <int32_t> vector.argmax(size, scores + self.graphs.part[f])
                bound += scores[self.graphs.part[f] + code[f - first]]
            else:
                bound += vector.maximum(size, scores + self.graphs.part[f])
        return bound

    cdef double score(self, Py_ssize_t i, const double *theta, const int32_t *code) noexcept nogil:
        """Of a labeling."""
        cdef Py_ssize_t s = self.graphs.shape_of[i]
        cdef int64_t f
        cdef double total = 0.0
        for f in range(self.graphs.factor_begin[s], self.graphs.factor_begin[s + 1]):
            total += theta[self.graphs.part[f] + self.graphs.joint_state(f, code)]
        return total
