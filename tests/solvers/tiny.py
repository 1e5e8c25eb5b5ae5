"""Tiny random data sets whose outputs can all be listed, as plain arrays with the names that TokenDataset uses."""

from types import SimpleNamespace

import numpy as np


def arrays(task='chain', lengths=(3, 1, 2), n_labels=3, attributes=4, edges=0, binary=False, bias=False, seed=0):
    """A random data set: sparse tokens (some without any attribute), random labels below n_labels.

    lengths: tokens per example (multiclass: only their number counts); edges: number of edge attributes, 0 for none;
    binary: all values are 1 and the array of values is None; bias: every token has the last attribute.
    """
    rng = np.random.default_rng(seed)
    if task == 'multiclass':
        lengths = [1] * len(lengths)
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    data = SimpleNamespace(offsets=offsets, n_labels=n_labels, n_attributes=attributes, n_edge_attributes=edges)
    data.indptr, data.indices, data.values = _rows(rng, np.ones(offsets[-1], bool), attributes, binary, bias)
    data.edge_indptr = data.edge_indices = data.edge_values = None
    if edges:
        inside = np.ones(offsets[-1], bool)
        inside[offsets[:-1][np.diff(offsets) > 0]] = False
        data.edge_indptr, data.edge_indices, data.edge_values = _rows(rng, inside, edges, binary)
    data.labels = rng.integers(n_labels, size=offsets[-1]).astype(np.int32)
    return data


def _rows(rng, filled, width, binary, bias=False):
    """CSR rows with about half of `width` columns each (and the last one with bias); rows that are not `filled` stay
    empty."""
    present = (rng.random((len(filled), width)) < 0.5) & filled[:, None]
    if bias:
        present[:, -1] = filled
    indptr = np.concatenate(([0], np.cumsum(present.sum(axis=1)))).astype(np.int64)
    indices = np.nonzero(present)[1].astype(np.int32)
    values = None if binary else np.round(rng.normal(size=len(indices)), 3)
    return indptr, indices, values


def cost_matrix(n_labels, seed=0):
    """A random cost matrix [right, predicted] with a zero diagonal, not symmetric."""
    cost = np.round(np.random.default_rng(seed).uniform(0.2, 3, size=(n_labels, n_labels)), 2)
    np.fill_diagonal(cost, 0)
    return cost


# Arguments of `arrays` by name (plain=False: no transition weights of their own; order=2: triplets of labels); together
# every kind of theta that the two structures have.
DATA = {
    'multiclass': {'task': 'multiclass', 'lengths': (1,) * 7, 'n_labels': 3, 'attributes': 4, 'seed': 1},
    'multiclass-binary': {'task': 'multiclass', 'lengths': (1,) * 6, 'n_labels': 5, 'attributes': 5, 'binary': True},
    'chain': {'lengths': (3, 1, 4, 2), 'n_labels': 3, 'attributes': 4, 'seed': 2},
    'chain-binary': {'lengths': (2, 3, 1, 3), 'n_labels': 5, 'attributes': 3, 'binary': True, 'seed': 3},
    'chain-empty': {'lengths': (2, 0, 3, 1), 'n_labels': 2, 'attributes': 3, 'seed': 4},
    'chain-edges': {'lengths': (3, 1, 4, 2), 'n_labels': 3, 'attributes': 3, 'edges': 2, 'seed': 5},
    'chain-edges-only': {'lengths': (3, 2, 4), 'n_labels': 2, 'attributes': 3, 'edges': 3, 'seed': 6, 'plain': False},
    'chain-unlinked': {'lengths': (3, 1, 2), 'n_labels': 3, 'attributes': 4, 'seed': 7, 'plain': False},
    'chain-triples': {'lengths': (3, 0, 4, 2), 'n_labels': 2, 'attributes': 3, 'seed': 18, 'order': 2},
}


# Data that can be counted: no negative values, and an attribute that every token has.
COUNTABLE = {
    'multiclass-countable': {'task': 'multiclass', 'lengths': (1,) * 9, 'n_labels': 3, 'seed': 8},
    'chain-countable': {'lengths': (3, 1, 4, 2, 2), 'n_labels': 3, 'seed': 9},
    'chain-edges-countable': {'lengths': (3, 1, 4, 0, 2), 'n_labels': 2, 'edges': 2, 'seed': 10},
    'chain-unlinked-countable': {'lengths': (3, 1, 2, 2), 'n_labels': 3, 'seed': 12, 'plain': False},
    'chain-triples-countable': {'lengths': (4, 1, 3, 0, 2), 'n_labels': 2, 'edges': 2, 'seed': 14, 'order': 2},
}


def named(name):
    """The arrays of that name, with `task`, `order`, `structure` as build_problem takes it, and `transitions` as
    TokenDataset has it."""
    options = dict(DATA[name]) if name in DATA else {**COUNTABLE[name], 'binary': True, 'bias': True}
    plain, order = options.pop('plain', True), options.pop('order', 1)
    data = arrays(**options)
    data.order = order
    data.task = options.get('task', 'chain')
    data.structure = {'order': order} if data.task == 'chain' else None
    data.transitions = plain
    return data
