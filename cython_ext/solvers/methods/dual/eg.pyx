"""Randomised online exponentiated gradient (Collins, Globerson, Koo, Carreras and Bartlett 2008, sections 3.3, 5, 7).

A visit of one example makes a step on its dual variables in natural parameters (natural_dual.pyx) and updates w at
once. Every example has a step size of its own: it is halved until the dual does not fall, and grows after a success, up
to 1 for the log losses, where a step of 1 puts theta_i to the scores. The first sizes are what the first tenth of the
examples settle at. The dual of the problem at hand never falls: with annealing and with acceleration this is another
one than that of lambda, of which the certificate is.

Annealing (section 7.1.1) begins with a larger lambda, whose problem is easier and has a solution nearby: the passes
have lambda (1 + (anneal - 1) ANNEAL_DECAY^(pass - ANNEAL_HOLD)), and from ANNEAL_END on lambda itself. The dual
variables stay as they are. Acceleration comes after it.
"""

import numpy as np

from libc.math cimport log

from cython_ext.common.prefixes import prefixed, stripped
from cython_ext.core.problem cimport Problem
from cython_ext.solvers.parts.acceleration cimport Acceleration
from cython_ext.solvers.blocks.natural_dual cimport NaturalDual
from cython_ext.solvers.options import Option, SolverInfo
from cython_ext.solvers.solver cimport DONE, STOPPED, Solver, Visit
from cython_ext.solvers.visiting cimport VisitingSolver

cdef enum:
    MOST_HALVINGS = 8           # of a visit
cdef double SMALLEST_STEP = 1e-12
ANNEAL_DECAY, ANNEAL_HOLD, ANNEAL_END = 0.7, 5, 0.02    # as in the paper; the end is within so much of lambda
# Left to itself, the solver accelerates and anneals where that pays: lambda n is small, and there are so many examples
# that passes matter more than a dual which never falls.
ACCELERATE_FROM_EXAMPLES = 1000
ACCELERATE_BELOW_LAM_N = {True: 5.0, False: 0.3}        # log losses (True) and the hinge loss
ANNEAL_BELOW_LAM_N, ANNEAL_FROM_LAM_N = 0.1, 2.0
cdef double GAIN_ROUNDING = 1e-11    # of the largest term of a gain: a dual that falls by less has not fallen


