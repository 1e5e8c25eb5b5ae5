"""The dual of decomposable losses in natural parameters (Collins et al. 2008, section 5): alpha_i = softmax of theta_i,
a number for each part of example i, and w = w(alpha) beside it.

    D(alpha) = 1/n sum_i (E[Delta] + H(alpha_i)) - lambda/2 ||w(alpha)||^2          (no H for the hinge loss)

A step of exponentiated gradient is linear in theta: with scores s_i = Phi_i' w and costs delta_i,

    hinge          theta_i <- theta_i + step (delta_i + s_i)
    log losses     theta_i <- (1 - step) theta_i + step (delta_i + s_i)

(no delta_i for the plain log loss). What it does to the dual is known before w changes: with d the change of the mean
statistics, n (D' - D) = change of E[Delta] and H + <s_i, d> - ||Phi_i d||^2 / (2 lambda n).
"""

import numpy as np

from libc.math cimport fabs
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from cython_ext.duals.natural import NaturalPoint
from cython_ext.features.capabilities cimport Step, Tables
from cython_ext.kernels.vectors cimport vector
from cython_ext.common.arrays import aligned_zeros
from cython_ext.core.problem cimport Problem
from cython_ext.structures.structure cimport SummedStructure
from cython_ext.structures.workspace cimport Workspace

cdef double LARGEST_HINGE_CHANGE = 5.0      # of a natural parameter in one step
cdef double NEGLIGIBLE_CHANGE = 1e-12       # of a mean statistic: waits until there is more of it
cdef double LEAST_PARAMETER = -1e5          # one so far below the largest says no more than this


