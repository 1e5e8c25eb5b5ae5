"""1 - F1 of sets of labels: value, maximum and sums against all sets."""

import itertools

import numpy as np
import pytest

from cython_ext.losses.set_f1 import SetF1
from cython_ext.tasks.build import build_problem
from tests import label_sets
from tests.optimum import log_sum_exp, softmax

LABELS = 5


@pytest.fixture(scope='module')
def problem():
    data = label_sets.random_sets(6, LABELS, 3, seed=4)
    return build_problem(data, 'multilabel', 'hinge', 'f1', 0.1, structure={'pairs': []}), label_sets.table(data)


def deltas(codes, gold):
    return np.array([1 - 2 * (c & gold).sum() / (c.sum() + gold.sum()) if c.sum() + gold.sum() else 0.0 for c in codes])


@pytest.mark.parametrize('kind', ['normal', 'ties', 'large', 'certain'])
def test_oracles_against_all_sets(problem, kind):
    problem, right = problem
    loss = problem.objective.loss
    assert type(loss) is SetF1
    codes = np.array(list(itertools.product((0, 1), repeat=LABELS)))
    assert {0, LABELS} <= set(right.sum(axis=1))  # an empty set and a full one are among them
    for i, seed in itertools.product(range(problem.n), range(5)):
        rng = np.random.default_rng([i, seed])
        table = rng.normal(size=(LABELS, 2)) * {'normal': 1, 'ties': 0, 'large': 30, 'certain': 800}[kind]
        delta = deltas(codes, right[i])
        totals = table[np.arange(LABELS), codes].sum(axis=1) + delta
        for code, wanted in zip(codes, delta, strict=True):
            assert loss.value_of(i, code.astype(np.int32)) == pytest.approx(wanted, abs=1e-15)
        value, code, found = loss.max_of(i, table.ravel())
        row = int(code @ 2 ** np.arange(LABELS)[::-1])
        rounding = 1e-12 * max(1, np.abs(table).max())
        assert value == pytest.approx(totals.max(), abs=rounding) and totals[row] == pytest.approx(value, abs=rounding)
        assert found == pytest.approx(delta[row], abs=1e-15)
        z, mean = loss.exp_of(i, table.ravel())
        assert z == pytest.approx(log_sum_exp(totals), abs=rounding)
        wanted = softmax(totals) @ codes
        np.testing.assert_allclose(mean.reshape(LABELS, 2)[:, 1], wanted, rtol=0, atol=rounding)
        np.testing.assert_allclose(mean.reshape(LABELS, 2)[:, 0], 1 - wanted, rtol=0, atol=rounding)


def test_many_labels_keep_their_digits():
    """Sums over 300 labels: the means of a distribution, without negative ones, and the derivatives of the sum."""
    data = label_sets.random_sets(2, 300, 3, seed=1)
    loss = build_problem(data, 'multilabel', 'hinge', 'f1', 0.1, structure={'pairs': []}).objective.loss
    table = np.random.default_rng(0).normal(size=(300, 2)) * 3
    _, mean = loss.exp_of(0, table.ravel())
    mean = mean.reshape(300, 2)
    assert (mean >= 0).all() and np.allclose(mean.sum(axis=1), 1, rtol=0, atol=1e-12)
    for v in range(0, 300, 37):
        up, down = table.copy(), table.copy()
        up[v, 1] += 1e-4
        down[v, 1] -= 1e-4
        slope = (loss.exp_of(0, up.ravel())[0] - loss.exp_of(0, down.ravel())[0]) / 2e-4
        assert slope == pytest.approx(mean[v, 1], abs=1e-7)


@pytest.mark.parametrize('structure', [{}, {'pairs': [[0, 1]]}, {'pairs': [], 'relaxation': 'lp'}])
def test_pairs_are_refused(structure):
    with pytest.raises(ValueError, match='f1 is for labels without weights for pairs'):
        build_problem(label_sets.random_sets(3, 3, 2, 0), 'multilabel', 'hinge', 'f1', 0.1, structure=structure)
