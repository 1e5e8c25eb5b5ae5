"""State weights as a list for each attribute: how observed pairs are kept, and how models of many zeros are stored."""

import numpy as np

ENTRY_BYTES = 12  # bytes of one weight in a list, its label included


def dense(weights, F, K):
    """Weights of a model with the state weights as one array [F, K]: pairs that are not listed weigh nothing."""
    if 'state' in weights:
        return weights
    state = np.zeros((F, K))
    rows = np.repeat(np.arange(F), np.diff(weights['state.indptr']))
    state[rows, weights['state.labels']] = weights['state.weights']
    return {'state': state} | _others(weights)


def packed(weights):
    """Weights of a model with the state weights as lists of those not 0, if that takes half the room or less."""
    state = weights.get('state')
    if state is None or 2 * ENTRY_BYTES * np.count_nonzero(state) > state.nbytes:
        return weights
    rows, labels = np.nonzero(state)
    indptr = np.zeros(len(state) + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=len(state)), out=indptr[1:])
    lists = {'state.indptr': indptr, 'state.labels': labels.astype(np.int32), 'state.weights': state[rows, labels]}
    return lists | _others(weights)


def _others(weights):
    return {name: array for name, array in weights.items() if name.partition('.')[0] != 'state'}
