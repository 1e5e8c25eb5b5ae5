"""Attributes that share a column: the partition against its definition, and problems with and without it."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cython_ext.features.tokens.column_groups import column_groups
from cython_ext.solvers.registry import solver_info
from cython_ext.tasks.build import build_problem
from tests.solvers import tiny
from tests.solvers.problems import dataset_of


def sparse(matrix):
    indptr = np.concatenate([[0], np.cumsum(matrix.sum(axis=1))]).astype(np.int64)
    return indptr, np.nonzero(matrix)[1].astype(np.int32)


@given(st.lists(st.lists(st.booleans(), min_size=7, max_size=7), min_size=1, max_size=8), st.integers(1, 3))
def test_groups_are_the_equal_columns(rows, copies):
    matrix = np.repeat(np.array(rows, int), copies, axis=1)
    groups = column_groups(*sparse(matrix), matrix.shape[1])
    columns = [tuple(column) for column in matrix.T]
    if groups is None:
        assert len(set(columns)) > 0.9 * len(columns)
        return
    first = {}
    assert groups.group.tolist() == [first.setdefault(column, len(first)) for column in columns]
    assert groups.sizes.tolist() == [columns.count(column) for column in first]
    indptr, index, values = groups.entries(*sparse(matrix))
    dense = np.zeros((len(matrix), len(first)))
    for r in range(len(matrix)):
        row = index[indptr[r] : indptr[r + 1]]
        assert row.tolist() == sorted(set(row.tolist()))
        dense[r, row] = values[indptr[r] : indptr[r + 1]]
    # scores and norms stay the same
    weights = np.random.default_rng(0).normal(size=(len(first), 3))
    whole = groups.expand(weights)
    np.testing.assert_allclose(matrix @ whole, dense @ weights, atol=1e-12)
    assert (whole**2).sum() == pytest.approx((weights**2).sum())
    np.testing.assert_allclose(groups.reduce(whole), weights, atol=1e-12)


def repeated(edges, seed=4):
    """Chains in which attributes 0, 1, 2 and 5, 6 always occur together."""
    data = tiny.arrays('chain', (4, 1, 3, 0, 5), 3, 4, edges=edges, binary=True, seed=seed)
    copies = np.array([3, 1, 1, 2])
    matrix = np.zeros((data.offsets[-1], 4), int)
    matrix[np.repeat(np.arange(len(matrix)), np.diff(data.indptr)), data.indices] = 1
    data.indptr, data.indices = sparse(np.repeat(matrix, copies, axis=1))
    data.n_attributes = int(copies.sum())
    return dataset_of(SimpleNamespace(**vars(data)))


@pytest.mark.parametrize('edges', [0, 2])
@pytest.mark.parametrize(('objective', 'solver'), [('hinge', 'bcfw'), ('log', 'lbfgs')])
def test_training_with_groups_gives_the_same_model(objective, solver, edges):
    data = repeated(edges)
    plain, merged = (build_problem(data, 'chain', objective, lam=0.3, merge=merge) for merge in (False, True))
    assert merged.dim < plain.dim
    info = solver_info(solver)
    found = []
    for problem in (plain, merged):
        run = info.make(problem, info.settings({}), 0)
        for _ in range(250):
            if not run.finished:
                run.run_pass(np.zeros(1, np.int32))
        w = run.iterates()[0][1]
        primal = problem.evaluate(w).primal
        blocks = problem.features.blocks(w)
        # the model has a weight for every attribute, and the same objective
        assert plain.evaluate(plain.features.weights(blocks)).primal == pytest.approx(primal, rel=1e-12)
        if objective == 'hinge':
            point = run.dual_point()
            assert point.value(plain) == pytest.approx(point.value(merged), rel=1e-12)
        found.append((primal, blocks))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-6)
    for name, block in found[0][1].items():
        np.testing.assert_allclose(found[1][1][name], block, atol=2e-3)


def test_values_other_than_one_are_left_alone():
    data = repeated(0)
    data = dataclasses.replace(data, values=np.ones(len(data.indices)))
    assert build_problem(data, 'chain', merge=True).dim == build_problem(data, 'chain').dim
