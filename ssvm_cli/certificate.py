"""Primal, dual and the gap between them: tolerances, and the best bounds of a run."""

import math
from dataclasses import dataclass

import numpy as np


def relative_gap(primal, dual):
    """Gap relative to the primal; 0 where both are 0, infinite before there is a primal."""
    gap = primal - dual
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
        gap, relative = primal - dual, relative_gap(primal, dual)
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
        dual, point: the highest dual and its dual point. At first 0, the dual of the right outputs themselves, whose
            dual point needs no storing (None).
        dense: whether the dual point of `dual` has too many outputs to be stored.
        own_dual: where softmax scores make the dual point, the dual that belongs to `w`; otherwise None.
        own_temperature: of that softmax, for the hinge loss; otherwise None.
    """

    def __init__(self):
        self.primal = math.inf
        self.w = None
        self.own_dual = None
        self.own_temperature = None
        self.dual = 0.0
        self.point = None
        self.dense = False

    def offer_primal(self, primal, w, own_dual=None, own_temperature=None):
        """Take an iterate if it is better than the best; returns whether it was."""
        if not primal < self.primal:
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

    def offer_dual(self, dual, point=None):
        """Take a bound if it is better than the best; `point` is a function that makes its dual point, or None where
        that cannot be stored."""
        if dual > self.dual:
            self.dual, self.point = dual, None  # the memory of the old one first
            self.point = point() if point else None
            self.dense = point is not None and self.point is None

    def prove(self, dual):
        """Take the exact value of the dual point for its bound; the right outputs prove 0 where it is no better."""
        self.dual = max(dual, 0.0)
        if not dual > 0:
            self.point = None

    @property
    def provable(self):
        """The lower bound that can be recomputed from the data and what the model holds."""
        return self.dual if self.own_dual is None else max(self.own_dual, 0.0)

    @property
    def stored_point(self):
        """The dual point that the model needs to prove `provable`; None where the weights alone do."""
        if self.own_temperature is not None:
            return {'temperature': np.array([self.own_temperature])}
        return self.point

    def state(self):
        arrays = {f'point.{name}': array for name, array in (self.point or {}).items()}
        scalars = {'primal': self.primal, 'own_dual': self.own_dual, 'dual': self.dual, 'dense': self.dense}
        return {'w': self.w, 'own_temperature': self.own_temperature, **scalars, **arrays}

    def restore(self, state):
        self.primal, self.w = state['primal'], state['w']
        self.own_dual, self.dual, self.dense = state['own_dual'], state['dual'], state['dense']
        self.own_temperature = state['own_temperature']
        self.point = {
            name.removeprefix('point.'): array for name, array in state.items() if name.startswith('point.')
        } or None
