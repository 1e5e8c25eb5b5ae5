"""Weights of stochastic (sub)gradient steps and their average, at the cost of what an example's features cost.

w is held as scale * v, so that the shrinking of a step, w *= 1 - gamma lambda, is one multiplication. The average
2 / (t (t + 1)) sum_j j w_j comes from a second vector that takes the same sparse changes: with A_t = sum_j<=t j scale_j
and e_l the l-th change of v, it is 2 / (t (t + 1)) (A_t v_t - sum_l A_l-1 e_l).
"""

import numpy as np

from libc.stdint cimport int32_t

from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.kernels.vectors cimport vector


cdef class AveragedWeights:
    """A step is shrink, any number of add and add_parts, and arrive."""

    def __init__(self, FeatureMap features not None):
        self.features = features
        cdef double[::1] v = features.zeros(), late = features.zeros(), sums = features.zeros()
        self.v, self.v_data = np.asarray(v), &v[0] if len(v) else NULL
        self.late, self.late_data = np.asarray(late), &late[0] if len(late) else NULL
        self.sum, self.sum_data = np.asarray(sums), &sums[0] if len(sums) else NULL
        self.clear()

    def clear(self):
        """Back to w = 0, before the first step."""
        self.v[:] = 0
        self.late[:] = 0
        self.sum[:] = 0
        self.scale, self.weight_sum, self.t = 1.0, 0.0, 0

    cdef void scores(self, Py_ssize_t i, double *theta) noexcept nogil:
        self.features.scores(i, self.v_data, theta)
        vector.scale(self.features.num_parts(i), self.scale, theta)

    cdef void shrink(self, double factor) noexcept nogil:
        """w *= factor."""
        self.t += 1
        self.scale *= max(factor, 1e-6)
        if self.scale < 1e-3:
            self.fold()

    cdef void add(self, Py_ssize_t i, const double *a, double amount) noexcept nogil:
        """w += amount * Phi_i a."""
        cdef double change = amount / self.scale
        self.features.add(i, a, change, self.v_data)
        if self.weight_sum != 0.0:
            self.features.add(i, a, change * self.weight_sum, self.late_data)

    cdef void add_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                        double amount) noexcept nogil:
        """The same for a sparse a."""
        cdef double change = amount / self.scale
        self.features.add_parts(i, count, ids, a, change, self.v_data)
        if self.weight_sum != 0.0:
            self.features.add_parts(i, count, ids, a, change * self.weight_sum, self.late_data)

    cdef void arrive(self) noexcept nogil:
        """Puts w into the average."""
        self.weight_sum += self.t * self.scale

    cdef void fold(self) noexcept nogil:
        """scale = 1 again, before A_t v_t and what is taken off it outgrow their difference: that goes into a vector
        of its own, sum = sum_j j w_j so far."""
        vector.axpy(self.features.dim, self.weight_sum, self.v_data, self.sum_data)
        vector.axpy(self.features.dim, -1.0, self.late_data, self.sum_data)
        vector.scale(self.features.dim, 0.0, self.late_data)
        vector.scale(self.features.dim, self.scale, self.v_data)
        self.weight_sum, self.scale = 0.0, 1.0

    def current(self):
        """w."""
        return self.scale * self.v

    def average(self):
        """The weighted average of the weights after each step; there has been one."""
        average = self.weight_sum * self.v
        average -= self.late
        average += self.sum
        average *= 2.0 / (self.t * (self.t + 1.0))
        return average

    def state(self):
        return {
            'v': self.v.copy(), 'late': self.late.copy(), 'sum': self.sum.copy(), 'scale': self.scale,
            'weight_sum': self.weight_sum, 't': self.t,
        }

    def restore(self, state):
        self.v[:], self.late[:], self.sum[:] = state['v'], state['late'], state['sum']
        self.scale, self.weight_sum, self.t = state['scale'], state['weight_sum'], state['t']
