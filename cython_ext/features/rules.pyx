"""One weight for each rule of a grammar: a part is a rule, and its feature how often a tree uses it (Tsochantaridis et al.
2005, section 4.5.1)."""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.features.generative import Pcfg
from cython_ext.structures.cfg cimport Cfg


cdef class RuleFeatures(FeatureMap):
    """structure: the Cfg whose parts they are. A weight vector has a number for every rule."""

    cdef Cfg structure
    cdef readonly object grammar

    def __init__(self, Cfg structure not None):
        self.structure, self.grammar = structure, structure.tables.grammar
        self.dim = structure.g.rules

    cdef Py_ssize_t size_of(self, Py_ssize_t i) noexcept nogil:
        return self.structure.size_of(i)

    cdef void scores(self, Py_ssize_t i, const double *w, double *theta) noexcept nogil:
        cdef const int32_t *rules = self.structure.part_rule + self.structure.part_at[i]
        cdef Py_ssize_t p
        for p in range(self.structure.size_of(i)):
            theta[p] = w[rules[p]]

    cdef void add(self, Py_ssize_t i, const double *a, double scale, double *w) noexcept nogil:
        cdef const int32_t *rules = self.structure.part_rule + self.structure.part_at[i]
        cdef Py_ssize_t p
        for p in range(self.structure.size_of(i)):
            w[rules[p]] += scale * a[p]

    cdef void add_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a, double scale,
                        double *w) noexcept nogil:
        cdef const int32_t *rules = self.structure.part_rule + self.structure.part_at[i]
        cdef Py_ssize_t c
        for c in range(count):
            w[rules[ids[c]]] += scale * a[c]

    cdef void gram_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                         double *out) noexcept nogil:
        cdef Py_ssize_t p
        for p in range(self.structure.size_of(i)):
            out[p] = 0.0
        for p in range(count):
            out[ids[p]] += a[p]

    cdef double norm2(self, Py_ssize_t i, const double *a) noexcept nogil:
        cdef Py_ssize_t p
        cdef double total = 0.0
        for p in range(self.structure.size_of(i)):
            total += a[p] * a[p]
        return total

    def spread2(self, Py_ssize_t i, const int32_t[::1] ids, const double[::1] counts, double most):
        """Rules are orthogonal to each other, and a tree over n words uses `most` of them, at most all the same."""
        right = np.bincount(np.asarray(ids), np.asarray(counts), minlength=1)
        return float(right @ right) + most * most

    def generative(self):
        return Pcfg(self.grammar)

    def blocks(self, w):
        """The grammar, and a weight for each of its rules."""
        arrays = {f'grammar.{name}': getattr(self.grammar, name) for name in self.grammar.ARRAYS}
        return {**arrays, 'rule': np.array(w, np.float64)[:self.dim]}

    def weights(self, blocks):
        w = np.ascontiguousarray(blocks['rule'], np.float64)
        if w.shape != (self.dim,):
            raise ValueError(f'{len(w)} weights for {self.dim} rules')
        out = self.zeros()
        out[:] = w
        return out
