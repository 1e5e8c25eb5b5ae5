"""Primal, dual and the gap between them: tolerances, and the best bounds of a run."""

import math
from dataclasses import dataclass

import numpy as np

from cython_ext.common.prefixes import prefixed, stripped
from cython_ext.duals.registry import from_arrays
from cython_ext.duals.scores import TemperedPoint

PRIMAL_ROUNDING = 1e-12  # of the primal: how far its sum and that of the dual may miss each other


def absolute_gap(primal, dual):
    """P - D; 0 where the dual is above the primal by no more than rounding."""
    gap = primal - dual
    return 0.0 if -PRIMAL_ROUNDING * abs(primal) <= gap < 0 else gap


def relative_gap(primal, dual):
    """Gap relative to the primal; 0 where both are 0, infinite before there is a primal."""
    gap = absolute_gap(primal, dual)
    if 0 < primal < math.inf:
        return gap / primal
    return 0.0 if gap <= 0 else math.inf


@dataclass(frozen=True)
class Tolerance:
    """When a result is good enough: relative gap, or (where given) absolute gap."""

    rel_gap: float
    epsilon: float | None = None

    def reached(self, primal, dual):
        gap = primal - dual
        if math.isinf(gap):
            return False
        return gap <= self.rel_gap * abs(primal) or (self.epsilon is not None and gap <= self.epsilon)

    def sentence(self, primal, dual):
        """Gap and tolerance in the same units."""
        gap, relative = absolute_gap(primal, dual), relative_gap(primal, dual)
        parts = [f'relative gap {relative:.3g}, tolerance {self.rel_gap:g}']
        if self.epsilon is not None:
            absolute = f'absolute gap {gap:.3g}, tolerance {self.epsilon:g}'
            if gap <= self.epsilon and relative > self.rel_gap:
                parts = [absolute]
            elif gap > self.epsilon and relative > self.rel_gap:
                parts.append(absolute)
        return '; '.join(parts)


class Bounds:
    """The best primal iterate of a run and the best lower bound, with what proves it.

    Attributes:
        primal, w: the lowest primal and its weights (a copy, in the precision they came in); inf and None at first.
        dual, point: the highest dual that can be recomputed from the data and what the model holds, and its dual point.
            At first 0, the dual of the right outputs themselves, whose dual point needs no storing (None).
        own_dual, own_temperature: the dual of the softmax of the scores of `w` and, for the hinge, its temperature;
            None where no softmax makes the dual points. It needs no storing either: where it is the highest, `point` is
            None.
        unheld: the highest dual of a point that is too large for a model; seen: the highest of all.
    """

    def __init__(self, keep=None):
        """keep: (weights, temperature) -> the dual point that is the softmax of their scores."""
        self.keep = keep
        self.primal = math.inf
        self.w = None
        self.own_dual = None
        self.own_temperature = None
        self.dual = 0.0
        self.point = None
        self.unheld = 0.0

    @classmethod
    def unknown(cls, w, point, temperature):
        """Of weights that have not been evaluated; the point, or the temperature, is a dual point beside them."""
        bounds = cls()
        bounds.w, bounds.point, bounds.own_temperature = np.array(w), point, temperature
        return bounds

    @property
    def known(self):
        """Whether the weights have been evaluated."""
        return self.primal < math.inf

    def offer_primal(self, primal, w, own_dual=None, own_temperature=None):
        """Take an iterate if it is better than the best, and the dual of the softmax of its scores if that is; returns
        whether the primal was."""
        better = primal < self.primal
        higher = own_dual is not None and own_dual > self.dual
        if higher and not better:
            self.dual, self.point = own_dual, self.keep(w, own_temperature)
        elif higher:
            self.dual, self.point = own_dual, None
        elif better and self._own_is_highest():
            self.point = self.keep(self.w, self.own_temperature)
        if not better:
            return False
        self.primal = primal
        self.own_dual, self.own_temperature = own_dual, own_temperature
        if self.w is None or self.w.dtype != w.dtype:
            self.w = None  # its memory first
            self.w = np.array(w)
        else:
            np.copyto(self.w, w)
        return True

    def forget_primal(self):
        """Let the next iterate be the best, for a solver whose last one counts."""
        self.primal = math.inf

    def offer_dual(self, dual, point):
        """Take a bound if it is better than the best; `point` is a function that makes its dual point."""
        if dual > self.dual:
            self.dual, self.point = dual, None  # the memory of the old one first
            self.point = point()

    def see(self, dual):
        """Take a bound whose dual point no model can hold: it counts in the log, and not for the model."""
        self.unheld = max(self.unheld, dual)

    @property
    def seen(self):
        return max(self.dual, self.unheld)

    def prove(self, dual):
        """Take the exact value of the dual point for its bound; the weights, or the right outputs with 0, prove one
        where it is no better."""
        own = max(self.own_dual or 0.0, 0.0)
        self.dual = max(dual, own)
        if not dual > own:
            self.point = None

    def _own_is_highest(self):
        return self.point is None and self.own_dual is not None and 0 < self.dual == self.own_dual

    @property
    def stored_point(self):
        """The dual point that the model needs to prove `dual`; None where the weights alone do."""
        if self.point is None and self.own_temperature is not None:
            return TemperedPoint.at(self.own_temperature)
        return self.point

    def state(self):
        point = {} if self.point is None else prefixed('point', self.point.arrays())
        scalars = {'primal': self.primal, 'own_dual': self.own_dual, 'dual': self.dual, 'unheld': self.unheld}
        return {'w': self.w, 'own_temperature': self.own_temperature, **scalars, **point}

    def restore(self, state):
        self.primal, self.w = state['primal'], state['w']
        self.own_dual, self.own_temperature = state['own_dual'], state['own_temperature']
        self.dual, self.unheld = state['dual'], state.get('unheld', 0.0)
        point = stripped('point', state)
        self.point = from_arrays(point) if point else None
