"""Kernel problems as linear ones: features whose inner products are the values of a kernel."""

import copy

import numpy as np


def dense(data):
    """The tokens of some tiny.arrays as rows, [N, attributes]."""
    rows = np.zeros((len(data.indptr) - 1, data.n_attributes))
    values = np.ones(len(data.indices)) if data.values is None else data.values
    rows[np.repeat(np.arange(len(rows)), np.diff(data.indptr)), data.indices] = values
    return rows


def kernel_matrix(a, b, kind, degree=3, gamma=1.0, coef0=1.0):
    """The kernel of the rows of a and of b, from its definition."""
    if kind == 'poly':
        return np.array([[(gamma * (x @ y) + coef0) ** degree for y in b] for x in a]).reshape(len(a), len(b))
    return np.array([[np.exp(-gamma * ((x - y) ** 2).sum()) for y in b] for x in a]).reshape(len(a), len(b))


def explicit_features(data, **kernel):
    """[N, r], one row for each token: F F' is the kernel matrix. Equal tokens have equal rows."""
    distinct, place = np.unique(dense(data), axis=0, return_inverse=True)
    values, vectors = np.linalg.eigh(kernel_matrix(distinct, distinct, **kernel))
    return (vectors * np.sqrt(np.maximum(values, 0)))[place.ravel()]


def with_features(data, rows):
    """The same examples with other, dense features of their tokens."""
    data = copy.copy(data)
    n, data.n_attributes = rows.shape
    data.indptr = np.arange(0, n * data.n_attributes + 1, data.n_attributes, dtype=np.int64)
    data.indices = np.tile(np.arange(data.n_attributes, dtype=np.int32), n)
    data.values = np.ascontiguousarray(rows).ravel()
    return data