cdef class NaturalDual:
    """problem: one whose structure has the exp oracle, with a DecomposableLoss or none; start: theta of the parts of
    the gold output, 0 elsewhere."""

    def __init__(self, Problem problem not None, double start):
        self.problem, self.entropic = problem, problem.sums
        if problem.loss_name is not None:
            self.loss = problem.objective.loss
        problem.features.helper(Tables).keep_gram()
        self.step = problem.features.helper(Step)
        self.regularisation = problem.lam
        self.work = Workspace(problem.structure, None)
        cdef int64_t[::1] indptr = problem.structure.part_indptr()
        self.indptr, self.start = np.asarray(indptr), &indptr[0]
        cdef double[::1] w = problem.features.zeros(), theta = aligned_zeros(indptr[problem.n] + 1)
        cdef double[::1] mean = aligned_zeros(indptr[problem.n] + 1)
        cdef double[::1] entropy = np.zeros(problem.n), expected = np.zeros(problem.n)
        self.w, self.w_data = np.asarray(w), &w[0] if len(w) else NULL
        self.theta, self.theta_data = np.asarray(theta), &theta[0]
        self.mean, self.mean_data = np.asarray(mean), &mean[0]
        self.entropy, self.entropy_data = np.asarray(entropy), &entropy[0]
        self.expected, self.expected_data = np.asarray(expected), &expected[0]
        size = problem.structure.max_size + 1
        cdef double[::1] target = aligned_zeros(size), following = aligned_zeros(size), means = aligned_zeros(size)
        cdef double[::1] change = aligned_zeros(size)
        self.vectors = target, following, means, change
        self.target, self.next_theta, self.next_mean = &target[0], &following[0], &means[0]
        self.change = &change[0]
        self._put_gold(start)
        self.recompute()

    def _put_gold(self, double start):
        cdef Py_ssize_t i, c, count
        for i in range(self.problem.n):
            count = self.problem.structure.parts(i, self.problem.structure.gold(i), self.work.ids, self.work.counts)
            for c in range(count):
                self.theta_data[self.start[i] + self.work.ids[c]] = start

    def recompute(self):
        """Mean statistics, entropies, expected losses and w from theta."""
        cdef Py_ssize_t i, count
        cdef double scale = 1.0 / (self.regularisation * self.problem.n)
        self.w[:] = 0
        with nogil:
            for i in range(self.problem.n):
                memcpy(self.next_theta, self.theta_data + self.start[i],
                       self.problem.structure.num_parts(i) * sizeof(double))
                self.measure(i)
                self.store(i)
                count = self.problem.structure.parts(i, self.problem.structure.gold(i), self.work.ids, self.work.counts)
                self.problem.features.add_parts(i, count, self.work.ids, self.work.counts, scale, self.w_data)
                self.problem.features.add(i, self.next_mean, -scale, self.w_data)

    cdef void measure(self, Py_ssize_t i) noexcept nogil:
        """Mean statistics, entropy and expected loss of the distribution of next_theta."""
        cdef Py_ssize_t size = self.problem.structure.num_parts(i)
        self.next_z = (<SummedStructure> self.problem.structure).log_partition(i, self.next_theta, self.work.scratch,
                                                                               self.next_mean)
        self.next_entropy = self.next_z - vector.dot(size, self.next_theta, self.next_mean) if self.entropic else 0.0
        self.next_expected = self.loss.expected(i, self.next_mean) if self.loss is not None else 0.0

    cdef void store(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t size = self.problem.structure.num_parts(i)
        memcpy(self.theta_data + self.start[i], self.next_theta, size * sizeof(double))
        memcpy(self.mean_data + self.start[i], self.next_mean, size * sizeof(double))
        self.entropy_data[i], self.expected_data[i] = self.next_entropy, self.next_expected

    # ------------------------------------------------------------------------------------------------ a visit

    cdef void evaluate(self, Py_ssize_t i) noexcept nogil:
        """target = delta_i + s_i at the present w, and the longest step: 1 for the log losses, which goes all the way
        to it; for the hinge one that cannot run into a corner of the simplex, from which there is hardly a way back."""
        cdef Py_ssize_t k
        cdef double largest = 1e-300
        self.problem.features.scores(i, self.w_data, self.target)
        if self.loss is not None:
            self.loss.add_costs(i, 1.0, self.target)
        self.longest = 1.0
        if not self.entropic:
            for k in range(self.problem.structure.num_parts(i)):
                largest = max(largest, fabs(self.target[k]))
            self.longest = LARGEST_HINGE_CHANGE / largest

    cdef double propose(self, Py_ssize_t i, double step) noexcept nogil:
        """A step from theta_i: n (D' - D), not yet done."""
        cdef Py_ssize_t k, size = self.problem.structure.num_parts(i)
        cdef const double *theta = self.theta_data + self.start[i]
        cdef const double *mean = self.mean_data + self.start[i]
        cdef double keep = 1.0 - step if self.entropic else 1.0, change
        for k in range(size):
            self.next_theta[k] = keep * theta[k] + step * self.target[k]
        if not self.entropic:                   # these grow for ever
            (<SummedStructure> self.problem.structure).subtract_offsets(i, self.next_theta)
            for k in range(size):
                self.next_theta[k] = max(self.next_theta[k], LEAST_PARAMETER)
        self.measure(i)
        for k in range(size):
            change = self.next_mean[k] - mean[k]
            if -NEGLIGIBLE_CHANGE < change < NEGLIGIBLE_CHANGE:     # w stays that of the means
                self.next_mean[k], change = mean[k], 0.0
            self.change[k] = change
        return (vector.dot(size, self.target, self.change) + self.next_entropy - self.entropy_data[i]
                - self.curvature(i))

    cdef double rounding(self) noexcept nogil:
        """The size of the terms that a gain is the difference of."""
        return 1.0 + (fabs(self.next_z) if self.entropic else self.next_expected)

    cdef double curvature(self, Py_ssize_t i) noexcept nogil:
        """||Phi_i change||^2 / (2 lambda n)."""
        return self.step.prepare(i, self.change) / (2.0 * self.regularisation * self.problem.n)

    cdef void accept(self, Py_ssize_t i) noexcept nogil:
        """Does the step that was proposed last."""
        self.store(i)
        self.step.apply(i, self.change, -1.0 / (self.regularisation * self.problem.n), self.w_data)

    # ------------------------------------------------------------------------------------------- all examples

    def linear_part(self):
        """1/n sum_i (E[Delta] + H(alpha_i)), the dual but for the norm of w(alpha)."""
        return float((self.expected.sum() + self.entropy.sum()) / self.problem.n)

    def dual_point(self):
        """The softmax in single precision is as feasible as in double."""
        return NaturalPoint(self.indptr.copy(), self.theta[:self.indptr[self.problem.n]].astype(np.float32))

    def start_from(self, point):
        """Begin at the dual point of another run on the same examples. ValueError when it is of another kind."""
        if not isinstance(point, NaturalPoint) or not np.array_equal(point.theta_indptr, self.indptr):
            raise ValueError('no dual point in natural parameters of these examples')
        self.theta[:len(point.theta)] = point.theta
        self.recompute()

    def start_from_weights(self, const double[::1] w):
        """Begin at alpha_i = softmax of the scores under some weights, costs included."""
        cdef Py_ssize_t i
        self.w[:] = w
        for i in range(self.problem.n):
            self.evaluate(i)
            memcpy(self.theta_data + self.start[i], self.target, self.problem.structure.num_parts(i) * sizeof(double))
        self.recompute()

    def state(self):
        size = int(self.indptr[self.problem.n])
        return {'theta': self.theta[:size].copy(), 'mean': self.mean[:size].copy(), 'entropy': self.entropy.copy(),
                'expected': self.expected.copy(), 'w': self.w.copy(), 'strength': self.regularisation}

    def restore(self, state):
        size = int(self.indptr[self.problem.n])
        self.theta[:size], self.mean[:size] = state['theta'], state['mean']
        self.entropy[:], self.expected[:], self.w[:] = state['entropy'], state['expected'], state['w']
        self.regularisation = state['strength']
