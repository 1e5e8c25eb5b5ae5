"""Costs of candidates as the data give them: Delta(y_i, y) is that of candidate y."""

import numpy as np

from libc.stdint cimport int32_t

from cython_ext.kernels.vectors cimport vector
from cython_ext.losses.loss cimport DecomposableLoss
from cython_ext.losses.strata import ChoiceStrata
from cython_ext.structures.candidates cimport Candidates


cdef class GivenCosts(DecomposableLoss):
    """structure: the Candidates; costs: float64[N], of all candidates of all examples, not negative, 0 for the gold
    one of each example; None: what the structure's candidates cost."""

    unstratified = None

    cdef Candidates choices
    cdef readonly object costs
    cdef const double *cost_data

    def __init__(self, Candidates structure not None, costs=None):
        costs = structure.costs if costs is None else costs
        cdef const double[::1] view = costs
        if len(view) != structure.total or not np.all(np.isfinite(costs)) or np.min(costs, initial=0) < 0:
            raise ValueError('costs must be finite and not negative, one for each candidate')
        if np.any(costs[structure.offsets[:structure.n] + structure.gold_places]):
            raise ValueError('costs must be zero for the right candidate')
        self.structure = self.choices = structure
        self.costs, self.cost_data = costs, &view[0] if len(view) else NULL

    cdef double value(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        return self.cost_data[self.choices.offset_data[i] + code[0]]

    cdef void add_costs(self, Py_ssize_t i, double scale, double *theta) noexcept nogil:
        vector.axpy(self.choices.count(i), scale, self.cost_data + self.choices.offset_data[i], theta)

    cdef double expected(self, Py_ssize_t i, const double *mean) noexcept nogil:
        return vector.dot(self.choices.count(i), self.cost_data + self.choices.offset_data[i], mean)

    def make_strata(self):
        return ChoiceStrata(self.structure, self)


cdef class WrongCandidates(GivenCosts):
    """1 for every candidate that costs anything."""

    def __init__(self, Candidates structure not None):
        GivenCosts.__init__(self, structure, (structure.costs > 0).astype(np.float64))
