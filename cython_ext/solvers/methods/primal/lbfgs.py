"""L-BFGS on the primal of the log losses (scipy's implementation; Liu and Nocedal 1989).

A pass is one iteration. The dual point is the softmax of the scores; its gap, ||grad P||^2 / (2 lambda), costs nothing
beyond the gradient. scipy's loop can be watched but not saved, so it starts afresh, without its memory of the
curvature, every `restart` iterations. A checkpoint is then the weights at the last start and the number of iterations
since, which a resumed run does again: it ends in the same bytes as one that was not interrupted.
"""

import weakref

import numpy as np

from cython_ext.core.problem import Interrupted
from cython_ext.solvers.options import Option, SolverInfo
from cython_ext.solvers.parts.stepwise import Stepwise
from cython_ext.solvers.solver import Solver


class Lbfgs(Solver):
    """options: as OPTIONS below; there is nothing random, seed is not used."""

    def __init__(self, problem, options, seed=0):
        super().__init__(problem)
        # imported here: it takes half a second, and only this solver needs it
        from scipy.optimize import minimize

        self._minimize = minimize
        self.memory, self.restart = options['memory'], options['restart']
        self.w, self.start = problem.features.zeros(), problem.features.zeros()
        self.wanted = 0  # iterations since the start that belong to finished passes
        self.calls_before = 0  # oracle calls before the start
        self._since = 0  # iterations since the start that this object has done
        self._calls = 0  # and oracle calls
        self._evaluation = None  # at w
        self._steps = None

    def set_start(self, w):
        """Begin at w instead of 0."""
        self.start[:], self.w[:] = w, w

    def run_pass(self, stop):
        try:
            while self._since <= self.wanted and not self.finished:
                self._iterate(stop)
        except Interrupted:
            self._end_loop()
            return False
        self.passes += 1
        self.wanted, self.oracle_calls = self._since, self.calls_before + self._calls
        if self.wanted == self.restart:
            self._end_loop()
            self.start[:], self.wanted, self.calls_before = self.w, 0, self.oracle_calls
        return True

    def _iterate(self, stop):
        if self._steps is None:
            self._steps = Stepwise(self._minimiser(stop))
            weakref.finalize(self, self._steps.close)
        step = self._steps.next()
        if step is None:
            self.finished = True
            return
        w, self._evaluation, self._calls = step
        self.w[:] = w
        self._since += 1

    def _minimiser(self, stop):
        """A function for Stepwise that minimises from self.start and reports (w, its evaluation, oracle calls)."""
        problem, start, memory, minimize = self.problem, self.start.copy(), self.memory, self._minimize

        def run(report):
            done = {'calls': 0}
            gradient = np.empty_like(start)  # scipy copies it before it asks for another

            def value(w):
                done['evaluation'] = problem.value_and_gradient(w, gradient, stop)
                done['calls'] += problem.n
                return done['evaluation'].primal

            # scipy passes the iterate itself to a callback with this signature, and a copy to one with another
            def callback(intermediate_result):
                report((intermediate_result.x, done['evaluation'], done['calls']))

            limit = int(np.iinfo(np.int32).max)
            minimize(
                value,
                start,
                jac=lambda w: gradient,  # asked for at the point of the last value only
                method='L-BFGS-B',
                callback=callback,
                options={'maxcor': memory, 'maxiter': limit, 'maxfun': limit, 'ftol': 0.0, 'gtol': 0.0},
            )

        return run

    def _end_loop(self):
        if self._steps is not None:
            self._steps.close()
        self._steps, self._since, self._calls = None, 0, 0

    def iterates(self):
        return [('current', self.w)]

    def evaluation(self):
        return self._evaluation

    def estimate(self):
        return None if self._evaluation is None else (self._evaluation.primal, self._evaluation.dual)

    def state(self):
        return {
            **super().state(),
            'w': self.w.copy(),
            'start': self.start.copy(),
            'wanted': self.wanted,
            'calls_before': self.calls_before,
        }

    def restore(self, state):
        super().restore(state)
        self._end_loop()
        self._evaluation = None
        self.w[:], self.start[:] = state['w'], state['start']
        self.wanted, self.calls_before = int(state['wanted']), int(state['calls_before'])


OPTIONS = {
    'memory': Option(int, 6, 'pairs of vectors that approximate the curvature', minimum=1, maximum=1000),
    'restart': Option(int, 100, 'iterations after which the memory is cleared', minimum=1),
}

INFO = SolverInfo(
    name='lbfgs',
    summary='limited-memory quasi-Newton method on the primal',
    oracle={'log': 'exp', 'softmax-margin': 'exp'},
    options=OPTIONS,
    certificate='softmax of the scores',
    paper='Liu and Nocedal 1989',
    make=Lbfgs,
    starts=('weights',),
)
