"""Dual points that are the softmax of the scores of weights, for the hinge loss of (Delta + scores) / temperature.

Any weights give a distribution over the outputs of each example, so there is nothing to be believed. For the hinge loss
it is what entropy smoothing leaves behind (Pillutla et al. 2018, section 2): at the optimum of the smoothed problem
w(alpha) = w, and the gap is at most the temperature times the mean entropy of alpha.
"""

import math

import numpy as np

from cython_ext.common.prefixes import prefixed, stripped
from cython_ext.duals.dual_point import DualPoint

WEIGHTS, TEMPERATURE = 'weights', 'temperature'
INPUTS_BLOCK = 'support.values'  # a block that is no weights: the values of tokens, which have to be found again


class ScoresPoint(DualPoint):
    """Of weights of its own, in single precision: what is lost with the precision is a little of the bound.

    Attributes:
        blocks: the weights by the names of FeatureMap.blocks.
        temperature: float64[1], for the hinge loss only; None for the log losses.
    """

    def __init__(self, blocks, temperature=None):
        self.blocks, self.temperature = blocks, temperature

    @classmethod
    def of(cls, problem, w, temperature=None):
        """That of weights, which are copied."""
        blocks = {}
        for name, array in problem.features.blocks(w).items():
            single = array.dtype == np.float64 and name != INPUTS_BLOCK
            blocks[name] = array.astype(np.float32) if single else np.array(array)
        return cls(blocks, None if temperature is None else np.array([temperature]))

    @classmethod
    def exactly(cls, problem, w, temperature=None):
        """That of weights, which are copied, in double precision where single precision would lose some of it."""
        w = np.ascontiguousarray(w, np.float64)
        point, blocks = cls.of(problem, w, temperature), problem.features.blocks(w)
        lossless = (np.array_equal(array, blocks[name]) for name, array in point.blocks.items())
        pairs = zip(point.blocks.items(), lossless, strict=True)
        return cls({name: a if same else np.array(blocks[name]) for (name, a), same in pairs}, point.temperature)

    @classmethod
    def has(cls, names):
        weights = {name for name in names if name.startswith(f'{WEIGHTS}.')}
        return bool(weights) and set(names) - weights <= {TEMPERATURE}

    @classmethod
    def from_arrays(cls, arrays):
        blocks = stripped(WEIGHTS, arrays)
        if not blocks:
            raise ValueError('the dual point has no weights')
        return cls(blocks, arrays.get(TEMPERATURE))

    def arrays(self):
        arrays = prefixed(WEIGHTS, self.blocks)
        return arrays if self.temperature is None else arrays | {TEMPERATURE: self.temperature}

    def vector(self, problem):
        """The weight vector. ValueError where the blocks are none."""
        w = problem.features.weights(dict(self.blocks))
        if not np.isfinite(w).all():
            raise ValueError('the weights of the dual point are no finite numbers')
        return w

    def expectations(self, problem, total):
        """The mean of E[Delta] (and the entropy, for the log losses); puts E[psi_i] into total, an Accumulator at 0."""
        from cython_ext.duals.expectations import of_scores

        temperature = None if problem.sums else _positive(self.temperature)
        if temperature is None and not problem.sums:
            raise ValueError('the temperature of the dual point is no positive number')
        return of_scores(problem, self.vector(problem), temperature, total)

    def value(self, problem, w=None):
        """By a pass of the exp oracle."""
        w = self.vector(problem)
        if problem.sums:
            return problem.evaluate(w, True).dual
        return _value(problem, w, self.temperature)


class TemperedPoint(DualPoint):
    """Of the weights of the model that holds it: a temperature is all there is to write down. (For the log losses there
    is nothing at all.)

    Attributes:
        temperature: float64[1].
    """

    def __init__(self, temperature):
        self.temperature = temperature

    @classmethod
    def at(cls, temperature):
        """That of a temperature, a number."""
        return cls(np.array([temperature]))

    @classmethod
    def has(cls, names):
        return set(names) == {TEMPERATURE}

    @classmethod
    def from_arrays(cls, arrays):
        if TEMPERATURE not in arrays:
            raise ValueError(f'the dual point has no {TEMPERATURE}')
        return cls(arrays[TEMPERATURE])

    def arrays(self):
        return {TEMPERATURE: self.temperature}

    def value(self, problem, w=None):
        """By a pass that evaluates w too: with temperature_for(problem), problem.evaluate gives both."""
        if w is None:
            raise ValueError('the dual point is that of the weights beside it, and there are none')
        return _value(problem, w, self.temperature)

    def temperature_for(self, problem):
        """What problem.evaluate takes, None where it is no temperature or the problem has no such dual points."""
        temperature = _positive(self.temperature)
        return temperature if problem.has_tempered_duals else None


def _positive(temperature):
    """A temperature as a number; None where it is none."""
    number = np.asarray(np.nan if temperature is None else temperature, np.float64)
    return float(number[0]) if number.shape == (1,) and 0 < number[0] < math.inf else None


def _value(problem, w, temperature):
    """D of the softmax for the hinge loss."""
    number = _positive(temperature)
    if number is None:
        raise ValueError('the temperature of the dual point is no positive number')
    with np.errstate(all='ignore'):
        return problem.evaluate(w, True, temperature=number).dual
