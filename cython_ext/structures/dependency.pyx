"""Dependency trees: a head for every word of a sentence, another word or the root, and a relation to it.

A part is an arc with its relation. theta is T rows of T + 1 heads (0 is the root) of `stride` relation scores: the arc
from head h to word d with relation r stands at ((d - 1) (T + 1) + h) stride + r. The stride is 1 where there is one
relation, otherwise the relations are padded to whole vectors; neither the padding nor an arc from a word to itself is
read. An output's code is the heads of its T words followed by their relations.

The relation of an arc is chosen, or summed out, before trees are looked at. Trees are projective (Eisner's algorithm,
see kernels/eisner.h) or any (Chu-Liu-Edmonds and the matrix-tree theorem, kernels/spanning.h), with one root or several.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from cython_ext.kernels cimport eisner, relations, spanning, vector
from cython_ext.structures.choice import padded
from cython_ext.structures.structure cimport SummedStructure
from cython_ext.structures.trees cimport crosses, is_tree, roots_of


cdef class Dependency(SummedStructure):
    """heads, relations: int32[N] of all words (-1 where unknown); offsets: int64[n + 1] first word of each sentence;
    n_labels: R; single_root: whether exactly one word hangs from the root."""

    def __init__(self, heads, relations, offsets, Py_ssize_t n_labels, bint single_root):
        cdef const int64_t[::1] offset_view = offsets
        lengths = np.diff(offsets)
        codes = np.empty(2 * len(heads) + 1, np.int32)
        place = np.arange(len(heads)) + np.repeat(offsets[:len(lengths)], lengths)
        codes[place], codes[place + np.repeat(lengths, lengths)] = heads, relations
        cdef const int32_t[::1] code_view = codes
        self.codes, self.offsets = codes, offsets
        self.code_data, self.offset_data = &code_view[0], &offset_view[0]
        self.n, self.n_labels, self.single_root = len(lengths), n_labels, single_root
        self.stride = 1 if n_labels == 1 else padded(n_labels)
        self.longest = int(lengths.max(initial=0))
        self.max_size = self.longest * (self.longest + 1) * self.stride
        self.max_code, self.max_parts = 2 * self.longest, self.longest

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil:
        return <Py_ssize_t> (self.offset_data[i + 1] - self.offset_data[i])

    cdef Py_ssize_t size_of(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t T = self.length(i)
        return T * (T + 1) * self.stride

    cdef Py_ssize_t code_of(self, Py_ssize_t i) noexcept nogil:
        return 2 * self.length(i)

    cdef const int32_t *gold(self, Py_ssize_t i) noexcept nogil:
        return self.code_data + 2 * self.offset_data[i]

    cdef Py_ssize_t parts(self, Py_ssize_t i, const int32_t *code, int32_t *ids, double *counts) noexcept nogil:
        cdef Py_ssize_t d, T = self.length(i)
        for d in range(T):
            ids[d] = <int32_t> ((d * (T + 1) + code[d]) * self.stride + code[T + d])
            counts[d] = 1.0
        return T

    cdef bint valid(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        cdef Py_ssize_t d, T = self.length(i)
        for d in range(T):
            if not 0 <= code[T + d] < self.n_labels:
                return False
        return is_tree(T, code) and (roots_of(T, code) == 1 or not self.single_root or T == 0)

    # ----------------------------------------------------------------------------- what kinds of trees differ in

    cdef Py_ssize_t tree_scratch(self) noexcept nogil:
        """Doubles that the next two need."""
        return 0

    cdef double best_tree(self, Py_ssize_t T, const double *arcs, double *scratch, int32_t *heads) noexcept nogil:
        """The score and the heads of the best tree; arcs [T, T + 1]. Some tree, where all are forbidden."""
        return 0.0

    cdef double all_trees(self, Py_ssize_t T, const double *arcs, double *scratch, double *mean) noexcept nogil:
        """log sum over all trees, and the probabilities of the arcs."""
        return 0.0

    # ------------------------------------------------------------------------------------------------- oracles

    cdef Py_ssize_t scratch_size(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t T = self.longest
        # twice the scores of arcs; top-k also needs k codes with their values and first words
        return 2 * T * (T + 1) + self.tree_scratch() + (k * (T + 2) + T + 1 if k > 1 else 0)

    cdef void best_relations(self, Py_ssize_t T, const double *theta, double *arcs) noexcept nogil:
        """The score of every arc with its best relation."""
        cdef Py_ssize_t d, h
        if self.n_labels == 1:
            memcpy(arcs, theta, T * (T + 1) * sizeof(double))
            return
        for d in range(T):
            for h in range(T + 1):
                arcs[d * (T + 1) + h] = -INFINITY if h == d + 1 else vector.maximum(
                    self.n_labels, theta + (d * (T + 1) + h) * self.stride)

    cdef Py_ssize_t first_relation(self, const double *row, double value) noexcept nogil:
        """The first relation of an arc with this score."""
        cdef Py_ssize_t r
        for r in range(self.n_labels):
            if row[r] == value:
                return r
        return 0

    cdef double decode(self, Py_ssize_t T, const double *theta, const double *arcs, double *scratch,
                       int32_t *code) noexcept nogil:
        """The best tree with its relations."""
        cdef Py_ssize_t d, at
        cdef double value = self.best_tree(T, arcs, scratch, code)
        for d in range(T):
            at = d * (T + 1) + code[d]
            code[T + d] = <int32_t> self.first_relation(theta + at * self.stride, arcs[at])
        return value

    cdef double max(self, Py_ssize_t i, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        cdef Py_ssize_t T = self.length(i)
        self.best_relations(T, theta, scratch)
        return self.decode(T, theta, scratch, scratch + T * (T + 1), code)

    cdef double exp(self, Py_ssize_t i, const double *theta, double *scratch, double *mean) noexcept nogil:
        cdef Py_ssize_t T = self.length(i), d
        cdef double *arcs = scratch
        cdef double *arc_mean = scratch + T * (T + 1)
        cdef double value
        if self.n_labels == 1:
            return self.all_trees(T, theta, arc_mean + T * (T + 1), mean)
        relations.sum_out(T * (T + 1), self.n_labels, self.stride, theta, mean, arcs)
        for d in range(T):
            arcs[d * (T + 1) + d + 1] = -INFINITY
        value = self.all_trees(T, arcs, arc_mean + T * (T + 1), arc_mean)
        relations.bring_in(T * (T + 1), self.stride, arc_mean, mean)
        return value

    cdef void centre(self, Py_ssize_t i, double *theta) noexcept nogil:
        """Every word has one head and one relation."""
        cdef Py_ssize_t T = self.length(i), S = self.stride, d, h, r
        cdef double top
        for d in range(T):
            top = -INFINITY
            for h in range(T + 1):
                if h != d + 1:
                    top = max(top, vector.maximum(self.n_labels, theta + (d * (T + 1) + h) * S))
            if top == -INFINITY:
                continue
            for h in range(T + 1):
                for r in range(self.n_labels):
                    theta[(d * (T + 1) + h) * S + r] -= top

    cdef Py_ssize_t topk(self, Py_ssize_t i, const double *theta, Py_ssize_t k, double *scratch, double *values,
                         int32_t *codes) noexcept nogil:
        """By partition (Lawler 1972). The outputs that are left after some have been found fall into sets: those that
        agree with one of the found in the words before `first` and differ at that word from all found that do so, too.
        The best one of every set is a candidate, and the best candidate the next to be found; its set, without it, is
        parted by the first word at which an output differs from it."""
        cdef Py_ssize_t T = self.length(i), size = T * (T + 1), count = 0, candidates = 0, first = 0, d
        cdef double *free_arcs = scratch
        cdef double *arcs = scratch + size
        cdef double *tree = arcs + size
        cdef double *value = tree + self.tree_scratch()                 # of the candidates, best first
        cdef int32_t *begin = <int32_t *> (value + k)                   # their first words
        cdef int32_t *candidate = begin + 2 * k                         # and codes
        cdef int32_t *code = candidate + 2 * k * T
        self.best_relations(T, theta, free_arcs)
        values[0] = self.decode(T, theta, free_arcs, tree, codes)
        while True:
            count += 1
            if count == k or values[count - 1] == -INFINITY:
                return count
            memcpy(arcs, free_arcs, size * sizeof(double))
            for d in range(T):
                if d >= first:
                    self.forbid(T, d, theta, codes, count, arcs)
                    candidates = self.consider(T, d, theta, arcs, tree, codes, count, code, k - count, candidates,
                                               value, begin, candidate)
                self.fix(T, d, theta, codes + 2 * T * (count - 1), arcs)
            if candidates == 0:
                return count
            # the best value may be above the one before by rounding
            values[count], first = min(value[0], values[count - 1]), begin[0]
            memcpy(codes + 2 * T * count, candidate, 2 * T * sizeof(int32_t))
            candidates -= 1
            for d in range(candidates):
                value[d], begin[d] = value[d + 1], begin[d + 1]
                memcpy(candidate + 2 * T * d, candidate + 2 * T * (d + 1), 2 * T * sizeof(int32_t))

    cdef void forbid(self, Py_ssize_t T, Py_ssize_t d, const double *theta, const int32_t *codes, Py_ssize_t count,
                     double *arcs) noexcept nogil:
        """Arcs into word d: none that a found output has which agrees with the last one in all words before."""
        cdef Py_ssize_t c, h, r, at
        cdef double best
        cdef bint taken
        for c in range(count):
            if not agree(T, d, codes + 2 * T * c, codes + 2 * T * (count - 1)):
                continue
            h, at = codes[2 * T * c + d], d * (T + 1) + codes[2 * T * c + d]
            best = -INFINITY
            for r in range(self.n_labels):
                if theta[at * self.stride + r] > best and not self.found(T, d, h, r, codes, count):
                    best = theta[at * self.stride + r]
            arcs[at] = best

    cdef bint found(self, Py_ssize_t T, Py_ssize_t d, Py_ssize_t h, Py_ssize_t r, const int32_t *codes,
                    Py_ssize_t count) noexcept nogil:
        """Whether a found output that agrees with the last one before word d has this arc into it."""
        cdef Py_ssize_t c
        for c in range(count):
            if (codes[2 * T * c + d] == h and codes[2 * T * c + T + d] == r
                    and agree(T, d, codes + 2 * T * c, codes + 2 * T * (count - 1))):
                return True
        return False

    cdef void fix(self, Py_ssize_t T, Py_ssize_t d, const double *theta, const int32_t *code,
                  double *arcs) noexcept nogil:
        """Arcs into word d: that of an output alone."""
        cdef Py_ssize_t h
        for h in range(T + 1):
            arcs[d * (T + 1) + h] = -INFINITY
        arcs[d * (T + 1) + code[d]] = theta[(d * (T + 1) + code[d]) * self.stride + code[T + d]]

    cdef Py_ssize_t consider(self, Py_ssize_t T, Py_ssize_t d, const double *theta, const double *arcs, double *tree,
                             const int32_t *codes, Py_ssize_t count, int32_t *code, Py_ssize_t most,
                             Py_ssize_t candidates, double *value, int32_t *begin, int32_t *candidate) noexcept nogil:
        """Puts the best output with these arcs among the `most` best candidates; how many there are."""
        cdef double score = self.best_tree(T, arcs, tree, code)
        cdef Py_ssize_t place, r, e, at
        if score == -INFINITY or (candidates >= most and not score > value[most - 1]):
            return min(candidates, most)
        for e in range(T):
            at = e * (T + 1) + code[e]
            code[T + e] = codes[2 * T * (count - 1) + T + e]            # of a word before d
            if e >= d:
                for r in range(self.n_labels):
                    if theta[at * self.stride + r] == arcs[at] and not (
                            e == d and self.found(T, d, code[e], r, codes, count)):
                        code[T + e] = <int32_t> r
                        break
        place = min(candidates, most - 1)
        while place > 0 and value[place - 1] < score:
            value[place], begin[place] = value[place - 1], begin[place - 1]
            memcpy(candidate + 2 * T * place, candidate + 2 * T * (place - 1), 2 * T * sizeof(int32_t))
            place -= 1
        value[place], begin[place] = score, <int32_t> d
        memcpy(candidate + 2 * T * place, code, 2 * T * sizeof(int32_t))
        return min(candidates + 1, most)


cdef bint agree(Py_ssize_t T, Py_ssize_t d, const int32_t *code, const int32_t *other) noexcept nogil:
    """Whether two outputs have the same arcs into the words before d."""
    cdef Py_ssize_t e
    for e in range(d):
        if code[e] != other[e] or code[T + e] != other[T + e]:
            return False
    return True


cdef class ProjectiveTrees(Dependency):
    """Trees without crossing arcs."""

    cdef bint valid(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        return Dependency.valid(self, i, code) and not crosses(self.length(i), code)

    cdef Py_ssize_t tree_scratch(self) noexcept nogil:
        cdef Py_ssize_t N = self.longest + 1
        return 2 * eisner.CHART * N * N

    cdef double best_tree(self, Py_ssize_t T, const double *arcs, double *scratch, int32_t *heads) noexcept nogil:
        cdef Py_ssize_t chart = eisner.CHART * (T + 1) * (T + 1)
        return eisner.best(T, self.single_root, arcs, scratch, <int32_t *> (scratch + chart), heads)

    cdef double all_trees(self, Py_ssize_t T, const double *arcs, double *scratch, double *mean) noexcept nogil:
        return eisner.sums(T, self.single_root, arcs, scratch, mean)


cdef class SpanningTrees(Dependency):
    """All trees."""

    cdef Py_ssize_t tree_scratch(self) noexcept nogil:
        return max(spanning.forest_size(self.longest), 3 * (self.longest + 1) * (self.longest + 1))

    cdef double best_tree(self, Py_ssize_t T, const double *arcs, double *scratch, int32_t *heads) noexcept nogil:
        return spanning.best(T, self.single_root, arcs, scratch, heads)

    cdef double all_trees(self, Py_ssize_t T, const double *arcs, double *scratch, double *mean) noexcept nogil:
        return spanning.sums(T, self.single_root, arcs, scratch, mean)
