"""How many brackets a tree has, and how many of them are gold: of whole trees, and of the edges of a forest.

A bracket is a label with the words that it spans; tags have none, nor has the node on top (TOP, ROOT). Trees may have a
bracket twice, one above the other, and then it counts twice. All brackets over the same words belong to one node of a
code (grammar.py).
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t

from cython_ext.kernels.vectors.search cimport first_from
from cython_ext.structures.cfg.cfg cimport Cfg
from cython_ext.structures.cfg.forest cimport Forest


cdef class BracketCounts:
    """tree: a Cfg that knows the gold trees."""

    def __init__(self, Cfg tree not None):
        cdef const uint8_t[::1] counted = np.append(tree.counted, False).astype(np.uint8)
        self.tree, self.g, self.counted = tree, tree.g, &counted[0]
        self.arrays = [counted]
        self._set_gold()

    def _set_gold(self):
        """Lists the brackets of the gold trees."""
        cdef Py_ssize_t i
        rows = [self._brackets_of(i) for i in range(self.tree.n)]
        cdef const int64_t[::1] at = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        flat = np.array([pair for row in rows for pair in row] + [(0, 0)], np.int32)
        cdef const int32_t[::1] spans = np.ascontiguousarray(flat[:, 0]), labels = np.ascontiguousarray(flat[:, 1])
        self.gold_at, self.gold_span, self.gold_label = &at[0], &spans[0], &labels[0]
        self.arrays += [at, spans, labels]

    def _brackets_of(self, i):
        """[(span, label)] of the gold tree, in order."""
        _, labels, begins, ends = self.tree.tables.grammar.tree(self.tree.gold_code(i).tolist())
        width = self.tree.length(i) + 1
        nodes = zip(labels, begins, ends, strict=True)
        return sorted((begin * width + end, label) for label, begin, end in nodes if self.tree.counted[label])

    cdef Py_ssize_t gold_count(self, Py_ssize_t i) noexcept nogil:
        """The brackets of the gold tree."""
        return <Py_ssize_t> (self.gold_at[i + 1] - self.gold_at[i])

    cdef void of_code(self, Py_ssize_t i, const int32_t *code, Py_ssize_t *hits, Py_ssize_t *brackets) noexcept nogil:
        """Those of a tree; 0 where the code says that there is none."""
        cdef Py_ssize_t at = 0, word = 0
        hits[0] = brackets[0] = 0
        if code[0] >= 0:
            self._walk(i, code, &at, &word, hits, brackets)

    cdef Py_ssize_t brackets(self, Py_ssize_t chain, Py_ssize_t base) noexcept nogil:
        """Brackets of a node: of the labels of a chain, and of the one below unless it is -1."""
        cdef Py_ssize_t k, count = 0
        for k in range(self.g.chain_at[chain], self.g.chain_at[chain + 1]):
            count += self.counted[self.g.lhs[self.g.chain_rule[k]]]
        return count + self.counted[base] if base >= 0 else count

    cdef Py_ssize_t hits(self, Py_ssize_t i, int32_t span, Py_ssize_t chain, Py_ssize_t base) noexcept nogil:
        """How many of these are gold."""
        cdef int64_t low = first_from(self.gold_span, self.gold_at[i], self.gold_at[i + 1], span), p = low, q
        cdef Py_ssize_t k, count = 0
        cdef int32_t label, have
        while p < self.gold_at[i + 1] and self.gold_span[p] == span:
            label = self.gold_label[p]
            have = base == label
            for k in range(self.g.chain_at[chain], self.g.chain_at[chain + 1]):
                have += self.g.lhs[self.g.chain_rule[k]] == label
            for q in range(low, p):                         # the same bracket before this one
                have -= self.gold_label[q] == label
            count += have > 0
            p += 1
        return count

    cdef void _walk(self, Py_ssize_t i, const int32_t *code, Py_ssize_t *at, Py_ssize_t *word, Py_ssize_t *hits,
                    Py_ssize_t *brackets) noexcept nogil:
        """Counts the brackets of the node at a place of a code and of those below."""
        cdef Py_ssize_t begin = word[0], base = -1, _child
        cdef int32_t chain = code[at[0]], rule = code[at[0] + 1]
        at[0] += 2
        if 0 <= rule < self.g.phrasal:
            base = self.g.lhs[rule]
            for _child in range(self.g.rhs_at[rule], self.g.rhs_at[rule + 1]):
                self._walk(i, code, at, word, hits, brackets)
        else:
            word[0] += 1
        brackets[0] += self.brackets(chain, base)
        hits[0] += self.hits(i, <int32_t> (begin * (self.tree.length(i) + 1) + word[0]), chain, base)

    cdef void of_edge(self, Py_ssize_t i, const Forest *f, Py_ssize_t x, int32_t e, Py_ssize_t *hits,
                      Py_ssize_t *brackets) noexcept nogil:
        """What an edge adds to the brackets of a derivation: those of a node, once its highest label is known."""
        cdef Py_ssize_t left = f.left[e], chain = 0, base
        hits[0] = brackets[0] = 0
        if left == 0 or f.symbol[x] < 0 or f.symbol[x] >= self.g.labels:
            return
        if f.symbol[left] >= self.g.labels:
            base = f.symbol[x]
        else:
            chain = self.tree.chain_of(i, f.event[e])
            base = f.symbol[left] if f.symbol[left] >= 0 else -1 - f.symbol[left]
            if f.span[x] % (self.tree.length(i) + 1) - f.span[x] // (self.tree.length(i) + 1) == 1:
                base = -1                                   # a tag
            elif f.symbol[left] >= 0:                       # counted already as a label without a chain
                brackets[0], hits[0] = -self.brackets(0, base), -self.hits(i, f.span[x], 0, base)
        brackets[0] += self.brackets(chain, base)
        hits[0] += self.hits(i, f.span[x], chain, base)
