"""Batch Frank-Wolfe for the structured hinge loss (Lacoste-Julien et al. 2013, Algorithm 2).

The dual is max D(alpha) = 1/n sum_i E_alpha_i[b] - lambda/2 ||w(alpha)||^2 over one distribution per example, with b
and c of the objective (Delta and 1 for margin rescaling) and w(alpha) = 1/(lambda n) sum_i E_alpha_i[c psi_i]. The
linear problem that Frank-Wolfe solves in every iteration is one call of the max oracle per example: its corner puts all
weight on the most violating outputs, has the weights w_s and the loss mean b_s, and

    P(w) - D(alpha) = lambda <w, w - w_s> - 1/n sum_i E_alpha_i[b] + b_s,

so the duality gap of every iterate is known exactly without further work. The step towards the corner is the one that
maximises D: the gap over lambda ||w - w_s||^2, at most 1. Everything happens in weight vectors and part statistics.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from cython_ext.common.prefixes import prefixed, stripped
from cython_ext.core.problem cimport Problem
from cython_ext.core.problem import Evaluation
from cython_ext.duals.sparse import listed
from cython_ext.features.accumulators cimport Accumulator
from cython_ext.objectives.objective cimport MaxObjective
from cython_ext.solvers.blocks.working_sets cimport WorkingSet, WorkingSets
from cython_ext.solvers.options import SolverInfo
from cython_ext.solvers.solver cimport Solver
from cython_ext.structures.workspace cimport Workspace


cdef class FrankWolfe(Solver):
    """A pass is one iteration: the step, then the oracle at the new weights; the first one begins with the oracle at
    the start. There is nothing random: seed is not used, and there are no options.

    Every output that an example has met keeps its weight, which shrinks but seldom vanishes: the dual point grows
    with the iterations.
    """

    cdef MaxObjective objective
    cdef readonly WorkingSets sets
    cdef readonly object w, direction           # weight vectors; direction = w_s - w where `ready`
    cdef readonly double norm2, dual, primal    # ||w||^2, D and P of w; P where `ready`
    cdef readonly bint ready                    # the oracle has been asked at w
    cdef bint stepped                           # this pass has taken its step
    # what the oracle said at w
    cdef object losses                          # l_i, float64[n]
    cdef object code_indptr, codes, biases      # the most violating outputs: int64[n + 1], int32, b float64[n]
    cdef Accumulator total

    def __init__(self, Problem problem not None, options, seed=0):
        Solver.__init__(self, problem)
        cdef Py_ssize_t i
        self.objective = problem.objective
        self.sets = WorkingSets(problem.structure)
        self.w, self.direction = problem.features.zeros(), problem.features.zeros()
        self.losses, self.biases = np.zeros(problem.n), np.zeros(problem.n)
        self.code_indptr = np.zeros(problem.n + 1, np.int64)
        for i in range(problem.n):
            self.code_indptr[i + 1] = self.code_indptr[i] + problem.structure.code_length(i)
        self.codes = np.zeros(self.code_indptr[problem.n] + 1, np.int32)

    def run_pass(self, stop):
        if not self.ready and not self._ask(stop):
            return False
        if not self.stepped:
            self._step()
            if not self._ask(stop):
                return False
        self.stepped = False
        self.passes += 1
        return True

    # ------------------------------------------------------------------------------------------------- the oracle

    def _ask(self, stop):
        """The oracle at w: outputs, objective and direction. False when the stop flag came first."""
        problem = self.problem
        if self.total is None:
            self.total = problem.accumulator()
        self.total.clear(problem.pool)
        shared = self.w, self.losses, self.biases, self.code_indptr, self.codes, stop
        problem.sweep(self._ask_chunk, *shared, total=self.total)
        if stop[0]:
            return False
        self.total.total(self.direction, problem.pool)
        self.direction /= problem.lam * problem.n
        self.direction -= self.w
        self.primal = problem.lam / 2 * self.norm2 + self.losses.sum() / problem.n
        self.oracle_calls += problem.n
        self.ready = True
        self.finished = self.primal <= self.dual            # to the last digit
        return True

    def _ask_chunk(self, const double[::1] w, double[::1] losses, double[::1] biases, const int64_t[::1] code_indptr,
                   int32_t[::1] codes, const int32_t[::1] stop, Accumulator total, Py_ssize_t chunk, Py_ssize_t begin,
                   Py_ssize_t end):
        """The most violating outputs of a range of examples, and c psi of them put into the total."""
        cdef Workspace work = Workspace(self.problem.structure, self.objective)
        cdef Py_ssize_t i, count
        cdef double scale
        cdef int32_t *code
        with nogil:
            for i in range(begin, end):
                if stop[0]:
                    break
                code = &codes[code_indptr[i]]
                self.problem.features.scores(i, &w[0], work.theta)
                losses[i] = self.objective.loss_augmented_max(i, work.theta, work, code, &biases[i], &scale)
                count = self.problem.structure.parts(i, self.problem.structure.gold(i), work.ids, work.counts)
                total.put_parts(chunk, i, count, work.ids, work.counts, scale)
                count = self.problem.structure.parts(i, code, work.ids, work.counts)
                total.put_parts(chunk, i, count, work.ids, work.counts, -scale)

    # --------------------------------------------------------------------------------------------------- the step

    def _step(self):
        """w and the dual point move towards the corner, as far as D rises."""
        problem = self.problem
        gap = self.primal - self.dual
        curve = problem.lam * problem.features.inner(self.direction, self.direction)
        step = 0.0 if gap <= 0 else gap / curve if gap < curve else 1.0
        self.direction *= step
        self.w += self.direction
        self._move_weights(step, self.biases, self.code_indptr, self.codes)
        self._arrive()
        self.stepped = True

    def _arrive(self):
        """What is known of a new w before the oracle is asked."""
        self.norm2 = self.problem.features.inner(self.w, self.w)
        self.dual = self.sets.mean_loss() - self.problem.lam / 2 * self.norm2
        self.ready = False

    def _move_weights(self, double step, const double[::1] biases, const int64_t[::1] code_indptr, int32_t[::1] codes):
        """alpha = (1 - step) alpha + step * corner."""
        cdef Py_ssize_t i
        cdef bint room = True
        with nogil:
            for i in range(self.problem.n):
                room = self.move(i, step, biases[i], &codes[code_indptr[i]])
                if not room:
                    break
        if not room:
            raise MemoryError

    cdef bint move(self, Py_ssize_t i, double step, double bias, const int32_t *code) noexcept nogil:
        """The same for one example; False when there is no memory for another output."""
        cdef WorkingSet *s = self.sets.sets + i
        cdef Py_ssize_t j, place = self.sets.find(i, code)
        if place < 0 and step > 0.0:
            # sets get large here, so they grow by factors
            if s.count == s.capacity and not self.sets.reserve(i, s.count + s.count // 2 + 1):
                return False
            place = self.sets.append(i, code, bias, 0.0)
        for j in range(s.count):
            s.weight[j] *= 1.0 - step
        if step > 0.0:
            s.weight[place] += step
        for j in range(s.count - 1, -1, -1):
            if s.weight[j] == 0.0:
                self.sets.remove(i, j)
        return True

    # --------------------------------------------------------------------------------------- what others ask for

    def set_dual_point(self, point):
        """Begin at a sparse dual point (of the same examples, for any lambda) instead of the gold outputs."""
        _, w = point.certify(self.problem)
        point = listed(point)
        sizes = np.diff(point.indptr)
        masses = np.add.reduceat(point.weights, point.indptr[:self.problem.n])
        delta = self._biases(point.indptr, point.code_indptr, np.append(point.codes, np.int32(0)))
        self.sets.restore({**point.arrays(), 'weights': point.weights / np.repeat(masses, sizes), 'delta': delta,
                           'used': np.zeros(len(delta), np.int64), 'gram': np.zeros(0)})
        self.w[:] = w
        self._arrive()

    def _biases(self, const int64_t[::1] indptr, const int64_t[::1] code_indptr, const int32_t[::1] codes):
        """b of the outputs of a dual point."""
        cdef double[::1] biases = np.zeros(len(code_indptr) - 1)
        cdef double scale
        cdef Py_ssize_t i, o
        for i in range(self.problem.n):
            for o in range(indptr[i], indptr[i + 1]):
                self.objective.terms(i, &codes[code_indptr[o]], &biases[o], &scale)
        return np.asarray(biases)

    def iterates(self):
        return [('current', self.w)]

    def evaluation(self):
        return Evaluation(self.primal, self.losses) if self.ready else None

    def estimate(self):
        return (self.primal, self.dual) if self.ready else None

    def dual_value(self):
        return self.dual

    def dual_point(self):
        return self.sets.dual_point()

    def state(self):
        return {
            **Solver.state(self), **prefixed('sets', self.sets.state()),
            'w': self.w.copy(), 'direction': self.direction.copy(), 'losses': self.losses.copy(),
            'codes': self.codes.copy(), 'biases': self.biases.copy(), 'dual': self.dual, 'primal': self.primal,
            'norm2': self.norm2, 'ready': bool(self.ready), 'stepped': bool(self.stepped),
        }

    def restore(self, state):
        Solver.restore(self, state)
        self.sets.restore(stripped('sets', state))
        self.w[:], self.direction[:], self.losses[:] = state['w'], state['direction'], state['losses']
        self.codes[:], self.biases[:] = state['codes'], state['biases']
        self.dual, self.primal, self.norm2 = state['dual'], state['primal'], state['norm2']
        self.ready, self.stepped = state['ready'], state['stepped']


INFO = SolverInfo(
    name='fw',
    summary='batch Frank-Wolfe with exact line search',
    oracle={'hinge': 'max'},
    options={},
    certificate='its own dual point',
    paper='Lacoste-Julien et al. 2013, Algorithm 2',
    make=FrankWolfe,
    starts=('dual-point',),
    variants=('slack',),
    kernels=True,
)
