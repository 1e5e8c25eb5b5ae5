"""A dual point that is the softmax of the scores of some weights, as a dict of arrays:

weights.NAME    the weights by the names of FeatureMap.blocks, in single precision
temperature     float64[1], what loss plus score are divided by, for the hinge loss only

Any weights give a distribution over the outputs of each example, so there is nothing to be believed, and what is lost
with the precision is a little of the bound.
"""

import numpy as np

PREFIX = 'weights.'
INPUTS = 'support.values'  # a block that is no weights: the values of tokens, which have to be found again


def make(problem, w, temperature=None):
    """The dual point of weights, which are copied."""
    point = {}
    for name, array in problem.features.blocks(w).items():
        single = array.dtype == np.float64 and name != INPUTS
        point[PREFIX + name] = array.astype(np.float32) if single else np.array(array)
    if temperature is not None:
        point['temperature'] = np.array([temperature])
    return point


def is_one(point):
    """Whether a dual point is of this kind."""
    return any(name.startswith(PREFIX) for name in point)


def of_own_weights(point):
    """Whether a dual point is nothing but a temperature: the softmax of the scores of the model's weights."""
    return list(point or ()) == ['temperature']


def value(problem, point):
    """D(alpha), by a pass of the exp oracle. ValueError when the point does not belong to the problem."""
    w = problem.features.weights({name.removeprefix(PREFIX): array for name, array in point.items() if PREFIX in name})
    if not np.isfinite(w).all():
        raise ValueError('the weights of the dual point are no finite numbers')
    if problem.sums:
        return problem.evaluate(w, True).dual
    temperature = np.asarray(point.get('temperature', np.nan), np.float64)
    if temperature.shape != (1,) or not 0 < temperature[0] < np.inf:
        raise ValueError('the temperature of the dual point is no positive number')
    with np.errstate(all='ignore'):
        return problem.evaluate(w, True, temperature=float(temperature[0])).dual
