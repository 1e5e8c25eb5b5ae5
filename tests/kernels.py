"""Kernel problems as linear ones: features whose inner products are the values of a kernel."""

import copy

import numpy as np

from cython_ext.tasks.build import build_problem
from tests import optimum
from tests.enumeration import Enumeration
from tests.solvers import tiny
from tests.solvers.problems import Twin, dataset_of


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


class KernelTwin(Twin):
    """A kernel problem of the core beside the linear problem on explicit features."""

    def from_core(self, vector):
        """w[k] at the explicit features truth.keys."""
        features = self.problem.features
        n_labels, stride, size = features.n_labels, features.stride, features.basis.size
        table = np.asarray(vector, np.float64)[: size * stride].reshape(size, stride)[:, :n_labels]
        weights = {'state': self.basis_features.T @ table, **features.blocks(vector)}
        return np.array([weights[kind][tuple(where)] for kind, *where in self.truth.keys])


def kernel_twin(name, objective, kernel, loss='hamming', lam_times_n=1.0, **how):
    """The problem on tiny.DATA[name] with a kernel (a dict) and lambda = lam_times_n / n; how: for build_problem."""
    data = tiny.named(name)
    dataset, lam = dataset_of(data), lam_times_n / (len(data.offsets) - 1)
    problem = build_problem(dataset, data.task, objective, loss, lam, kernel=kernel, structure=data.structure, **how)
    explicit = explicit_features(data, **kernel)
    truth = Enumeration(data.task, with_features(data, explicit), data.n_labels, loss)
    basis = problem.features.basis
    it = KernelTwin(problem, None, truth, optimum.Problem.of(truth, lam), objective)
    it.basis_features = np.zeros((basis.size, explicit.shape[1]))
    it.basis_features[basis.find(data.indptr, data.indices, data.values)] = explicit
    return it
