"""Matchings: large assignments against another solver, losses by hand, outputs that are none."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from cython_ext.duals.sparse import SparsePoint
from cython_ext.features.calls import scores_of
from cython_ext.tasks.matching import build
from tests import matchings
from tests.matchings import dataset_of

LINK = {'a': 1.0}


def made(rng, n, m, share):
    """(structure of one example, its links, bool [n, m] which there are)."""
    there = rng.random((n, m)) < share
    there[there.sum(axis=1) == 0, 0] = True
    example = [(int(r), int(c), '0', LINK) for r, c in np.argwhere(there)]
    return build(dataset_of([example]))[0], example, there


@pytest.mark.parametrize('kind', ['normal', 'whole', 'huge'])
@pytest.mark.parametrize('share', [1.0, 0.3, 0.05])
@pytest.mark.parametrize(('n', 'm'), [(30, 30), (20, 45), (45, 20)])
def test_large_assignments(n, m, share, kind):
    """A row without a link is one that is assigned to a column of its own."""
    rng = np.random.default_rng([n, int(100 * share)])
    structure, _, there = made(rng, n, m, share)
    for _ in range(5):
        table, none = np.full((n, m), -np.inf), rng.normal(size=n)
        scale = 1e8 if kind == 'huge' else 3.0
        table[there] = rng.normal(size=there.sum()) * scale
        if kind == 'whole':
            table, none = np.round(table), np.round(none)
        none[rng.random(n) < 0.2] = -1e12  # such a row is linked if at all possible
        alone = np.full((n, n), -np.inf)
        np.fill_diagonal(alone, none)
        costs = np.hstack([table, alone])
        rows, columns = linear_sum_assignment(np.where(np.isfinite(costs), costs, -1e18), maximize=True)
        value, code = structure.max_oracle(0, np.concatenate([table[there], none]))
        assert value == pytest.approx(costs[rows, columns].sum(), rel=1e-12)
        parts = structure.statistics(0, code)
        assert parts @ np.concatenate([table[there], none]) == pytest.approx(value, rel=1e-14)
        assert (np.bincount(np.nonzero(there)[1][parts[: there.sum()] > 0], minlength=m) <= 1).all()


@pytest.mark.parametrize('kind', ['normal', 'whole', 'huge', 'forbidden'])
@pytest.mark.parametrize(('n', 'm', 'share'), [(12, 12, 1.0), (15, 9, 0.4), (9, 15, 0.3)])
def test_the_next_best_of_large_ones(n, m, share, kind):
    """The second best output lacks a part of the best one: it is the best of those without each of these parts, which
    are solved anew. So is the third, of those without a part of the first and one of the second."""
    rng = np.random.default_rng([n, 7])
    structure, _, _ = made(rng, n, m, share)
    for _ in range(5):
        theta = rng.normal(size=structure.size(0)) * (1e8 if kind == 'huge' else 2.0)
        if kind == 'whole':
            theta = np.round(theta)
        if kind == 'forbidden':
            theta[rng.random(len(theta)) < 0.2] = -np.inf
        values, codes = structure.topk_oracle(0, theta, 3)
        assert len({tuple(code) for code in codes}) == len(codes)
        lacking = [theta]
        for value, code in zip(values, codes, strict=True):
            best = max(structure.max_oracle(0, scores)[0] for scores in lacking)
            assert value == pytest.approx(best, rel=1e-12)
            parts = np.flatnonzero(structure.statistics(0, code))
            lacking = [without(scores, part) for scores in lacking for part in parts]


def without(scores, part):
    scores = scores.copy()
    scores[part] = -np.inf
    return scores


def test_a_row_that_has_to_be_linked():
    """Where two rows have to be and there is one column for both, there is no output."""
    structure, *_ = build(dataset_of([[(0, 0, '1', LINK), (1, 0, '0', LINK), (1, 1, '0', LINK)]]))
    theta = np.array([5.0, 1.0, 2.0, 0.0, -np.inf])
    assert structure.max_oracle(0, theta)[0] == 5 + 2
    theta[2] = -np.inf
    assert structure.max_oracle(0, theta)[0] == 1
    theta[3] = -np.inf
    value, code = structure.max_oracle(0, theta)
    assert value == -np.inf and code.tolist() == [1, 2]


def test_wrong_links_by_hand():
    """Row 0: the right link, one or a possible one in its place, none; row 1: a wrong link, a possible one."""
    from cython_ext.losses.matching import WrongLinks

    example = [(0, 0, '1', LINK), (0, 1, '0', LINK), (0, 2, 'P', LINK), (1, 3, '0', LINK), (1, 4, 'P', LINK)]
    loss = WrongLinks(build(dataset_of([example]))[0])
    costs = {(0, 2): 0, (1, 2): 2, (2, 2): 1, (3, 2): 1, (0, 0): 1, (0, 1): 0, (3, 0): 2}
    for code, cost in costs.items():
        assert loss.value_of(0, np.array(code, np.int32)) == cost
        assert matchings.wrong_links(example, code) == cost


def test_codes_that_are_no_matchings():
    """Two rows with one column, and numbers of links that are not there: a dual point with them is refused."""
    from cython_ext.tasks.build import build_problem

    example = [(0, 0, '1', LINK), (0, 1, '0', LINK), (1, 0, '0', LINK)]
    problem = build_problem(dataset_of([example]), 'matching')

    def certify(*code):
        one, codes = np.array([0, 1]), np.array(code, np.int32)
        SparsePoint(one, np.ones(1), 2 * one, codes).certify(problem)

    for good in ((0, 1), (1, 0), (2, 1)):
        certify(*good)
    for bad in ((0, 0), (3, 1), (-1, 1), (2, 2)):
        with pytest.raises(ValueError, match='not a distribution over its outputs'):
            certify(*bad)


def test_what_is_left_out_and_numbered_anew():
    """Rows and columns far apart cost nothing; links in any order."""
    example = [(999, 7, '0', LINK), (3, 10**6, '1', LINK), (999, 10**6, '0', LINK), (3, 7, '0', LINK)]
    structure, features = build(dataset_of([example]))
    assert structure.size(0) == 6 and structure.code_size(0) == 2
    assert structure.gold_code(0).tolist() == [1, 2]
    assert structure.layout.links(0, np.array([1, 0])).tolist() == [1, 0]
    assert scores_of(features, 0, np.array([2.0])).tolist() == [2, 2, 2, 2, 0, 0]
    assert dataset_of([example]).sides == [2, 2]


def test_right_links_that_are_no_matching():
    one, two = [(0, 0, '1', LINK), (1, 1, '1', LINK)], [(0, 0, '1', LINK), (1, 0, '1', LINK)]
    assert dataset_of([one, one]).complete
    assert not dataset_of([one, two]).complete
    assert not dataset_of([[(0, 0, '1', LINK), (0, 1, '1', LINK)]]).complete
