"""scipy's descent methods on the primal of the log losses.

A pass is one iteration. The dual point is the softmax of the scores; its gap, ||grad P||^2 / (2 lambda), costs nothing
beyond the gradient. scipy's loop can be watched but not saved, so it starts afresh, without its memory of earlier
directions, every `restart` iterations. A checkpoint is then the weights at the last start and the number of iterations
since, which a resumed run does again: it ends in the same bytes as one that was not interrupted.
"""

import weakref

import numpy as np

from cython_ext.core.problem import Interrupted
from cython_ext.solvers.parts.stepwise import Stepwise
from cython_ext.solvers.solver import Solver


class Descent(Solver):
    """options: restart, and what `settings` takes; there is nothing random, seed is not used."""

    method = None  # scipy's name

    def __init__(self, problem, options, seed=0):
        super().__init__(problem)
        # imported here: it takes half a second, and only this solver needs it
        from scipy.optimize import minimize

        self._minimize = minimize
        self.options, self.restart = options, options['restart']
        self.w, self.start = problem.features.zeros(), problem.features.zeros()
        self.wanted = 0  # iterations since the start that belong to finished passes
        self.calls_before = 0  # oracle calls before the start
        self._since = 0  # iterations since the start that this object has done
        self._calls = 0  # and oracle calls
        self._evaluation = None  # at w
        self._steps = None

    def settings(self):
        """The method's own options, as scipy calls them."""
        raise NotImplementedError

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
        problem, start, minimize = self.problem, self.start.copy(), self._minimize

        def run(report):
            done = {'calls': 0, 'w': None}
            gradient = np.empty_like(start)

            def value(w):
                done['evaluation'] = problem.value_and_gradient(w, gradient, stop)
                done['w'] = w.copy()
                done['calls'] += problem.n
                return done['evaluation'].primal

            def slope(w):
                if not np.array_equal(w, done['w']):
                    value(w)
                return gradient.copy()

            # scipy passes the iterate itself to a callback with this signature, and a copy to one with another
            def callback(intermediate_result):
                slope(intermediate_result.x)  # its evaluation, where the line search looked further
                report((intermediate_result.x, done['evaluation'], done['calls']))

            minimize(value, start, jac=slope, method=self.method, callback=callback, options=self.settings())

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
