"""Batch exponentiated gradient (Collins et al. 2008, Figure 1): one step of all examples at once, at the same w.

The step size is halved until the dual does not fall, and grows by a twentieth after a success (section 7), up to 1 for
the log losses. With a fixed step eta <= 1 / (n |A|), A the inner products of all psi over lambda n (for the log losses
1 / (1 + n |A|)), Theorem 1 bounds what is left of the dual after T steps by KL(alpha* || alpha_1) / (n eta T).
"""

import numpy as np

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t

from cython_ext.features.accumulators cimport Accumulator
from cython_ext.kernels.vectors cimport vector
from cython_ext.core.problem cimport Problem
from cython_ext.solvers.blocks.natural_dual cimport NaturalDual
from cython_ext.solvers.options import Option, SolverInfo
from cython_ext.solvers.solver cimport Solver
from cython_ext.structures.structure cimport SummedStructure
from cython_ext.structures.workspace cimport Workspace

STEP_GROWTH = 1.05
LARGEST_HINGE_STEP = 1e6
DUAL_ROUNDING = 1e-13                # of the dual: one that falls by less has not fallen
MOST_HALVINGS = 60


cdef class EgBatch(Solver):
    """options: as OPTIONS below; nothing is random, seed is not used."""

    cdef readonly NaturalDual dual
    cdef readonly object first                  # weights that a start was asked for with, or None
    cdef readonly double step
    cdef readonly bint fixed
    cdef double largest
    cdef object following, gains, total         # theta, E[Delta] + H and sum of s(y_i) - E[s] after a step
    cdef readonly object dual_now

    def __init__(self, Problem problem not None, options, seed=0):
        Solver.__init__(self, problem)
        self.dual = NaturalDual(problem, options['start'])
        self.fixed, self.step = options['step'] > 0, options['step'] or 1.0
        self.largest = 1.0 if self.dual.entropic else LARGEST_HINGE_STEP
        self.following = np.zeros_like(self.dual.theta)
        self.gains = np.empty(problem.n)
        self.total = problem.accumulator()
        self.dual_now = self._value(self.dual.w, self.dual.linear_part())

    def _value(self, w, linear_part):
        return linear_part - self.problem.lam / 2 * self.problem.features.inner(w, w)

    def run_pass(self, int32_t[::1] stop):
        problem, w = self.problem, self.problem.features.zeros()
        for _ in range(MOST_HALVINGS):
            self.total.clear(problem.pool)
            problem.sweep(self._examples, stop, total=self.total)
            if stop[0]:
                return False
            self.oracle_calls += problem.n
            self.total.total(w, problem.pool)
            w /= problem.lam * problem.n
            value = self._value(w, self.gains.sum() / problem.n)
            if self.fixed or value >= self.dual_now - DUAL_ROUNDING * fabs(self.dual_now):
                self.dual.theta[:], self.dual.w[:] = self.following, w
                self.dual_now = value
                if not self.fixed:
                    self.step = min(STEP_GROWTH * self.step, self.largest)
                break
            self.step *= 0.5
        else:
            self.finished = True
        self.passes += 1
        return True

    def _examples(self, const int32_t[::1] stop, Accumulator total, Py_ssize_t chunk, Py_ssize_t begin, Py_ssize_t end):
        """The step of a range of examples."""
        cdef Problem problem = self.problem
        cdef SummedStructure structure = problem.structure
        cdef NaturalDual dual = self.dual
        cdef Workspace work = Workspace(structure, None)
        cdef const double[::1] w = dual.w
        cdef const int64_t[::1] indptr = dual.indptr
        cdef double[::1] following = self.following, gains = self.gains
        cdef const double *theta
        cdef double *to
        cdef double z, keep = 1.0 - self.step if dual.entropic else 1.0, step = self.step
        cdef Py_ssize_t i, c, size
        with nogil:
            for i in range(begin, end):
                if stop[0]:
                    break
                size, theta, to = structure.num_parts(i), dual.theta_data + indptr[i], &following[indptr[i]]
                problem.features.scores(i, &w[0], work.theta)
                if dual.loss is not None:
                    dual.loss.add_costs(i, 1.0, work.theta)
                for c in range(size):
                    to[c] = keep * theta[c] + step * work.theta[c]
                if not dual.entropic:
                    structure.subtract_offsets(i, to)
                z = structure.log_partition(i, to, work.scratch, work.mean)
                gains[i] = z - vector.dot(size, to, work.mean) if dual.entropic else 0.0
                if dual.loss is not None:
                    gains[i] += dual.loss.expected(i, work.mean)
                problem.put_expected(total, chunk, i, work)

    # --------------------------------------------------------------------------------------- what others ask for

    def set_dual_point(self, point):
        """Begin at a dual point in natural parameters (of the same examples, for any lambda)."""
        self.dual.start_from(point)
        if self.first is None:
            self.first = self.dual.w.copy()
        self.dual_now = self._value(self.dual.w, self.dual.linear_part())

    def set_start(self, w):
        """Begin at the softmax of the scores under w."""
        self.first = np.array(w)
        self.dual.start_from_weights(w)
        self.dual_now = self._value(self.dual.w, self.dual.linear_part())

    def iterates(self):
        if self.passes == 0:                        # w(alpha) of the usual start can be worse than no weights
            return [('start', self.problem.features.zeros() if self.first is None else self.first)]
        return [('current', self.dual.w)]

    def dual_value(self):
        return self.dual_now

    def dual_point(self):
        return self.dual.dual_point()

    def state(self):
        size = int(self.dual.indptr[self.problem.n])
        return {**Solver.state(self), 'first': np.zeros(0) if self.first is None else self.first,
                'theta': self.dual.theta[:size].copy(), 'w': self.dual.w.copy(),
                'step': self.step, 'dual_now': float(self.dual_now)}

    def restore(self, state):
        Solver.restore(self, state)
        self.first = np.array(state['first']) if len(state['first']) else None
        self.dual.theta[:len(state['theta'])], self.dual.w[:] = state['theta'], state['w']
        self.step, self.dual_now = state['step'], state['dual_now']


OPTIONS = {
    'step': Option(float, 0.0, 'fixed step size eta; 0: adapted, 1 at first', minimum=0),
    'start': Option(float, 0.0, 'natural parameters of the right outputs at the start; 0: uniform distributions',
                    minimum=0),
}

INFO = SolverInfo(
    name='eg-batch',
    summary='batch exponentiated gradient on the dual',
    oracle={'hinge': 'exp', 'log': 'exp', 'softmax-margin': 'exp'},
    options=OPTIONS,
    certificate='its own dual point, in natural parameters',
    paper='Collins et al. 2008, Figure 1',
    make=EgBatch,
    starts=('weights', 'dual-point'),
    kernels=True,
    decomposable=True,
    part_bytes=36,                  # theta, means, theta of the next pass and of a checkpoint, and singles in the model
)
