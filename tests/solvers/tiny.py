"""Tiny random data sets whose outputs can all be listed, as plain arrays with the names that TokenDataset uses."""

from types import SimpleNamespace

import numpy as np


def arrays(task='chain', lengths=(3, 1, 2), n_labels=3, attributes=4, edges=0, binary=False, seed=0):
    """A random data set: sparse tokens (some without any attribute), random labels below n_labels.

    lengths: tokens per example (multiclass: only their number counts); edges: number of edge attributes, 0 for none;
    binary: all values are 1 and the array of values is None.
    """
    rng = np.random.default_rng(seed)
    if task == 'multiclass':
        lengths = [1] * len(lengths)
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    data = SimpleNamespace(offsets=offsets, n_labels=n_labels, n_attributes=attributes, n_edge_attributes=edges)
    data.indptr, data.indices, data.values = _rows(rng, np.ones(offsets[-1], bool), attributes, binary)
    data.edge_indptr = data.edge_indices = data.edge_values = None
    if edges:
        inside = np.ones(offsets[-1], bool)
        inside[offsets[:-1][np.diff(offsets) > 0]] = False
        data.edge_indptr, data.edge_indices, data.edge_values = _rows(rng, inside, edges, binary)
    data.labels = rng.integers(n_labels, size=offsets[-1]).astype(np.int32)
    return data


def _rows(rng, filled, width, binary):
    """CSR rows with about half of `width` columns each; rows that are not `filled` stay empty."""
    present = (rng.random((len(filled), width)) < 0.5) & filled[:, None]
    indptr = np.concatenate(([0], np.cumsum(present.sum(axis=1)))).astype(np.int64)
    indices = np.nonzero(present)[1].astype(np.int32)
    values = None if binary else np.round(rng.normal(size=len(indices)), 3)
    return indptr, indices, values


def cost_matrix(n_labels, seed=0):
    """A random cost matrix [right, predicted] with a zero diagonal, not symmetric."""
    cost = np.round(np.random.default_rng(seed).uniform(0.2, 3, size=(n_labels, n_labels)), 2)
    np.fill_diagonal(cost, 0)
    return cost
