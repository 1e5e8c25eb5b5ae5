"""Mixtures of dual points that are softmaxes of scores: alpha_i = sum_k share_k softmax(scores of weights k).

E[Delta] and E[psi] of a mixture are those of its parts, mixed. Its entropy, for the log losses, is at least theirs,
mixed: what is proved with that is a little less than D of the mixture.
"""

import numpy as np

from cython_ext.common.prefixes import prefixed, stripped
from cython_ext.duals.dual_point import DualPoint
from cython_ext.duals.scores import ScoresPoint

SHARES = 'shares'


class MixturePoint(DualPoint):
    """Attributes:
    shares: float64[k], positive; they are divided by their sum.
    points: list of k ScoresPoints.
    """

    def __init__(self, shares, points):
        """ValueError where they do not fit together, or the shares are none."""
        self.shares, self.points = np.asarray(shares, np.float64), points
        if self.shares.shape != (len(points),) or not points:
            raise ValueError('the mixture has not as many shares as points')
        if not (np.isfinite(self.shares).all() and (self.shares > 0).all()):
            raise ValueError('the shares of the mixture are no positive numbers')

    @classmethod
    def has(cls, names):
        parts = {}
        for name in set(names) - {SHARES}:
            number, _, key = name.partition('.')
            parts.setdefault(number, set()).add(key)
        numbered = set(parts) == {str(k) for k in range(len(parts))}
        return SHARES in names and bool(parts) and numbered and all(map(ScoresPoint.has, parts.values()))

    @classmethod
    def from_arrays(cls, arrays):
        if SHARES not in arrays:
            raise ValueError(f'the dual point has no {SHARES}')
        count = len({name.partition('.')[0] for name in arrays if name != SHARES})
        return cls(arrays[SHARES], [ScoresPoint.from_arrays(stripped(str(k), arrays)) for k in range(count)])

    def arrays(self):
        arrays = {SHARES: self.shares}
        for k, point in enumerate(self.points):
            arrays |= prefixed(str(k), point.arrays())
        return arrays

    def value(self, problem, w=None):
        return self.certify(problem)[0]

    def certify(self, problem, following=None):
        """By a pass of the exp oracle for each of its parts."""
        total, gain = problem.kept_accumulator(), 0.0
        w, one = problem.features.zeros(), problem.features.zeros()
        for share, point in zip(self.shares / self.shares.sum(), self.points, strict=True):
            total.clear(problem.pool)
            gain += share * point.expectations(problem, total)
            total.total(one, problem.pool)
            w += share / (problem.lam * problem.n) * one
        if following is not None:
            following.follow(w)
        return gain - problem.lam / 2 * problem.features.inner(w, w), w
