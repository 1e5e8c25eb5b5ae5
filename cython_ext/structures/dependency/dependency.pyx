"""Dependency trees: a head for every word of a sentence, another word or the root, and a relation to it.

A part is an arc with its relation. theta is T rows of T + 1 heads (0 is the root) of `stride` relation scores: the arc
from head h to word d with relation r stands at ((d - 1) (T + 1) + h) stride + r. The stride is 1 where there is one
relation, otherwise the relations are padded to whole vectors; neither the padding nor an arc from a word to itself is
read. An output's code is the heads of its T words followed by their relations.

The relation of an arc is chosen, or summed out, before trees are looked at. Trees are projective (Eisner's algorithm,
see kernels/dependency/eisner.h) or any (Chu-Liu-Edmonds and the matrix-tree theorem, kernels/dependency/spanning.h),
with one root or several. The K best are found by partition (partition.pyx).
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from cython_ext.kernels.dependency cimport eisner, spanning
from cython_ext.kernels.dependency cimport relations as relation_sums
from cython_ext.kernels.vectors cimport vector
from cython_ext.structures cimport partition
from cython_ext.structures.choice import padded
from cython_ext.structures.partition cimport Choices
from cython_ext.structures.structure cimport Structure, SummedStructure
from cython_ext.structures.dependency.trees cimport crosses, is_tree, roots_of


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
        self.choices = ArcChoices(self)

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil:
        return <Py_ssize_t> (self.offset_data[i + 1] - self.offset_data[i])

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t T = self.length(i)
        return T * (T + 1) * self.stride

    cdef Py_ssize_t _code_length(self, Py_ssize_t i) noexcept nogil:
        return 2 * self.length(i)

    cdef const int32_t *gold(self, Py_ssize_t i) noexcept nogil:
        return self.code_data + 2 * self.offset_data[i]

    cdef Py_ssize_t _parts(self, Py_ssize_t i, const int32_t *code, int32_t *ids, double *counts) noexcept nogil:
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
        return partition.scratch_size(self, k) + 2 * T * (T + 1) + self.tree_scratch()      # twice the scores of arcs

    cdef void best_relations(self, Py_ssize_t T, Py_ssize_t first, Py_ssize_t last, const double *theta,
                             double *arcs) noexcept nogil:
        """The score of every arc into the words first, ..., last - 1 with its best relation."""
        cdef Py_ssize_t d, h
        if self.n_labels == 1:
            memcpy(arcs + first * (T + 1), theta + first * (T + 1), (last - first) * (T + 1) * sizeof(double))
            return
        for d in range(first, last):
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

    cdef double decode(self, Py_ssize_t T, Py_ssize_t first, const double *theta, const double *arcs, double *scratch,
                       int32_t *code) noexcept nogil:
        """The best tree, with the relations of the words behind the `first` ones."""
        cdef Py_ssize_t d, at
        cdef double value = self.best_tree(T, arcs, scratch, code)
        for d in range(first, T):
            at = d * (T + 1) + code[d]
            code[T + d] = <int32_t> self.first_relation(theta + at * self.stride, arcs[at])
        return value

    cdef double max(self, Py_ssize_t i, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        cdef Py_ssize_t T = self.length(i)
        self.best_relations(T, 0, T, theta, scratch)
        return self.decode(T, 0, theta, scratch, scratch + T * (T + 1), code)

    cdef double log_partition(self, Py_ssize_t i, const double *theta, double *scratch, double *mean) noexcept nogil:
        cdef Py_ssize_t T = self.length(i), d
        cdef double *arcs = scratch
        cdef double *arc_mean = scratch + T * (T + 1)
        cdef double value
        if self.n_labels == 1:
            return self.all_trees(T, theta, arc_mean + T * (T + 1), mean)
        relation_sums.sum_out(T * (T + 1), self.n_labels, self.stride, theta, mean, arcs)
        for d in range(T):
            arcs[d * (T + 1) + d + 1] = -INFINITY
        value = self.all_trees(T, arcs, arc_mean + T * (T + 1), arc_mean)
        relation_sums.bring_in(T * (T + 1), self.stride, arc_mean, mean)
        return value

    cdef void subtract_offsets(self, Py_ssize_t i, double *theta) noexcept nogil:
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
        return partition.topk(self, self.choices, i, theta, k, scratch, values, codes)


cdef class ArcChoices(Choices):
    """A position is a word, a value the arc into it: its head and its relation."""

    def __init__(self, Dependency trees not None):
        self.trees = trees

    cdef Py_ssize_t positions(self, Py_ssize_t i) noexcept nogil:
        return self.trees.length(i)

    cdef Py_ssize_t values(self, Py_ssize_t i, Py_ssize_t p) noexcept nogil:
        return (self.trees.length(i) + 1) * self.trees.n_labels

    cdef Py_ssize_t part(self, Py_ssize_t i, Py_ssize_t p, Py_ssize_t v) noexcept nogil:
        cdef Py_ssize_t head = v // self.trees.n_labels
        if head == p + 1:
            return -1
        return (p * (self.trees.length(i) + 1) + head) * self.trees.stride + v % self.trees.n_labels

    cdef Py_ssize_t chosen(self, Py_ssize_t i, Py_ssize_t p, const int32_t *code) noexcept nogil:
        cdef Py_ssize_t T = self.trees.length(i)
        return (p * (T + 1) + code[p]) * self.trees.stride + code[T + p]

    cdef void force(self, Py_ssize_t i, Py_ssize_t p, Py_ssize_t only, const double *theta,
                    double *scores) noexcept nogil:
        """The other values stay: best_without does not look at them."""
        scores[only] = theta[only]

    cdef void found(self, Py_ssize_t i, const double *scores, const int32_t *code, double *scratch) noexcept nogil:
        """From the scores of arcs that max has left, each with its best relation: those into words behind p are the
        same for all sets."""
        cdef Py_ssize_t size = self.trees.length(i) * (self.trees.length(i) + 1)
        memcpy(scratch + size, scratch, size * sizeof(double))

    cdef double best_without(self, Structure structure, Py_ssize_t i, Py_ssize_t p, const double *scores,
                             const int32_t *code, double *scratch, int32_t *best) noexcept nogil:
        cdef Py_ssize_t T = self.trees.length(i), d, h
        cdef double *arcs = scratch + T * (T + 1)
        for d in range(p):
            for h in range(T + 1):
                arcs[d * (T + 1) + h] = -INFINITY
            arcs[d * (T + 1) + code[d]] = scores[self.chosen(i, d, code)]
        self.trees.best_relations(T, p, p + 1, scores, arcs)
        memcpy(best + T, code + T, p * sizeof(int32_t))
        return self.trees.decode(T, p, scores, arcs, arcs + T * (T + 1), best)


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
