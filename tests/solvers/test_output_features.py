"""Multiclass with features of the classes: the map against Lambda written out, every solver to the optimum of the joint
features x (x) Lambda(y)."""

import functools
import itertools

import numpy as np
import pytest

from cython_ext.duals.mixture import MixturePoint
from cython_ext.duals.natural import NaturalPoint
from cython_ext.duals.sparse import SparsePoint
from cython_ext.features.calls import adjoint, gram_of, scores_of
from cython_ext.features.capabilities import Radius
from cython_ext.features.tokens.output_features import triangular_root
from cython_ext.solvers.registry import solver_info
from cython_ext.tasks.build import build_problem
from tests import optimum
from tests.kernels import dense
from tests.solvers import tiny
from tests.solvers.problems import Twin, dataset_of
from tests.solvers.runs import make
from tests.solvers.test_optimum import DENSE, MINIMISERS, REACH, check_both_sides, close_in

DATA = ('multiclass', 'multiclass-binary')
KINDS = ('tree', 'attributes', 'flat')


def descriptions(kind, n_labels):
    """Lambda [K, R]: of a tree, whose nodes are more than the classes; fewer attributes than classes; the classes."""
    if kind == 'flat':
        return np.eye(n_labels)
    if kind == 'attributes':
        return np.random.default_rng(5).normal(size=(n_labels, n_labels - 1))
    pairs = np.arange(n_labels)[:, None] // 2 == np.arange((n_labels + 1) // 2)
    return np.hstack([np.eye(n_labels), 0.7 * pairs, 0.5 * np.ones((n_labels, 1))])


class DescribedTwin(Twin):
    """A problem of the core beside the one on x (x) Lambda(y); a plain w is [attributes * R]."""

    def to_core(self, w):
        return self.problem.features.weights({'state': w.reshape(-1, self.outputs.shape[1]) @ self.outputs.T})

    def from_core(self, vector):
        states = self.problem.features.blocks(vector)['state']
        return (states @ np.linalg.pinv(self.outputs.T)).ravel()

    def alpha_of(self, point):
        if isinstance(point, NaturalPoint):
            table = np.asarray(point.theta, float).reshape(self.problem.n, -1)
            return [optimum.softmax(row[: len(self.outputs)]) for row in table]
        if isinstance(point, MixturePoint):
            return self.mixed(point)
        alpha = np.zeros((self.problem.n, len(self.outputs)))
        rows = np.repeat(np.arange(self.problem.n), np.diff(point.indptr))
        np.add.at(alpha, (rows, point.codes), point.weights)
        return list(alpha)


@functools.cache
def twin(name, kind, objective='hinge', loss='matrix', threads=1):
    data = tiny.named(name)
    outputs, rows, n = descriptions(kind, data.n_labels), dense(data), len(data.labels)
    cost = tiny.cost_matrix(data.n_labels) if loss == 'matrix' else 1.0 - np.eye(data.n_labels)
    psi = [
        (x[None, :, None] * (outputs[y] - outputs)[:, None, :]).reshape(data.n_labels, -1)
        for x, y in zip(rows, data.labels, strict=True)
    ]
    lam = 1.0 / n
    problem = build_problem(
        dataset_of(data), data.task, objective, cost, lam, threads=threads, similarity=outputs @ outputs.T
    )
    plain = optimum.Problem(psi, [cost[y] for y in data.labels], lam)
    it = DescribedTwin(problem, None, None, plain, objective)
    it.outputs, it.rows = outputs, rows
    return it


CASES = [
    (solver, objective, kind, name)
    for solver in MINIMISERS
    for objective, kind, name in itertools.product(solver_info(solver).objectives, KINDS, DATA)
]


@pytest.mark.parametrize('case', CASES, ids='-'.join)
def test_bounds_close_in_on_the_optimum(case):
    solver, objective, kind, name = case
    tolerance, limit = REACH[solver]
    it = twin(name, kind, objective)
    method = make(solver, it.problem, seed=3)
    close_in(it, method, tolerance, limit)
    check_both_sides(it, method, solver in DENSE)


