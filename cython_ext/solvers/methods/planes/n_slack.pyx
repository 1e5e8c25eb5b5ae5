"""Cutting planes with a slack for each example (Tsochantaridis et al. 2005, Algorithm 1).

The examples are visited in order. Where the most violated constraint is violated by more than the slack xi_i over the
working set S_i allows, plus epsilon, it is added to S_i, and the dual is optimised again: over the working sets of
all examples (variant a, `reoptimise=full`, after every so many new constraints and after every pass), or over S_i
alone (variant b, `reoptimise=subspace`). The dual never falls. With a fixed epsilon the method ends when a whole pass
adds nothing and P - D <= epsilon, and Theorem 18 bounds the number of constraints; by default epsilon follows the
violations down.

With a hard margin the iterates are made feasible by scaling them, and a dual that proves that every margin would be
tiny ends the run: for any w with <w, psi> >= 1, ||w(alpha)|| ||w|| >= 1/n sum_i sum_y alpha_i(y).

The quadratic program over the working sets is solved from where it stands by sweeps of block steps on the cached
inner products (block_dual.pyx), until its own duality gap is small against epsilon. A small one that many sweeps have
not solved, as happens where features are large against 1 / lambda, is solved at once (joint_program.pyx).
"""

import numpy as np

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int32_t

from cython_ext.features.capabilities cimport Following
from cython_ext.common.prefixes import prefixed, stripped
from cython_ext.core.problem import Evaluation
from cython_ext.core.problem cimport Problem
from cython_ext.solvers.blocks import joint_program
from cython_ext.solvers.blocks.block_dual cimport BlockDual
from cython_ext.solvers.options import Option, SolverInfo
from cython_ext.solvers.solver import NoSolution
from cython_ext.solvers.solver cimport DONE, NO_ROOM, STOPPED, Solver, Visit
from cython_ext.solvers.blocks.working_sets cimport WorkingSet

cdef double EPSILON_SHARE = 0.1     # of the mean violation of a pass: epsilon of the next one
cdef double INNER_GAP_SHARE = 0.1   # of the gap that the pass has seen: that of the inner program
cdef double NO_MARGIN = 1e-4    # a largest possible margin of this share of the largest ||psi|| is none
cdef double EPSILON_ROUNDING = 1e-9     # relative, by which a gap may miss what a fixed epsilon allows
cdef double LEAST_SCALING_MARGIN = 1e-6     # less (it is 1 - a maximum) has lost too many digits to scale weights with
cdef enum:
    MOST_SWEEPS = 1000              # of one re-optimisation
    SLOW_AFTER_SWEEPS = 100         # of which a program of few outputs is solved at once
    JOINT_PROGRAM_OUTPUTS = 500     # at most


