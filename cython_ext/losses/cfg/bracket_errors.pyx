"""The number of wrong and of missed brackets: |gold| + |found| - 2 |both|, labelled brackets as F1 has them. A sum over
parts, so that the solvers that need one train parsers (Collins et al. 2008, section 4; Taskar et al. 2004)."""

from libc.stdint cimport int32_t

from cython_ext.losses.loss cimport DecomposableLoss
from cython_ext.structures.cfg.bracketed cimport BracketedCfg


cdef class BracketErrors(DecomposableLoss):
    """structure: a BracketedCfg, whose last two parts are these numbers."""

    cdef BracketedCfg tree

    def __init__(self, BracketedCfg structure not None):
        self.structure, self.tree = structure, structure

    cdef double value(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        cdef Py_ssize_t hits, brackets
        self.tree.counts.of_code(i, code, &hits, &brackets)
        return <double> (self.tree.counts.gold_count(i) + brackets - 2 * hits)

    cdef void add_costs(self, Py_ssize_t i, double scale, double *theta) noexcept nogil:
        cdef Py_ssize_t rules = self.tree.rules_of(i)
        theta[rules] += scale
        theta[rules + 1] += scale

    cdef double expected(self, Py_ssize_t i, const double *mean) noexcept nogil:
        cdef Py_ssize_t rules = self.tree.rules_of(i)
        return mean[rules] + mean[rules + 1]