@pytest.mark.parametrize(('kind', 'name'), list(itertools.product(KINDS, DATA)))
def test_the_map_is_that_of_the_joint_features(kind, name):
    it, rng = twin(name, kind), np.random.default_rng(1)
    features, outputs, labels = it.problem.features, it.outputs, len(it.outputs)
    v, w = (rng.normal(size=(it.rows.shape[1], outputs.shape[1])) for _ in range(2))
    core_v, core_w = it.to_core(v), it.to_core(w)
    assert features.inner(core_v, core_w) == pytest.approx(
        np.sum((v @ outputs.T @ np.linalg.pinv(outputs.T)) * w), rel=1e-10
    )
    assert np.linalg.matrix_rank(features.similarity) == labels - (kind == 'attributes')
    np.testing.assert_allclose(features.blocks(core_w)['state'], w @ outputs.T, rtol=0, atol=1e-12)
    for i, x in enumerate(it.rows):
        np.testing.assert_allclose(scores_of(features, i, core_w)[:labels], x @ w @ outputs.T, rtol=0, atol=1e-12)
        a = np.zeros(features.stride)
        a[:labels] = rng.normal(size=labels)
        image = np.outer(x, outputs.T @ a[:labels])
        np.testing.assert_allclose(it.from_core(adjoint(features, i, a)), image.ravel(), rtol=0, atol=1e-11)
        gram = (x @ x) * outputs @ outputs.T @ a[:labels]
        np.testing.assert_allclose(gram_of(features, i, a)[:labels], gram, rtol=0, atol=1e-11)
        psi = it.plain.psi[i]
        right = np.array([np.argmin((psi**2).sum(axis=1))], np.int32)
        exact = features.helper(Radius).radius2(i, right, np.ones(1), 1.0)
        assert exact == pytest.approx((psi**2).sum(axis=1).max(), rel=1e-10)


@pytest.mark.parametrize('kind', KINDS)
def test_sums_over_the_data_do_not_depend_on_threads_or_windows(kind):
    it = twin('multiclass', kind)
    weights = np.random.default_rng(2).dirichlet(np.ones(len(it.outputs)), size=it.problem.n)
    n, labels = weights.shape
    codes = np.tile(np.arange(labels), n)
    point = SparsePoint(np.arange(0, n * labels + 1, labels), weights.ravel(), np.arange(n * labels + 1), codes)
    value, w = point.certify(it.problem)
    assert value == pytest.approx(
        optimum.dual(it.plain, 'hinge', list(weights / weights.sum(axis=1)[:, None])), rel=1e-11
    )
    assert point.value(it.problem) == pytest.approx(value, rel=1e-12)
    other = twin('multiclass', kind, threads=3)
    assert point.certify(other.problem)[1].tobytes() == w.tobytes()


@pytest.mark.parametrize(
    ('similarity', 'said'),
    [
        ([[1, 2], [2, 1]], 'have the eigenvalue -1 '),
        ([[1, 0.5], [0, 1]], 'not symmetric'),
        ([[1, np.nan], [np.nan, 1]], 'no square matrix of numbers'),
        ([[1, 0]], 'no square matrix'),
    ],
)
def test_what_are_no_inner_products_is_refused(similarity, said):
    with pytest.raises(ValueError, match=said):
        triangular_root(similarity)


def test_what_does_not_go_together_is_refused():
    data = dataset_of(tiny.named('multiclass'))
    similarity = np.eye(len(data.label_names))
    for how, said in (
        ({'feature_set': 'observed'}, 'use --feature-set all'),
        ({'kernel': {'kind': 'rbf', 'gamma': 1.0}}, 'linear kernel'),
        ({'similarity': np.eye(2)}, 'shape'),
    ):
        with pytest.raises(ValueError, match=said):
            build_problem(data, 'multiclass', **{'similarity': similarity, **how})
    with pytest.raises(ValueError, match='single labels'):
        build_problem(dataset_of(tiny.named('chain')), 'chain', similarity=similarity)
    with pytest.raises(ValueError, match='no use for features of classes'):
        make('counts', build_problem(data, 'multiclass', similarity=similarity))


def test_weights_that_no_features_give_are_refused():
    features = twin('multiclass', 'attributes').problem.features
    states = np.random.default_rng(0).normal(size=features.blocks(features.zeros())['state'].shape)
    with pytest.raises(ValueError, match='none that the features of the classes can give'):
        features.weights({'state': states})
    inside = states @ features.root.T
    np.testing.assert_allclose(features.blocks(features.weights({'state': inside}))['state'], inside, atol=1e-12)
