"""Labelings by dual decomposition against enumeration and linear programs."""

import numpy as np
import pytest

from cython_ext.structures.decomposition import Decomposition
from cython_ext.structures.factor_graphs import FactorGraphs
from cython_ext.structures.local_polytope import LocalPolytope
from tests import graphs

graphs.GRAPHS['binary tree'] = ((2,) * 7, ((0, 1), (0, 2), (1, 3), (4, 1), (2, 5), (6, 2)))
graphs.GRAPHS['star of triples'] = ((2,) * 7, ((0, 1, 2), (0, 3, 4), (5, 0, 6)))
TREES = ('node', 'apart', 'tree', 'binary tree')
LOOPS = ('loop', 'complete', 'high order', 'grid', 'twice', 'star of triples')


def setting(names, seed=1):
    layout = graphs.layout(names, seed=seed)
    return Decomposition(FactorGraphs(layout)), graphs.GraphEnumeration(layout), layout


def drawn(structure, i, rng):
    scale = 10.0 ** rng.uniform(-2, 2)
    return scale * rng.normal(size=structure.size(i))


@pytest.mark.parametrize('seed', range(4))
def test_on_trees_it_is_the_best_labeling(seed):
    structure, truth, _ = setting(TREES, seed)
    rng = np.random.default_rng(seed)
    for i in range(structure.n):
        for _ in range(30):
            theta = drawn(structure, i, rng)
            value, code = structure.max_oracle(i, theta)
            scores = truth.examples[i].parts @ theta
            assert value == pytest.approx(scores.max(), rel=1e-9)
            assert scores[truth.examples[i].codes.index(tuple(code.tolist()))] == pytest.approx(value, rel=1e-9)


def test_on_graphs_with_loops_it_is_a_labeling_and_mostly_the_best():
    structure, truth, _ = setting(LOOPS)
    rng = np.random.default_rng(7)
    right = total = 0
    for i in range(structure.n):
        for _ in range(60):
            theta = drawn(structure, i, rng)
            value, code = structure.max_oracle(i, theta)
            scores = truth.examples[i].parts @ theta
            assert value == pytest.approx(scores[truth.examples[i].codes.index(tuple(code.tolist()))], rel=1e-9)
            assert value <= scores.max() + 1e-9 * abs(scores.max())
            right += value >= scores.max() - 1e-9 * abs(scores.max())
            total += 1
    assert right >= 0.8 * total


def test_where_linear_programs_are_tight_it_is_the_best():
    """Binary pairs: an integral solution of the linear program is found by messages, too."""
    layout = graphs.layout(('complete', 'grid', 'twice'), seed=2)
    structure, polytope = Decomposition(FactorGraphs(layout)), LocalPolytope(FactorGraphs(layout))
    truth, rng, tight = graphs.GraphEnumeration(layout), np.random.default_rng(8), 0
    for i in range(structure.n):
        for _ in range(15):
            theta = rng.normal(size=structure.size(i))
            best = (truth.examples[i].parts @ theta).max()
            if polytope.max_oracle(i, theta)[0] <= best + 1e-9:
                tight += 1
                assert structure.max_oracle(i, theta)[0] == pytest.approx(best, rel=2e-2)
    assert tight > 15


def test_ties_and_equal_scores():
    structure, truth, _ = setting(('grid', 'tree', 'high order'))
    for i in range(structure.n):
        value, code = structure.max_oracle(i, np.zeros(structure.size(i)))
        assert value == 0 and tuple(code.tolist()) in truth.examples[i].codes
        again = structure.max_oracle(i, np.zeros(structure.size(i)))
        np.testing.assert_array_equal(code, again[1])


def test_it_offers_the_max_oracle_only():
    structure, _, _ = setting(TREES)
    assert structure.oracles == ('max',) and not structure.exact