cdef class NSlack(Solver):
    """options: as OPTIONS below; nothing is random, seed is not used."""

    cdef readonly BlockDual block
    cdef Following following                            # the scores of w
    cdef bint full, hard
    cdef readonly bint slow                             # the re-optimisation under way takes many sweeps
    cdef readonly double fixed_epsilon, epsilon
    cdef readonly Py_ssize_t every, position, added, pending
    cdef readonly Py_ssize_t sweep, sweep_position      # of the re-optimisation under way; sweep 0: none
    cdef double sweep_gap, gap_sum, violation_sum, primal_sum, allowed_sum
    cdef object last_estimate
    cdef object margin                                  # the smallest of any example at w, once it was asked for

    def __init__(self, Problem problem not None, options, seed=0):
        Solver.__init__(self, problem)
        self.block = BlockDual(problem)
        self.full, self.every = options['reoptimise'] == 'full', options['every']
        self.fixed_epsilon = self.epsilon = options['epsilon']
        self.margin = None
        self.hard = self.block.objective.hard
        self.following = problem.features.helper(Following)
        self.following.follow(self.block.w)

    @property
    def w(self):
        return self.block.w

    def run_pass(self, int32_t[::1] stop):
        cdef Py_ssize_t n = self.problem.n
        cdef Visit ending = DONE
        self.margin = None
        while ending == DONE and not stop[0] and (self.position < n or self.sweep):
            if self.slow and not self._solve(stop):
                return False
            with nogil:
                while ending == DONE and not stop[0] and not self.slow and (self.position < n or self.sweep):
                    if self.sweep:
                        self.relax()
                        continue
                    ending = self.search(self.position)
                    if ending == DONE:
                        self.position += 1
                        if self.pending >= self.every or (self.position == n and self.full):
                            self.sweep, self.sweep_position, self.sweep_gap = 1, 0, 0.0
        if ending == NO_ROOM:
            raise MemoryError
        if self.position < n or self.sweep:
            return False
        self._end_pass()
        return True

    def _solve(self, stop):
        """Ends a re-optimisation that takes many sweeps; False if it was stopped before."""
        if joint_program.size(self.block) <= JOINT_PROGRAM_OUTPUTS:
            if not joint_program.maximise(self.block, stop):
                return False
            self.following.follow(self.block.w)
            self.sweep = self.pending = 0
        self.slow = False
        return True

    def _end_pass(self):
        problem = self.problem
        # from the weights alone: the many steps of re-optimisations leave their rounding in w
        dual, w = self.block.sets.dual_point().certify(problem, self.following)
        self.block.w[:] = w
        self.following.follow(self.block.w, self.following.scores(w))
        norm2 = problem.features.inner(self.block.w, self.block.w)
        self.last_estimate = problem.lam / 2 * norm2 + self.primal_sum / problem.n, dual
        if self.hard:
            self._check_feasible(norm2)
        gap = self.gap_sum / problem.n
        if self.fixed_epsilon > 0:
            self.finished = self.added == 0 and gap <= self.allowed_sum / problem.n * (1 + EPSILON_ROUNDING)
        else:
            self.epsilon = EPSILON_SHARE * self.violation_sum / problem.n
            self.finished = self.added == 0 and gap <= 1e-14 * abs(dual)
        self.passes += 1
        self.position = self.added = self.pending = 0
        self.gap_sum = self.violation_sum = self.primal_sum = self.allowed_sum = 0.0

    def _check_feasible(self, double norm2):
        cdef double total = self.block.linear_part(), margin
        if total > 0:
            margin = sqrt(norm2) / total
            if margin < NO_MARGIN * sqrt(self.block.radius2):
                raise NoSolution(f'the training data cannot be separated: no weights of norm 1 have a margin above '
                                 f'{margin:.2g} (leave --hard-margin out)')

    cdef Visit search(self, Py_ssize_t i) noexcept nogil:
        """Adds the most violated constraint of an example, if it is one."""
        cdef double bias, value, slack, gap
        if not self.block.evaluate(i, &value, &bias):
            return STOPPED
        slack = max(0.0, self.best_cached(i))
        self.oracle_calls += 1
        gap = self.gap_of(i, value)
        self.primal_sum += self.block.objective.loss_of(value)
        self.gap_sum += gap
        self.violation_sum += max(0.0, value - slack)
        self.allowed_sum += self.epsilon if self.hard else (
            self.block.objective.loss_of(slack + self.epsilon) - self.block.objective.loss_of(slack))
        if value > slack + self.epsilon and self.block.sets.find(i, self.block.work.code) < 0:
            if self.block.place_of(i, bias, value) < 0:
                return NO_ROOM
            self.added += 1
            self.pending += self.full
        if gap > 0 and not self.full:
            self.step(i, gap)
        return DONE

    cdef void step(self, Py_ssize_t i, double gap) noexcept nogil:
        """Optimises the block of an example that has just been rated."""
        self.block.begin(i)
        self.block.optimise(i, 1e-3 * gap)
        self.block.apply(i)

    cdef double best_cached(self, Py_ssize_t i) noexcept nogil:
        """The largest value of the outputs in the working set, just rated."""
        cdef Py_ssize_t j
        cdef double top = -INFINITY
        for j in range(self.block.sets.sets[i].count):
            top = max(top, self.block.values[j])
        return top

    cdef void relax(self) noexcept nogil:
        """One block step of the re-optimisation; at the end of a sweep, whether another one is needed."""
        cdef Py_ssize_t i = self.sweep_position
        cdef double gap
        if self.block.sets.sets[i].count > 1:
            self.block.rate_outputs(i)
            gap = self.gap_of(i, max(0.0, self.best_cached(i)))
            self.sweep_gap += gap
            if gap > 0:
                self.step(i, gap)
        self.sweep_position += 1
        if self.sweep_position < self.problem.n:
            return
        if (self.sweep_gap / self.problem.n <= INNER_GAP_SHARE * self.gap_sum / self.position
                or self.sweep >= MOST_SWEEPS):
            self.sweep = self.pending = 0
        else:
            self.slow = self.sweep == SLOW_AFTER_SWEEPS
            self.sweep += 1
        self.sweep_position, self.sweep_gap = 0, 0.0

    cdef double gap_of(self, Py_ssize_t i, double value) noexcept nogil:
        """The duality gap of an example's block where its largest value is that; with a hard margin, which has no such
        gap, the largest violation of the optimality conditions."""
        cdef WorkingSet *s = self.block.sets.sets + i
        cdef Py_ssize_t j
        if not self.hard:
            return self.block.objective.loss_of(value) - self.block.mean
        for j in range(s.count):
            if s.weight[j] > 0:
                value = max(value, fabs(self.block.values[j]))
        return max(value, 0.0)

    # --------------------------------------------------------------------------------------- what others ask for

    def set_dual_point(self, point):
        """Begin at a sparse dual point (of the same examples, for any lambda) instead of the gold outputs."""
        self.last_estimate = np.inf, self.block.start(point)
        self.following.follow(self.block.w)

    def iterates(self):
        if not self.hard:
            return [('current', self.block.w)]
        if self.margin is None:
            self.margin = 1.0 - self.problem.largest_margin(self.block.w)
        return [('scaled', self.block.w / self.margin if self.margin > LEAST_SCALING_MARGIN else self.block.w)]

    def evaluation(self):
        """With a hard margin, where the oracle pass that finds the scale tells all."""
        if not self.hard:
            return None
        ((_, w),) = self.iterates()
        if self.margin > LEAST_SCALING_MARGIN:
            return Evaluation(self.problem.lam / 2 * self.problem.features.inner(w, w), np.zeros(self.problem.n))
        return Evaluation(np.inf, np.full(self.problem.n, np.inf))

    def figures(self, primal=np.inf):
        """Constraints in the working sets, and what Theorem 18 allows at the present epsilon (infinity at 0)."""
        outputs = sum(self.block.sets.counts()) - self.problem.n
        return {'constraints': outputs, 'constraint_bound': self._most_constraints(primal)}

    def _most_constraints(self, primal):
        """Theorem 18 with the largest ||c psi|| among the constraints for R (Delta R with slack rescaling), and for the
        highest dual, where the proof has C Delta, an objective value: no dual is above it; C = 1 / lambda."""
        if self.hard or self.epsilon <= 0:
            return np.inf
        n, lam, epsilon, radius2 = self.problem.n, self.problem.lam, self.epsilon, self.block.radius2
        if self.block.objective.ridge > 0:
            return 2 * primal * (radius2 / lam + n) / epsilon**2
        return max(2 * n * primal / epsilon, 8 * primal * radius2 / (lam * epsilon**2))

    def estimate(self):
        return self.last_estimate

    def dual_value(self):
        return 0.0 if self.last_estimate is None else self.last_estimate[1]

    def dual_point(self):
        return self.block.sets.dual_point()

    def state(self):
        names = ('epsilon', 'position', 'added', 'pending', 'sweep', 'sweep_position')
        return {
            **Solver.state(self), **prefixed('block', self.block.state()),
            **{name: getattr(self, name) for name in names}, 'sweep_gap': self.sweep_gap,
            'violation_sum': self.violation_sum, 'primal_sum': self.primal_sum, 'gap_sum': self.gap_sum,
            'allowed_sum': self.allowed_sum,
            'estimate': list(self.last_estimate or ()),
            'slow': bool(self.slow),
            'scores': self.following.scores(self.block.w) if self.position or self.sweep else None,
        }

    def restore(self, state):
        Solver.restore(self, state)
        self.block.restore(stripped('block', state))
        self.following.follow(self.block.w, state['scores'])
        self.epsilon, self.position, self.added = state['epsilon'], state['position'], state['added']
        self.pending, self.sweep, self.sweep_position = state['pending'], state['sweep'], state['sweep_position']
        self.sweep_gap, self.violation_sum = state['sweep_gap'], state['violation_sum']
        self.slow = state.get('slow', False)
        self.gap_sum, self.primal_sum = state['gap_sum'], state['primal_sum']
        self.allowed_sum = state.get('allowed_sum', 0.0)
        self.last_estimate = tuple(state['estimate']) or None


OPTIONS = {
    'reoptimise': Option(('full', 'subspace'), 'full',
                         'after new constraints: over the working sets of all examples, or of the example alone'),
    'every': Option(int, 100, 'new constraints until the working sets of all examples are optimised again', minimum=1),
    'epsilon': Option(float, 0.0, 'violation that is tolerated, in units of the loss; the run ends when there is no '
                      'larger one (svm_struct: -e); 0: follows the violations down', minimum=0),
}

INFO = SolverInfo(
    name='n-slack',
    summary='cutting planes, a working set for each example',
    oracle={'hinge': 'max'},
    options=OPTIONS,
    certificate='its own dual point',
    paper='Tsochantaridis et al. 2005, Algorithm 1',
    make=NSlack,
    starts=('dual-point',),
    kernels=True,
    variants=('slack', 'squared', 'hard-margin'),
)
