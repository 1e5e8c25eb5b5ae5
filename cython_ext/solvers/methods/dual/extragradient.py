"""Dual extragradient (Taskar, Lacoste-Julien and Jordan 2006) on the saddle point of max-margin Markov networks,

    min_w max_alpha    lambda/2 ||w||^2 + mean_i E_alpha_i[Delta - <w, psi_i>],

with Bregman projections: the softmax, where the paper projects onto flows. A pass is two steps, each of a pass over the
data; the second begins where the first did, with the gradients of where it led,

    w½ = (w + eta a(alpha)) / (1 + eta lambda)      alpha½ ∝ alpha exp(tau (Delta + <theta, s>)),  theta = Phi_i' w
    w  = (w + eta a(alpha½)) / (1 + eta lambda)     alpha  ∝ alpha exp(tau (Delta + <theta, s>)),  theta = Phi_i' w½

with a(alpha) the mean of E[psi]. Where eta tau ||psi||^2 <= 1 the averages of w½ and alpha½ have a gap of order 1/t.

The parameters of alpha are sums of those of all steps: with c the sum of the taus and v that of the tau w½, alpha is
the softmax of c Delta + <Phi_i' v, s>, a number and a weight vector for all examples together. The dual point is the
best mixture of the last alpha½ (blocks/bundle.py), which is no worse than their average.
"""

import numpy as np

from cython_ext.common.prefixes import prefixed, stripped
from cython_ext.core.problem import Interrupted
from cython_ext.duals.expectations import of_scores
from cython_ext.duals.mixture import MixturePoint
from cython_ext.duals.scores import ScoresPoint
from cython_ext.solvers.blocks.bundle import Bundle
from cython_ext.solvers.options import Option, SolverInfo
from cython_ext.solvers.parts.radius import largest_difference2
from cython_ext.solvers.solver import Solver

LEAST_WEIGHT = 1e-9  # c of uniform distributions, relative to tau
LEAST = 1e-300


class Extragradient(Solver):
    """options: as OPTIONS below; there is nothing random, seed is not used."""

    def __init__(self, problem, options, seed=0):
        super().__init__(problem)
        self.bundle = Bundle(problem, options['planes'], 4 * problem.dim)
        self.w, self.average, self.v = (problem.features.zeros() for _ in range(3))
        self.eta, self.tau = self._steps(options)
        self.c = LEAST_WEIGHT * self.tau

    def _steps(self, options):
        """(eta, tau): their product is 1 / ||psi||^2, and their ratio balances what there is to go: ||w||^2 / eta,
        where ||w||^2 is at most 2 P(0) / lambda, and log |Y| / tau, the entropy of uniform distributions."""
        problem, structure = self.problem, self.problem.structure
        nothing = (np.zeros(structure.size(i)) for i in range(problem.n))
        log_outputs = np.array([structure.exp_oracle(i, theta)[0] for i, theta in enumerate(nothing)])
        radius2 = max(largest_difference2(problem, log_outputs, problem.pool.stop), LEAST)
        most = max(problem.evaluate(problem.features.zeros()).primal, LEAST)
        eta = np.sqrt(most / (problem.lam * radius2 * max(log_outputs.mean(), LEAST))) * options['balance']
        return options['step'] * eta, options['step'] / (radius2 * eta)

    def run_pass(self, stop):
        problem, lam = self.problem, self.problem.lam
        shrink = 1 / (1 + self.eta * lam)
        try:
            _, _, a, _ = self._expectations(self.v, self.c, stop)
            half = shrink * (self.w + self.eta * a)
            v, c = self.v + self.tau * self.w, self.c + self.tau
            kept, bias, a, gradient = self._expectations(v, c, stop)
        except Interrupted:
            return False
        self.bundle.add([(kept, bias, gradient)])
        self.w[:] = shrink * (self.w + self.eta * a)
        self.v += self.tau * half
        self.c += self.tau
        self.passes += 1
        self.oracle_calls += 2 * problem.n
        self.average += (half - self.average) / self.passes
        return True

    def _expectations(self, v, c, stop):
        """(the dual point as it is kept, the mean of E[Delta], that of E[psi], the gradient of its plane)."""
        problem = self.problem
        kept = {'w': (v / c).astype(np.float32), 'temperature': np.array([1 / c])}
        total, w = problem.kept_accumulator(), problem.features.zeros()
        w[:] = kept['w']
        with problem.stoppable(stop):
            bias = of_scores(problem, w, 1 / c, total)
        if stop[0]:
            raise Interrupted
        a = problem.features.zeros()
        total.total(a, problem.pool)
        a /= problem.n
        return kept, bias, a, -a

    def iterates(self):
        return [('average', self.average), ('current', self.w)]

    def dual_value(self):
        return self.bundle.value

    @property
    def temperature(self):
        return 1 / self.c

    def dual_point(self):
        if self.bundle.value is None:
            return None
        shares, kept = self.bundle.mixed()
        return MixturePoint(
            shares, [ScoresPoint.exactly(self.problem, arrays['w'], *arrays['temperature']) for arrays in kept]
        )

    def state(self):
        vectors = {name: getattr(self, name).copy() for name in VECTORS}
        return {**super().state(), **vectors, **prefixed('bundle', self.bundle.state()), 'c': self.c}

    def restore(self, state):
        super().restore(state)
        self.bundle.restore(stripped('bundle', state))
        self.c = state['c']
        for name in VECTORS:
            getattr(self, name)[:] = state[name]


VECTORS = ('w', 'average', 'v')

OPTIONS = {
    'step': Option(float, 1.0, 'factor of both step sizes, which are what the proof allows', minimum=1e-6),
    'balance': Option(float, 1.0, 'factor of the step of w; the one of the dual is divided by it', minimum=1e-6),
    'planes': Option(int, 100, 'dual points of passes that are mixed, as many as have room', minimum=2, maximum=1000),
}

INFO = SolverInfo(
    name='extragradient',
    summary='dual extragradient with Bregman projections',
    oracle={'hinge': 'exp'},
    options=OPTIONS,
    certificate='the best mixture of the softmaxes of its passes',
    paper='Taskar, Lacoste-Julien and Jordan 2006',
    make=Extragradient,
    decomposable=True,
)
