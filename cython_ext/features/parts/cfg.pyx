"""One weight for each rule of a grammar: a part is a rule, and its feature how often a tree uses it (Tsochantaridis et
al. 2005, section 4.5.1)."""

import numpy as np

from libc.stdint cimport int32_t

from cython_ext.features.capabilities cimport Radius
from cython_ext.features.tokens.generative import GenerativeModel, Pcfg
from cython_ext.features.parts.weights cimport PartWeights
from cython_ext.structures.cfg.cfg cimport Cfg


cdef class RuleFeatures(PartWeights):
    """structure: the Cfg whose parts they are; its parts that are no rules have no weight. A weight vector has a number
    for every rule."""

    helpers = {Radius: RuleRadius, GenerativeModel: Pcfg}

    cdef readonly object grammar

    def __init__(self, Cfg structure not None):
        rows = structure.parts_indptr, structure.part_rules, structure.g.rules
        PartWeights.__init__(self, *rows, structure.unweighted)
        self.grammar = structure.tables.grammar

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


cdef class RuleRadius(Radius):
    def radius2(self, Py_ssize_t i, const int32_t[::1] ids, const double[::1] counts, double most):
        """Rules are orthogonal to each other, and a tree over n words uses `most` of them, at most all the same."""
        rules = (<RuleFeatures> self.features).weighted(i)
        gold = np.bincount(np.asarray(ids), np.asarray(counts), minlength=1)[:rules]
        return float(gold @ gold) + most * most
