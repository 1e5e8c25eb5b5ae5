"""The best mixture of a few dual points.

Any distributions alpha over the outputs of all examples are a plane below the objective: its bias b is E[Delta] (and
the entropy, for the log losses), its gradient g = -mean E[psi]. Those that a solver comes by are mixed so that the
bound is best:

    max b'share - 1/(2 lambda) ||sum_k share_k g_k||^2    over distributions share,

the small program of one-slack cutting planes. It never falls, but where there is no more room and the plane with the
least share is left out. w = -1/lambda sum_k share_k g_k are the weights of the mixture, good ones where the planes are
many.
"""

import numpy as np

from cython_ext.common.prefixes import prefixed, stripped
from cython_ext.solvers.blocks import active_set

BYTES = 1 << 26  # of all planes


class Bundle:
    """most: planes that are kept, or as many as BYTES hold when a plane's dual point takes `bytes`, two at least."""

    def __init__(self, problem, most, bytes):
        self.problem = problem
        self.most = min(most, max(BYTES // (8 * problem.dim + bytes + 1), 2))
        self.points, self.gradients, self._weights = [], [], None
        self.shares, self.biases, self.gram = np.zeros(0), np.zeros(0), np.zeros((0, 0))

    @property
    def value(self):
        """D of the mixture; None before the first plane."""
        if not self.points:
            return None
        curve = self.shares @ self.gram @ self.shares / self.problem.lam
        return float(self.shares @ self.biases - curve / 2)

    def weights(self):
        """Those of the mixture, a vector that stays as it is."""
        if self._weights is None:
            self._weights = self.problem.features.zeros()
            for share, gradient in zip(self.shares, self.gradients, strict=True):
                if share > 0:
                    self._weights -= share / self.problem.lam * gradient
        return self._weights

    def mixed(self):
        """(shares, dual points as they were given) of those that have one."""
        active = np.flatnonzero(self.shares > 0)
        return self.shares[active], [self.points[k] for k in active]

    def add(self, planes):
        """Take planes in, each (its dual point in arrays by name, b, g), and mix all anew."""
        self._weights = None
        for point, bias, gradient in planes:
            self._make_room()
            self.points.append(point)
            self.gradients.append(gradient)
            products = [self.problem.features.inner(gradient, other) for other in self.gradients]
            count = len(products)
            gram = np.zeros((count, count))
            gram[:-1, :-1] = self.gram
            gram[-1, :] = gram[:, -1] = products
            self.gram, self.biases = gram, np.append(self.biases, bias)
            self.shares = np.append(self.shares, 0.0 if count > 1 else 1.0)
            self._mix()

    def _make_room(self):
        if len(self.points) < self.most:
            return
        least = int(np.argmin(self.shares))
        del self.points[least], self.gradients[least]
        self.gram = np.delete(np.delete(self.gram, least, 0), least, 1)
        self.biases, self.shares = np.delete(self.biases, least), np.delete(self.shares, least)
        if len(self.points):
            rest = self.shares.sum()
            self.shares = self.shares / rest if rest > 0 else np.eye(1, len(self.points))[0]

    def _mix(self):
        one = np.zeros(len(self.shares), np.int64)
        self.shares = active_set.solve(self.biases, self.gram / self.problem.lam, self.shares, one)
        self.shares /= self.shares.sum()

    def state(self):
        blocks = {
            'shares': self.shares,
            'biases': self.biases,
            'gram': self.gram,
            'gradients': np.array(self.gradients),
        }
        points = (prefixed(f'point.{k}', arrays) for k, arrays in enumerate(self.points))
        return {'planes': len(self.points), **{key: np.array(array) for key, array in blocks.items()}} | {
            key: array for arrays in points for key, array in arrays.items()
        }

    def restore(self, state):
        self.shares, self.biases, self.gram = (np.array(state[name]) for name in ('shares', 'biases', 'gram'))
        self.gradients = [self._vector(row) for row in state['gradients']]
        self.points = [stripped(f'point.{k}', state) for k in range(state['planes'])]
        self._weights = None

    def _vector(self, row):
        vector = self.problem.features.zeros()
        vector[:] = row
        return vector
