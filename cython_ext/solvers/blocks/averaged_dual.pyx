"""A sparse dual point from full passes of a max or top-K oracle: each pass gives every example a few outputs with
weights, and the dual point moves towards them by the step that is best for the dual. The dual can fall only where a set
is full and an output is dropped.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from cython_ext.objectives.smoothed cimport SmoothedWorkspace
from cython_ext.common.prefixes import prefixed, stripped
from cython_ext.solvers.blocks.working_sets cimport WorkingSet, WorkingSets

cdef enum:
    KEPT_OUTPUTS = 30           # of an example


cdef class AveragedDual:
    """k: most outputs that a pass gives an example. It begins at the gold outputs."""

    def __init__(self, problem, Py_ssize_t k):
        cdef Py_ssize_t i, n = problem.n
        self.structure, self.lam, self.k, self.sets = problem.structure, problem.lam, k, WorkingSets(problem.structure)
        self.sum, self.bias = problem.features.zeros(), 0.0     # mean of E[psi_i], of E[Delta]
        starts_ = np.zeros(n + 1, np.int64)
        for i in range(n):
            starts_[i + 1] = starts_[i] + k * self.structure.code_length(i)
        cdef int64_t[::1] starts = starts_
        cdef int32_t[::1] codes = np.zeros(int(starts_.max()) + 1, np.int32), counts = np.zeros(n, np.int32)
        cdef double[::1] weights = np.zeros(n * k), biases = np.zeros(n * k)
        self.starts, self.codes, self.counts = &starts[0], &codes[0], &counts[0]
        self.weights, self.biases = &weights[0], &biases[0]
        self.arrays = starts, codes, counts, weights, biases

    cdef void note(self, Py_ssize_t i, SmoothedWorkspace work) noexcept nogil:
        """What the oracle has just given example i."""
        cdef Py_ssize_t r, length = self.structure.code_length(i), at = 0
        for r in range(work.count):
            if work.weights[r] > 0.0:
                memcpy(self.codes + self.starts[i] + at * length, work.codes + work.order[r] * length,
                       length * sizeof(int32_t))
                self.weights[i * self.k + at], self.biases[i * self.k + at] = work.weights[r], work.biases[r]
                at += 1
        self.counts[i] = <int32_t> at

    def absorb(self, features, sum, bias):
        """After a pass with these means of E[psi_i] and E[Delta]: a step towards its outputs."""
        cdef Py_ssize_t i
        cdef double rate
        change = sum - self.sum
        slope = bias - self.bias - features.inner(self.sum, change) / self.lam
        curve = features.inner(change, change) / self.lam
        rate = min(max(slope / curve, 0.0), 1.0) if curve > 0 else 1.0 if slope > 0 else 0.0
        if rate == 0.0:
            return
        self.sum += rate * change
        self.bias += rate * (bias - self.bias)
        with nogil:
            for i in range(self.sets.n):
                self.move(i, rate)

    cdef void move(self, Py_ssize_t i, double rate) noexcept nogil:
        cdef WorkingSet *s = self.sets.sets + i
        cdef Py_ssize_t j, r, place, length = self.structure.code_length(i)
        for j in range(s.count):
            s.weight[j] *= 1.0 - rate
        for r in range(self.counts[i]):
            place = self.sets.hold(i, self.codes + self.starts[i] + r * length, self.biases[i * self.k + r],
                                   KEPT_OUTPUTS)
            s.weight[place] += rate * self.weights[i * self.k + r]
        j = 0
        while j < s.count:
            if s.weight[j] < 1e-12 and s.count > 1:
                self.sets.remove(i, j)
            else:
                j += 1
        self.sets.normalise(i)

    def state(self):
        sets = prefixed('sets', self.sets.state())
        return {**sets, 'dual.sum': np.array(self.sum), 'dual.bias': self.bias}

    def restore(self, state):
        self.sets.restore(stripped('sets', state))
        self.sum[:], self.bias = state['dual.sum'], state['dual.bias']