cdef class Eg(VisitingSolver):
    """options: as OPTIONS below; seed: of the order of visits."""

    cdef readonly NaturalDual dual
    cdef readonly object first                  # weights that a start was asked for with, or None
    cdef readonly Acceleration acceleration     # None: plain
    cdef readonly object steps                  # [n] step sizes
    cdef double *step_data
    cdef double growth
    cdef readonly double anneal                 # lambda of the first pass / lambda
    cdef bint random_order
    cdef readonly double gain                   # of the dual in this pass, times n
    cdef readonly double dual_norm2             # ||w(alpha)||^2 after the last pass

    def __init__(self, Problem problem not None, options, seed=0):
        VisitingSolver.__init__(self, problem, seed)
        self.file_order()
        self.anneal, start, lam_n = options['anneal'], options['start'], problem.lam * problem.n
        many = problem.n >= ACCELERATE_FROM_EXAMPLES
        if self.anneal == 0:
            self.anneal = ANNEAL_FROM_LAM_N / lam_n if lam_n < ANNEAL_BELOW_LAM_N and many else 1.0
        if start == 0:
            start = 6.0 + 1.5 * max(0.0, log(10 / (self.anneal * lam_n)))
        self.dual = NaturalDual(problem, start)
        self.dual_norm2 = problem.features.inner(self.dual.w, self.dual.w)
        accelerate = options['acceleration']
        if accelerate == 'true' or (accelerate == 'auto' and many and lam_n < ACCELERATE_BELOW_LAM_N[problem.sums]):
            self.acceleration = Acceleration(problem, eager=False)
        self.growth = options['growth']
        self.random_order = options['order'] == 'random'
        cdef double[::1] steps = np.empty(problem.n)
        self.steps, self.step_data = np.asarray(steps), &steps[0]
        self.steps[:] = options['step'] if options['step'] > 0 else self._first_step(start)

    def _first_step(self, double start):
        """The median step that a tenth of the examples come to in one pass; the start is then restored."""
        cdef Py_ssize_t i, sample = max(1, self.problem.n // 10)
        self.steps[:] = 1.0
        with nogil:
            for i in range(sample):
                self.visit(i)
        found = np.median(self.steps[:sample])
        self.dual = None                                    # its memory before that of the next one
        self.dual = NaturalDual(self.problem, start)
        self.gain = 0.0
        return found

    def begin_pass(self, stop):
        if self.random_order:
            self.reshuffle()
        self._next_problem()
        self.gain = 0.0
        return True

    def end_pass(self):
        if self.acceleration is None or self._larger(self.passes - 1) > 1:
            scale = self.dual.regularisation / self.problem.lam
            self.dual_norm2 = scale * scale * self.problem.features.inner(self.dual.w, self.dual.w)
        else:
            self.acceleration.end_pass(self.dual.w)
            self.dual_norm2 = self.acceleration.dual_norm2

    def _larger(self, passes):
        """lambda of the pass after so many, as a multiple of lambda."""
        rest = (self.anneal - 1) * ANNEAL_DECAY ** max(passes - ANNEAL_HOLD, 0)
        return 1 + rest if rest > ANNEAL_END else 1.0

    def _next_problem(self):
        """lambda of the next pass: annealed, or with the proximal term of the acceleration."""
        if self.acceleration is not None and self.passes > 0 and self._larger(self.passes - 1) == 1:
            self.acceleration.begin_pass(self.dual.w, self.gain / self.problem.n, self.dual_value())
            self.dual.regularisation = self.acceleration.regularisation()
            return
        regularisation = self._larger(self.passes) * self.problem.lam
        if regularisation != self.dual.regularisation:
            self.dual.w *= self.dual.regularisation / regularisation
            self.dual.regularisation = regularisation

    cdef Visit visit(self, Py_ssize_t i) noexcept nogil:
        """A step that does not lower the dual. One that was cut to the longest allowed now says nothing about longer
        ones, so the step of the example stays what it was."""
        cdef Py_ssize_t attempt
        cdef double gain, step
        self.dual.evaluate(i)
        step = min(self.step_data[i], self.dual.longest)
        for attempt in range(MOST_HALVINGS):
            gain = self.dual.propose(i, step)
            if self.problem.structure.stopped():
                self.oracle_calls -= attempt
                return STOPPED
            self.oracle_calls += 1
            if gain >= -GAIN_ROUNDING * self.dual.rounding():
                self.dual.accept(i)
                self.gain += gain
                if attempt or step == self.step_data[i]:
                    self.step_data[i] = step * self.growth
                return DONE
            step = max(0.5 * step, SMALLEST_STEP)   # not a number counts as a fall
        self.step_data[i] = step
        return DONE

    # --------------------------------------------------------------------------------------- what others ask for

    def set_dual_point(self, point):
        """Begin at a dual point in natural parameters (of the same examples, for any lambda)."""
        self.anneal = 1.0
        self.dual.start_from(point)
        if self.first is None:
            self.first = self.dual.w.copy()
        self.dual_norm2 = self.problem.features.inner(self.dual.w, self.dual.w)
        if self.acceleration is not None:
            self.acceleration.start(self.dual.w)

    def set_start(self, w):
        """Begin at the softmax of the scores under w."""
        self.first, self.anneal = np.array(w), 1.0
        self.dual.start_from_weights(w)
        self.dual_norm2 = self.problem.features.inner(self.dual.w, self.dual.w)
        if self.acceleration is not None:
            self.acceleration.start(self.dual.w)

    def iterates(self):
        if self.passes == 0:                        # w(alpha) of the usual start can be worse than no weights
            return [('start', self.problem.features.zeros() if self.first is None else self.first)]
        out = [('current', self.dual.w)]
        if self.acceleration is not None and self.acceleration.averages:
            out.append(('mean', np.asarray(self.acceleration.mean)[:self.problem.dim]))
        return out

    def dual_value(self):
        return self.dual.linear_part() - self.problem.lam / 2 * self.dual_norm2

    def dual_point(self):
        return self.dual.dual_point()

    def state(self):
        return {
            **Solver.state(self), 'first': np.zeros(0) if self.first is None else self.first,
            **prefixed('dual', self.dual.state()),
            'steps': self.steps.copy(), **self.pass_state(),
            'gain': self.gain, 'dual_norm2': self.dual_norm2, 'anneal': self.anneal,
            **({} if self.acceleration is None else prefixed('outer', self.acceleration.state())),
        }

    def restore(self, state):
        VisitingSolver.restore(self, state)
        self.first = np.array(state['first']) if len(state['first']) else None
        self.dual.restore(stripped('dual', state))
        self.steps[:], self.gain = state['steps'], state['gain']
        self.dual_norm2, self.anneal = state['dual_norm2'], state['anneal']
        if self.acceleration is not None:
            self.acceleration.restore(stripped('outer', state))


OPTIONS = {
    'acceleration': Option(('auto', 'true', 'false'), 'auto',
                           'outer proximal-point loop with extrapolation (Catalyst); '
                           'auto: with 1000 examples or more, and lambda n below 5 (hinge loss: 0.3)'),
    'anneal': Option(float, 0.0, 'lambda of the first passes as a multiple of lambda, to which it comes down (1: no '
                     'annealing); 0: with 1000 examples or more and lambda n below 0.1, from lambda n = 2', minimum=0),
    'order': Option(('random', 'fixed'), 'random', 'order of visits: a new permutation each pass, or that of the file'),
    'step': Option(float, 0.0, 'first step size; 0: what a tenth of the examples settle at', minimum=0),
    'growth': Option(float, 1.3, 'factor of a step size after a step that raised the dual', minimum=1, maximum=10),
    'start': Option(float, 0.0, 'natural parameters of the right outputs at the start; 0: 6, '
                    'more where lambda n is below 10', minimum=0),
}

INFO = SolverInfo(
    name='eg',
    summary='randomised online exponentiated gradient on the dual',
    oracle={'hinge': 'exp', 'log': 'exp', 'softmax-margin': 'exp'},
    options=OPTIONS,
    certificate='its own dual point, in natural parameters',
    paper='Collins et al. 2008, sections 3.3 and 5',
    make=Eg,
    starts=('weights', 'dual-point'),
    kernels=True,
    decomposable=True,
    part_bytes=36,                  # theta and its means, twice for a checkpoint, and theta of the model in singles
)
