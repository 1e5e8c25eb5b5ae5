"""The probability of every labelled bracket over a sentence, from the sums over all of its trees.

A bracket is a label with the words that it spans, as in structures/cfg/bracket_counts.pyx; a tree that has one twice,
one above the other, has it. All brackets over the same words belong to one node, which is an edge into the item of its
highest label, and all items of a span stand together in a forest.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memset

from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.structures.cfg cimport forest as packed
from cython_ext.structures.cfg.cfg cimport Cfg
from cython_ext.structures.cfg.forest cimport Forest
from cython_ext.structures.workspace cimport Workspace


cdef class Brackets:
    """structure: a Cfg; features: its map; least: the smallest probability that is told."""

    cdef Cfg tree
    cdef FeatureMap features
    cdef double least
    cdef const uint8_t[::1] counted
    cdef double[::1] chances            # [labels] of the span at hand
    cdef object found

    def __init__(self, Cfg structure not None, FeatureMap features not None, double least):
        self.tree, self.features, self.least = structure, features, least
        self.counted = np.append(structure.counted, False).astype(np.uint8)
        self.chances = np.zeros(structure.g.labels + 1)

    def probabilities(self, const double[::1] w):
        """For each sentence a list of (begin, end, label, probability); empty where it has no tree."""
        cdef Workspace work = Workspace(self.tree, None)
        cdef Py_ssize_t i
        out = []
        for i in range(self.tree.n):
            self.found = []
            if self.tree.num_parts(i):
                with nogil:
                    self.features.scores(i, &w[0], work.theta)
                self._sentence(i, work)
            out.append(self.found)
        return out

    cdef int _sentence(self, Py_ssize_t i, Workspace work) except -1:
        cdef Forest f
        cdef double *score
        cdef double *value
        cdef double *mass
        cdef double *share
        cdef double *events
        cdef double total = -INFINITY
        cdef Py_ssize_t x
        cdef int32_t e
        with nogil:
            value = self.tree.forest(i, work.theta, work.scratch, &f, &score)
            mass, share = value + f.items, value + 2 * f.items
            events = share + f.edges
            memset(events, 0, self.tree.events(i) * sizeof(double))
            if f.items:
                total = packed.sums(&f, score, value, mass, share, events)
        if total == -INFINITY:
            return 0
        for x in range(1, f.items):
            if 0 <= f.symbol[x] < self.tree.g.labels:
                for e in range(f.first[x], f.first[x + 1]):
                    if f.left[e] and mass[x] * share[e] > 0.0:
                        self._node(i, &f, x, e, mass[x] * share[e])
            if x + 1 == f.items or f.span[x + 1] != f.span[x]:
                self._tell(f.span[x], self.tree.length(i) + 1)
        return 0

    cdef void _node(self, Py_ssize_t i, const Forest *f, Py_ssize_t x, int32_t e, double chance) noexcept nogil:
        """Adds to the chances of the labels of a node, but for one that is an item without a chain itself: that has
        edges of its own."""
        cdef Py_ssize_t left = f.left[e], width = self.tree.length(i) + 1, chain, k, p
        cdef int32_t base = f.symbol[left], label
        cdef bint told = base >= 0, again
        if base >= self.tree.g.labels:                          # a sequence: no chain
            self.chances[f.symbol[x]] += chance
            return
        base = base if told else -1 - base
        if f.span[x] % width - f.span[x] // width == 1:         # a tag
            base, told = -1, True
        if not told:
            self.chances[base] += chance
        chain = self.tree.chain_of(i, f.event[e])
        for k in range(self.tree.g.chain_at[chain], self.tree.g.chain_at[chain + 1]):
            label = self.tree.g.lhs[self.tree.g.chain_rule[k]]
            again = label == base
            for p in range(self.tree.g.chain_at[chain], k):
                again |= self.tree.g.lhs[self.tree.g.chain_rule[p]] == label
            if not again:
                self.chances[label] += chance

    cdef int _tell(self, int32_t span, Py_ssize_t width) except -1:
        """Lists the labels of a span, whose chances are 0 after that."""
        cdef Py_ssize_t label
        for label in range(self.tree.g.labels):
            if self.chances[label] >= self.least and self.counted[label]:
                self.found.append((span // width, span % width, label, min(self.chances[label], 1.0)))
            self.chances[label] = 0.0
        return 0
