"""Tree-reweighted sums: exact on trees, equal to their definition on circles, and bounds whatever the messages are."""

from itertools import pairwise

import numpy as np
import pytest

from cython_ext.relaxations.forests import forests_of
from cython_ext.relaxations.tree_reweighted import PairsError, TreeReweighted
from cython_ext.structures.graph.factor_graphs import FactorGraphs
from cython_ext.structures.graph.graph import Graph
from tests import graphs
from tests.tree_reweighted import Sums

NAMES = ('tree', 'loop', 'complete', 'twice', 'apart', 'node', 'grid')
TREES = ('tree', 'apart', 'node')


@pytest.fixture(scope='module')
def made():
    layout = graphs.layout(NAMES, seed=3)
    factor_graphs = FactorGraphs(layout)
    return layout, TreeReweighted(factor_graphs), Graph(factor_graphs)


@pytest.mark.parametrize('scale', [0.3, 1, 5, 30, 1e3])
@pytest.mark.parametrize('name', NAMES)
def test_bounds(made, name, scale):
    layout, structure, exact = made
    i, rng = NAMES.index(name), np.random.default_rng(int(scale))
    theta = scale * rng.normal(size=structure.size(i))
    value, mean = structure.exp_oracle(i, theta)
    sums, means = exact.exp_oracle(i, theta)
    slack = structure.slack()[i]
    rounding = 1e-10 * (1 + abs(sums))
    assert value >= sums - rounding and slack >= 0
    assert value - slack <= energy(layout, i, theta, mean) + rounding
    assert value - slack == pytest.approx(energy(layout, i, theta, mean), rel=1e-9)
    if name in TREES:
        assert value == pytest.approx(sums, rel=1e-11) and slack <= rounding
        np.testing.assert_allclose(mean, means, rtol=0, atol=1e-8)
    if scale <= 1:
        assert slack <= rounding


@pytest.mark.parametrize('name', ['loop', 'complete', 'twice'])
@pytest.mark.parametrize('scale', [0.3, 1, 3])
def test_values_are_those_of_the_definition(made, name, scale):
    layout, structure, _ = made
    i = NAMES.index(name)
    theta = scale * np.random.default_rng(4).normal(size=structure.size(i))
    value, _ = structure.exp_oracle(i, theta)
    assert value == pytest.approx(Sums(layout, i).best(theta), abs=1e-7)


@pytest.mark.parametrize('name', ['loop', 'grid'])
def test_means_are_the_gradient(made, name):
    _, structure, _ = made
    i = NAMES.index(name)
    theta = np.random.default_rng(5).normal(size=structure.size(i))
    _, mean = structure.exp_oracle(i, theta)
    for p in range(0, len(theta), 3):
        step = np.eye(len(theta))[p] * 1e-5
        difference = structure.exp_oracle(i, theta + step)[0] - structure.exp_oracle(i, theta - step)[0]
        assert mean[p] == pytest.approx(difference / 2e-5, abs=1e-6)


def energy(layout, i, theta, mean):
    """<theta, tau> with the entropies at a point of the local polytope, which it is asserted to be."""
    shape = layout.shapes[layout.shape_of[i]]
    sizes = [layout.types[kind].size for kind in shape.types]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    tables = [mean[a:b] for a, b in pairwise(starts)]
    edges = shape.scopes[shape.nodes :]
    forests = forests_of(shape.nodes, edges)
    total = theta @ mean + sum(entropy(table) for table in tables[: shape.nodes])
    for e, (u, v) in enumerate(edges):
        table = tables[shape.nodes + e].reshape(sizes[u], sizes[v])
        np.testing.assert_allclose(table.sum(axis=1), tables[u], rtol=0, atol=1e-12)
        np.testing.assert_allclose(table.sum(axis=0), tables[v], rtol=0, atol=1e-12)
        appearance = np.mean([e in dict(forest) for forest in forests])
        total += appearance * (entropy(table) - entropy(tables[u]) - entropy(tables[v]))
    assert mean.min() >= 0
    np.testing.assert_allclose([table.sum() for table in tables], 1, rtol=0, atol=1e-12)
    return total


def entropy(table):
    table = table[table > 0]
    return -float(table @ np.log(table))


def test_predictions_are_labelings_with_their_scores(made):
    layout, structure, exact = made
    rng = np.random.default_rng(6)
    for i, name in enumerate(NAMES):
        theta = 5 * rng.normal(size=structure.size(i))
        score, code = structure.max_oracle(i, theta)
        assert structure.is_output(i, code) and score == pytest.approx(structure.statistics(i, code) @ theta)
        assert score <= exact.max_oracle(i, theta)[0] + 1e-9
        if name in TREES:
            continue
        chances = structure.exp_oracle(i, theta)[1]
        assert code[0] == chances[: layout.types[layout.shapes[layout.shape_of[i]].types[0]].size].argmax()


@pytest.mark.parametrize('name', NAMES)
def test_forests(made, name):
    """Each edge is in one at least, none closes a circle, and the last node of each step is nearer to the root."""
    layout, _, _ = made
    shape = layout.shapes[NAMES.index(name)]
    edges = shape.scopes[shape.nodes :]
    forests = forests_of(shape.nodes, edges)
    assert {e for forest in forests for e, _ in forest} == set(range(len(edges)))
    assert (len(forests) == 1) == (name in TREES)
    for forest in forests:
        done = set()
        for e, first in forest:
            child, parent = edges[e] if first else edges[e][::-1]
            assert child not in done and parent not in done
            done.add(child)


def test_other_factors_are_refused():
    for names in (('high order',), ('tree', 'counted')):
        with pytest.raises(PairsError, match='of nodes and pairs'):
            TreeReweighted(FactorGraphs(graphs.layout(names)))
