"""Bundle methods for regularised risk minimisation (Teo, Vishwanathan, Smola and Le 2010), for the log losses.

    min lambda/2 ||w||^2 + xi    with    xi >= b_k + <w, g_k>    for every plane k

A pass finds the value, the gradient g of the mean loss and with them a plane at the weights where the planes so far
have their minimum. What such a plane is made of is a dual point, the softmax of the scores: a mixture of these is what
the planes prove together (blocks/bundle.py). Planes of the hinge loss are cuts of outputs, and its bundle method is
one-slack.
"""

import numpy as np

from cython_ext.common.prefixes import prefixed, stripped
from cython_ext.core.problem import Interrupted
from cython_ext.duals.mixture import MixturePoint
from cython_ext.duals.scores import ScoresPoint
from cython_ext.solvers.blocks.bundle import Bundle
from cython_ext.solvers.methods.planes import one_slack
from cython_ext.solvers.methods.planes.one_slack import OneSlack
from cython_ext.solvers.options import Option, SolverInfo
from cython_ext.solvers.solver import Solver

DONE_GAP = 1e-15  # relative


class Bmrm(Solver):
    """options: planes; there is nothing random, seed is not used."""

    def __init__(self, problem, options, seed=0):
        super().__init__(problem)
        self.bundle = Bundle(problem, options['planes'], 4 * problem.dim)
        self.best, self._evaluation = problem.features.zeros(), None  # the best weights so far, and what they are worth

    def run_pass(self, stop):
        problem = self.problem
        w = problem.features.zeros()
        single = (self.bundle.weights() if self.passes else w).astype(np.float32)
        w[:] = single  # as its dual point is kept
        gradient = problem.features.zeros()
        try:
            found = problem.value_and_gradient(w, gradient, stop)
        except Interrupted:
            return False
        gradient -= problem.lam * w
        bias = found.primal - problem.lam / 2 * problem.features.inner(w, w) - problem.features.inner(w, gradient)
        self.bundle.add([({'w': single}, bias, gradient)])
        self.oracle_calls += problem.n
        self.passes += 1
        if self._evaluation is None or found.primal < self._evaluation.primal:
            self.best[:], self._evaluation = w, found
        self.finished = self._evaluation.primal - self.bundle.value <= DONE_GAP * abs(self._evaluation.primal)
        return True

    def iterates(self):
        return [('current', self.best)]

    def evaluation(self):
        return self._evaluation

    def estimate(self):
        return None if self._evaluation is None else (self._evaluation.primal, self.bundle.value)

    def dual_value(self):
        return self.bundle.value

    def dual_point(self):
        if self.bundle.value is None:
            return None
        shares, kept = self.bundle.mixed()
        return MixturePoint(shares, [ScoresPoint.exactly(self.problem, arrays['w']) for arrays in kept])

    def state(self):
        return {
            **super().state(),
            **prefixed('bundle', self.bundle.state()),
            'best': self.best.copy(),
        }

    def restore(self, state):
        super().restore(state)
        self.bundle.restore(stripped('bundle', state))
        self.best[:], self._evaluation = state['best'], None
        if self.passes:
            self._evaluation = self.problem.value_and_gradient(self.best, self.problem.features.zeros())


def make(problem, options, seed=0):
    """The bundle method of an objective. ValueError where an option is set that is of the other one."""
    for name in one_slack.OPTIONS if problem.sums else ('planes',):
        if options[name] != OPTIONS[name].default:
            other = 'cuts of the hinge loss' if problem.sums else 'planes of a log loss'
            raise ValueError(f'bmrm has {name} for {other} only')
    return (Bmrm if problem.sums else OneSlack)(problem, options, seed)


make.minimises = Solver.minimises


OPTIONS = {
    **one_slack.OPTIONS,
    'planes': Option(int, 100, 'planes of a log loss, as many as have room', minimum=2, maximum=1000),
}

INFO = SolverInfo(
    name='bmrm',
    summary='bundle method: planes below the mean loss (for hinge the cuts of one-slack)',
    oracle={'hinge': 'max', 'log': 'exp', 'softmax-margin': 'exp'},
    options=OPTIONS,
    certificate='the best mixture of the softmaxes of its scores; for hinge as one-slack',
    paper='Teo, Vishwanathan, Smola and Le 2010; Joachims, Finley and Yu 2009',
    make=make,
    variants=one_slack.INFO.variants,
)
