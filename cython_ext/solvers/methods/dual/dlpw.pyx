"""Dual losses and primal weights (Meshi, Sontag, Jaakkola and Globerson 2010): the relaxed problem as the minimum over
both the weights and the messages,

    g(w, delta) = lambda/2 ||w||^2 + 1/n sum_i [ sum_v max_s (theta_v(s; w) + sum_{c: v in c} delta_cv(s))
                                              + sum_c max_y (theta_c(y; w) - sum_{v in c} delta_cv(y_v)) ],

((2) of Meshi, Srebro and Hazan 2015, with the costs in theta and less the score of the gold output). A visit of an
example minimises over its messages block by block (relaxations/messages.pyx), and then takes a subgradient step on w;
with smoothing, the maxima are T log sum exp(. / T) in both (Hazan and Urtasun 2010). Steps are eta / (t + t0), the
paper's but for t0: where lambda is small and an example has many factors, those of the first passes lead so far away
that it takes thousands to come back.

Any messages bound the loss of an example at any w, so the primal that is reported is g at the weights of the result,
with maxima and after some more sweeps, and no linear program is asked for it. The dual point is the average of the
beliefs of all visits, the p-th of weight 2 / (p + 1), where those of factors are made to agree with those of nodes
(local_marginals.pyx), and mixed with the gold outputs as far as that is better.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from cython_ext.core.local_marginals cimport agree
from cython_ext.core.problem import Evaluation
from cython_ext.core.problem cimport Problem
from cython_ext.duals.sparse import SparsePoint
from cython_ext.losses.loss cimport DecomposableLoss
from cython_ext.relaxations.messages cimport Messages
from cython_ext.solvers.options import Option, SolverInfo
from cython_ext.solvers.parts.averaged_weights cimport AveragedWeights
from cython_ext.solvers.parts.first_step import best_first_step
from cython_ext.solvers.parts.radius import largest_gold_norm2
from cython_ext.solvers.solver cimport DONE, Solver, Visit
from cython_ext.solvers.visiting cimport VisitingSolver
from cython_ext.structures.graph.factor_graphs cimport FactorGraphs
from cython_ext.structures.workspace cimport Workspace

cdef enum:
    FIRST_STEP_EXAMPLES = 300   # on which the first step size is chosen,
    FIRST_STEP_PASSES = 10      # over them at most, where they are fewer
    EVALUATION_SWEEPS = 10      # over a copy of the messages before the primal is read off them

cdef double CONSTANT_STEP_T0 = 1e12     # with which steps hardly change
cdef double LEAST_TEMPERATURE = 1e-6


cdef class Dlpw(VisitingSolver):
    """options: as OPTIONS below; seed: of the order of visits."""

    cdef Messages messages
    cdef FactorGraphs graphs
    cdef DecomposableLoss loss
    cdef Workspace work
    cdef AveragedWeights weights
    cdef object delta, beliefs, part_indptr, memory     # messages, averaged beliefs and their ranges, of all examples
    cdef double *delta_data
    cdef double *belief_data
    cdef const int64_t *part_begin
    cdef double *scratch
    cdef readonly double step, t0
    cdef double temperature
    cdef Py_ssize_t sweeps
    cdef bint average

    def __init__(self, Problem problem not None, options, seed=0):
        VisitingSolver.__init__(self, problem, seed)
        self.messages, self.graphs = problem.structure.messages, problem.structure.graphs
        self.loss = problem.objective.loss
        self.work, self.weights = Workspace(problem.structure, None), AveragedWeights(problem.features)
        if 0 < options['smoothing'] < LEAST_TEMPERATURE:
            raise ValueError(f'smoothing={options["smoothing"]:g} drowns in rounding '
                             f'(expected 0, or at least {LEAST_TEMPERATURE:g})')
        self.temperature, self.sweeps, self.average = options['smoothing'], options['sweeps'], options['average']
        cdef int64_t[::1] begin = problem.structure.part_indptr()
        cdef double[::1] delta = np.zeros(self.messages.agreements.n + 1), beliefs = np.zeros(begin[problem.n] + 1)
        cdef double[::1] scratch = np.empty(self.messages.scratch_size + 1)
        self.delta, self.delta_data = np.asarray(delta), &delta[0]
        self.beliefs, self.belief_data = np.asarray(beliefs), &beliefs[0]
        self.part_indptr, self.part_begin = np.asarray(begin), &begin[0]
        self.memory, self.scratch = scratch, &scratch[0]
        self.step = options['step'] if options['step'] > 0 else 1.0 / problem.lam
        self.t0 = options['t0'] if options['t0'] > 0 else max(1.0, self.step / self._first_step())
        self._begin()

    def _first_step(self):
        eta = self.step
        first = best_first_step(self._trial, 1.0 / largest_gold_norm2(self.problem, self.work), INFINITY)
        self.step = eta
        return first

    def _trial(self, step):
        """The sum of the bounds that are met on the way with a constant step over the first examples. Where these are
        few, several times over: in a single pass over them, no step at all is the best."""
        cdef Py_ssize_t i, _turn, count = min(self.problem.n, FIRST_STEP_EXAMPLES)
        cdef Py_ssize_t turns = min(FIRST_STEP_PASSES, (FIRST_STEP_EXAMPLES + count - 1) // count)
        cdef double total = 0.0
        cdef const int32_t[::1] stop = self.problem.pool.stop
        self.t0, self.step = CONSTANT_STEP_T0, CONSTANT_STEP_T0 * step
        self._begin()
        with nogil:
            for _turn in range(turns):
                for i in range(count):
                    if stop[0]:
                        break
                    total += self.minimise(i)
        self.problem.pool.check()
        return total

    def _begin(self):
        """Weights and messages 0, and beliefs in the gold outputs."""
        cdef Py_ssize_t i, c, count
        self.weights.clear()
        self.delta[:] = self.beliefs[:] = 0
        for i in range(self.problem.n):
            count = self.problem.structure.parts(i, self.problem.structure.gold(i), self.work.ids, self.work.counts)
            for c in range(count):
                self.belief_data[self.part_begin[i] + self.work.ids[c]] = self.work.counts[c]

    cdef Visit visit(self, Py_ssize_t i) noexcept nogil:
        self.minimise(i)
        return DONE

    cdef double minimise(self, Py_ssize_t i) noexcept nogil:
        """Minimises over the messages of an example, and takes a step on w; returns what they bound its loss by."""
        cdef double *mean = self.work.mean
        cdef double *belief = self.belief_data + self.part_begin[i]
        cdef double share = 2.0 / (self.passes + 2), step = self.step / (self.weights.t + self.t0), bound = 0.0
        cdef Py_ssize_t c, p, count = self.problem.structure.parts(i, self.problem.structure.gold(i), self.work.ids,
                                                                   self.work.counts)
        self.weights.scores(i, self.work.theta)
        for c in range(count):
            bound -= self.work.theta[self.work.ids[c]] * self.work.counts[c]
        self.loss.add_costs(i, 1.0, self.work.theta)
        bound += self.messages.minimise(i, self.work.theta, self.delta_data + self.messages.agreements.begin[i],
                                        self.temperature, self.sweeps, self.scratch)
        self.messages.beliefs(i, self.work.theta, self.temperature, mean)
        self.oracle_calls += 1
        for p in range(self.part_begin[i + 1] - self.part_begin[i]):
            belief[p] += share * (mean[p] - belief[p])
        for c in range(count):
            mean[self.work.ids[c]] -= self.work.counts[c]
        self.weights.shrink(1.0 - step * self.problem.lam)
        self.weights.add(i, mean, -step)
        self.weights.arrive()
        return bound

    # ------------------------------------------------------------------------------------------ the two bounds

    def evaluation(self):
        """g at the iterate: an upper bound of P."""
        (_, w), = self.iterates()
        problem, losses = self.problem, np.empty(self.problem.n)
        problem.sweep(self._bound, w, losses)
        return Evaluation(problem.lam / 2 * problem.features.inner(w, w) + losses.sum() / problem.n, losses)

    def _bound(self, const double[::1] w, double[::1] losses, Py_ssize_t begin, Py_ssize_t end):
        """Bounds of the losses of a range of examples, from copies of their messages."""
        cdef Workspace work = Workspace(self.problem.structure, None)
        cdef const int64_t *of_example = self.messages.agreements.begin
        cdef const int32_t[::1] stop = self.problem.pool.stop
        cdef Py_ssize_t i, c, count, most = 0
        for i in range(begin, end):
            most = max(most, of_example[i + 1] - of_example[i])
        cdef double[::1] delta = np.empty(most + 1), scratch = np.empty(self.messages.scratch_size + 1)
        with nogil:
            for i in range(begin, end):
                if stop[0]:
                    break
                self.problem.features.scores(i, &w[0], work.theta)
                count = self.problem.structure.parts(i, self.problem.structure.gold(i), work.ids, work.counts)
                losses[i] = 0.0
                for c in range(count):
                    losses[i] -= work.theta[work.ids[c]] * work.counts[c]
                self.loss.add_costs(i, 1.0, work.theta)
                memcpy(&delta[0], self.delta_data + of_example[i], (of_example[i + 1] - of_example[i]) * sizeof(double))
                losses[i] += self.messages.minimise(i, work.theta, &delta[0], 0.0, EVALUATION_SWEEPS, &scratch[0])

    def dual_value(self):
        return self._agreeing()[1]

    def dual_point(self):
        points, _, share = self._agreeing()
        self.problem.sweep(self._mix, points, share)
        return self._as_point(points)

    def _agreeing(self):
        """(agreeing beliefs of all examples, D of the best point on the way to them from the gold outputs, the share
        of the way): D is a parabola there, since E[Delta] is linear and w(alpha) is 0 at the gold outputs."""
        points = self.beliefs[:len(self.beliefs) - 1].copy()
        self.problem.sweep(self._agree, points)
        value, w = self._as_point(points).certify(self.problem)
        curve = self.problem.lam * self.problem.features.inner(w, w)
        loss = value + curve / 2
        share = min(1.0, max(0.0, loss / curve)) if curve > 0 else 1.0
        return points, share * loss - share * share * curve / 2, share

    def _as_point(self, points):
        """A dual point with one output of each example, a point of its polytope."""
        n, words = self.problem.n, sizeof(double) // sizeof(int32_t)
        return SparsePoint(np.arange(n + 1), np.ones(n), words * self.part_indptr, points.view(np.int32))

    def _mix(self, double[::1] points, double share, Py_ssize_t begin, Py_ssize_t end):
        """Moves the points of a range of examples towards the gold outputs."""
        cdef Workspace work = Workspace(self.problem.structure, None)
        cdef Py_ssize_t i, c, count
        cdef int64_t p
        with nogil:
            for i in range(begin, end):
                for p in range(self.part_begin[i], self.part_begin[i + 1]):
                    points[p] *= share
                count = self.problem.structure.parts(i, self.problem.structure.gold(i), work.ids, work.counts)
                for c in range(count):
                    points[self.part_begin[i] + work.ids[c]] += (1.0 - share) * work.counts[c]

    def _agree(self, double[::1] points, Py_ssize_t begin, Py_ssize_t end):
        """Lets the factors of a range of examples agree with their nodes."""
        cdef double[::1] rest = np.empty(max([sum(kind.states) for kind in self.graphs.layout.types], default=0) + 1)
        cdef const int32_t[::1] stop = self.problem.pool.stop
        cdef Py_ssize_t i, s
        cdef int64_t f, first
        cdef double *mean
        with nogil:
            for i in range(begin, end):
                if stop[0]:
                    break
                s, mean = self.graphs.shape_of[i], &points[self.part_begin[i]]
                first = self.graphs.factor_begin[s]
                for f in range(first + self.graphs.nodes[s], self.graphs.factor_begin[s + 1]):
                    agree(self.graphs, f, first, mean, mean + self.graphs.part[f], &rest[0])

    def iterates(self):
        if self.average and self.weights.t > 0:
            return [('average', self.weights.average())]
        return [('current', self.weights.current())]

    def state(self):
        return {
            **Solver.state(self), **self.weights.state(), 'messages': self.delta.copy(), 'beliefs': self.beliefs.copy(),
            **self.pass_state(), 't0': self.t0,
        }

    def restore(self, state):
        VisitingSolver.restore(self, state)
        self.weights.restore(state)
        self.delta[:], self.beliefs[:] = state['messages'], state['beliefs']
        self.t0 = state['t0']


OPTIONS = {
    'step': Option(float, 0.0, 'eta of the steps eta / (t + t0) on the weights; 0: 1 / lambda', minimum=0),
    't0': Option(float, 0.0, 'the t0 of these; 0: from the best first step on some examples', minimum=0),
    'smoothing': Option(float, 0.0, 'T of T log sum exp(. / T) in place of each maximum; 0: maxima', minimum=0,
                        maximum=1000),
    'sweeps': Option(int, 1, 'sweeps over the messages of an example at each visit', minimum=1, maximum=1000),
    'average': Option(bool, True, 'the result is the average of the weights, not the last ones'),
}

INFO = SolverInfo(
    name='dlpw',
    summary='messages by block minimisation, weights by subgradient steps, for --relaxation lp',
    oracle={'hinge': 'messages'},
    options=OPTIONS,
    certificate='average of its beliefs, made to agree; the primal is a bound by its messages',
    paper='Meshi et al. 2010; Hazan and Urtasun 2010 (smoothing)',
    make=Dlpw,
    part_bytes=16,
    decomposable=True,
)
