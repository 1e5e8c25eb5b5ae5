"""Averaged stochastic (sub)gradient descent with steps gamma0 / (1 + t / t0) (Pillutla et al. 2018, section 4).

A step costs what its example's features cost, the average included (averaged_weights.pyx).

The dual point of the hinge loss is the average of the outputs that the oracle has given for an example, the p-th of
weight 2 / (p + 1); of the log losses it is the softmax of the scores.
"""

import numpy as np

from libc.stdint cimport int32_t

from cython_ext.objectives.objective cimport MaxObjective, SumObjective
from cython_ext.common.prefixes import prefixed, stripped
from cython_ext.core.problem cimport Problem
from cython_ext.solvers.parts.averaged_weights cimport AveragedWeights
from cython_ext.solvers.parts.radius import largest_gold_norm2
from cython_ext.solvers.parts.first_step import best_first_step
from cython_ext.solvers.options import Option, SolverInfo
from cython_ext.solvers.solver cimport DONE, STOPPED, Solver, Visit
from cython_ext.solvers.visiting cimport VisitingSolver
from cython_ext.solvers.blocks.working_sets cimport WorkingSet, WorkingSets
from cython_ext.structures.workspace cimport Workspace

cdef enum:
    FIRST_STEP_EXAMPLES = 1000  # on which the first step size is chosen
    KEPT_OUTPUTS = 50           # of an example, in the dual point


cdef class Sgd(VisitingSolver):
    """options: as OPTIONS below; seed: of the order of visits."""

    cdef bint sums
    cdef MaxObjective max_objective             # one of the two
    cdef SumObjective sum_objective
    cdef WorkingSets sets                       # of the hinge loss
    cdef Workspace work
    cdef AveragedWeights weights
    cdef readonly double gamma0, t0
    cdef double loss_sum

    def __init__(self, Problem problem not None, options, seed=0):
        VisitingSolver.__init__(self, problem, seed)
        self.sums = problem.sums
        if self.sums:
            self.sum_objective = problem.objective
        else:
            self.max_objective = problem.objective
            self.sets = WorkingSets(problem.structure)
        self.work = Workspace(problem.structure, problem.objective)
        self.weights = AveragedWeights(problem.features)
        self.gamma0 = options['gamma0'] if options['gamma0'] > 0 else best_first_step(
            self._trial, min(1.0 / largest_gold_norm2(problem, self.work), 0.5 / problem.lam), 1.0 / problem.lam)
        self.t0 = options['t0'] if options['t0'] > 0 else 2.0 / (problem.lam * self.gamma0)
        self.weights.clear()

    def _trial(self, step):
        """The objective of the average over one pass with a constant step over the first examples, on these."""
        cdef Py_ssize_t i, count = min(self.problem.n, FIRST_STEP_EXAMPLES)
        cdef double total = 0.0
        cdef const double[::1] w
        cdef const int32_t[::1] stop = self.problem.pool.stop
        self.gamma0, self.t0 = step, np.inf
        self.weights.clear()
        with nogil:
            for i in range(count):
                if stop[0]:
                    break
                self.visit(i)
        w = self.weights.average()
        with nogil:
            for i in range(count):
                if stop[0]:
                    break
                self.problem.features.scores(i, &w[0], self.work.theta)
                total += self.problem.objective.value(i, self.work.theta, self.work)
        self.problem.pool.check()
        return total / count + self.problem.lam / 2 * self.problem.features.inner(w, w)

    def set_start(self, w):
        """Begin at w instead of 0."""
        self.weights.v[:] = w

    def begin_pass(self, stop):
        self.loss_sum = 0.0
        return VisitingSolver.begin_pass(self, stop)

    cdef Visit visit(self, Py_ssize_t i) noexcept nogil:
        """One step. Within a pass the oracle's output is put into the dual point."""
        cdef Py_ssize_t c, part, count
        cdef double step = self.gamma0 / (1.0 + <double> self.weights.t / self.t0), delta = 0.0, factor = 1.0, loss
        self.weights.scores(i, self.work.theta)
        if self.sums:
            loss = self.sum_objective.mean(i, self.work.theta, self.work, self.work.mean)
        else:
            loss = self.max_objective.loss_augmented_max(i, self.work.theta, self.work, self.work.code, &delta, &factor)
        if self.problem.structure.stopped():
            return STOPPED
        self.loss_sum += loss
        self.oracle_calls += 1
        self.weights.shrink(1.0 - step * self.problem.lam)
        count = self.problem.structure.parts(i, self.problem.structure.gold(i), self.work.gold_ids,
                                             self.work.gold_counts)
        if self.sums:
            for c in range(count):
                part = self.work.gold_ids[c]
                self.work.mean[part] = self.work.mean[part] - self.work.gold_counts[c]
            self.weights.add(i, self.work.mean, -step)
        else:
            self.weights.add_parts(i, count, self.work.gold_ids, self.work.gold_counts, step)
            count = self.problem.structure.parts(i, self.work.code, self.work.ids, self.work.counts)
            self.weights.add_parts(i, count, self.work.ids, self.work.counts, -step)
        self.weights.arrive()
        if self.position >= 0 and not self.sums:
            self.remember_output(i, delta)
        return DONE

    cdef void remember_output(self, Py_ssize_t i, double delta) noexcept nogil:
        """Moves weight 2 / (p + 1) of example i to the output in work.code in its p-th pass."""
        cdef WorkingSet *s = self.sets.sets + i
        cdef double share = 2.0 / (self.passes + 2)
        cdef Py_ssize_t j
        for j in range(s.count):
            s.weight[j] *= 1.0 - share
        s.weight[self.sets.hold(i, self.work.code, delta, KEPT_OUTPUTS)] += share
        self.sets.normalise(i)

    def iterates(self):
        w = self.weights.current()
        if self.weights.t == 0:
            return [('current', w)]
        return [('average', self.weights.average()), ('current', w)]

    def dual_value(self):
        if self.sets is None:
            return None
        return self.dual_point().value(self.problem)

    def dual_point(self):
        return None if self.sets is None else self.sets.dual_point()

    def state(self):
        return {
            **Solver.state(self),
            **({} if self.sets is None else prefixed('sets', self.sets.state())),
            **self.weights.state(), 'gamma0': self.gamma0, 't0': self.t0,
            **self.pass_state(), 'loss_sum': self.loss_sum,
        }

    def restore(self, state):
        VisitingSolver.restore(self, state)
        if self.sets is not None:
            self.sets.restore(stripped('sets', state))
        self.weights.restore(state)
        self.gamma0, self.t0, self.loss_sum = state['gamma0'], state['t0'], state['loss_sum']


OPTIONS = {
    'gamma0': Option(float, 0.0, 'first step size; 0: the best of some on the first examples', minimum=0),
    't0': Option(float, 0.0, 'steps after which the step size has halved; 0: 2 / (lambda gamma0), which has a proof; '
                 'n is often better in the first passes where that is longer', minimum=0),
}

INFO = SolverInfo(
    name='sgd',
    summary='averaged stochastic (sub)gradient descent',
    oracle={'hinge': 'max', 'log': 'exp', 'softmax-margin': 'exp'},
    options=OPTIONS,
    certificate='average of its outputs (hinge), softmax of the scores (log losses)',
    paper='Pillutla et al. 2018, section 4',
    make=Sgd,
    starts=('weights',),
)
