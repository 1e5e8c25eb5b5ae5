"""Cuts: against all labelings of random graphs, against linear programs, and what they say when they give up."""

import itertools
import time

import numpy as np
import pytest

from cython_ext.common.errors import InexactError
from cython_ext.relaxations.local_polytope import LocalPolytope
from cython_ext.structures.graph.cut_layout import are_binary
from cython_ext.structures.graph.factor_graphs import FactorGraphs
from cython_ext.structures.graph.graph import Graph
from cython_ext.structures.graph.graph_cuts import GraphCuts
from cython_ext.structures.graph.layout import FactorType, GraphLayout, Shape
from tests import graphs

NODE, PAIR = FactorType.full((2,), constant=True), FactorType.full((2, 2), constant=True)


def layout_of(nodes, pairs):
    """One graph of binary nodes with these pairs."""
    kinds = np.array([0] * nodes + [1] * len(pairs), np.int32)
    shape = Shape(nodes, kinds, [*((v,) for v in range(nodes)), *pairs], np.zeros(len(kinds), np.int64))
    nothing, start = np.zeros(0, np.int32), np.zeros(1, np.int64)
    labels = np.zeros(nodes, np.int32)
    ends = np.array([0, nodes])
    return GraphLayout([NODE, PAIR], [shape], np.zeros(1, np.int32), start, ends, labels, start, nothing, None)


def cuts(nodes, pairs):
    return GraphCuts(FactorGraphs(layout_of(nodes, pairs)))


def grid(side):
    cells = np.arange(side**2).reshape(side, side)
    steps = [(cells[:, :-1], cells[:, 1:]), (cells[:-1], cells[1:])]
    return [tuple(map(int, pair)) for a, b in steps for pair in zip(a.ravel(), b.ravel(), strict=True)]


def totals(nodes, pairs, theta):
    """The scores of all labelings, the first node's state changing slowest."""
    codes = np.array(list(itertools.product((0, 1), repeat=nodes)))
    total = sum(theta[2 * v + codes[:, v]] for v in range(nodes))
    for p, (a, b) in enumerate(pairs):
        total = total + theta[2 * nodes + 4 * p + 2 * codes[:, a] + codes[:, b]]
    return total


def random_scores(rng, nodes, pairs, coupling):
    """coupling: a function of (rng, number of pairs) for how much more the same states score."""
    theta = rng.normal(size=2 * nodes + 4 * len(pairs))
    tables = theta[2 * nodes :].reshape(-1, 4)
    agreeing = np.array([1.0, -1.0, -1.0, 1.0])
    tables += np.outer(coupling(rng, len(pairs)) - tables @ agreeing, agreeing / 4)
    return theta


def supermodular(rng, n):
    return rng.exponential(2, size=n)


def antagonistic(rng, n):
    return -rng.exponential(2, size=n)


def mixed(rng, n):
    return rng.normal(size=n) * 3


def strong(rng, n):
    return rng.choice([-1e3, 1e3], size=n)


COUPLINGS = supermodular, antagonistic, mixed, strong


def random_pairs(rng, nodes):
    """Some pairs in any direction, a few of them twice."""
    every = [(a, b) for a in range(nodes) for b in range(nodes) if a != b]
    return [every[k] for k in rng.integers(len(every), size=rng.integers(1, 3 * nodes))]


@pytest.mark.parametrize('coupling', COUPLINGS)
def test_any_scores_are_maximised(coupling):
    rng = np.random.default_rng(1)
    for _ in range(120):
        nodes = int(rng.integers(2, 11))
        pairs = random_pairs(rng, nodes)
        structure = cuts(nodes, pairs)
        for weak in (1.0, 0.1, 0.0):
            theta = random_scores(rng, nodes, pairs, coupling)
            theta[: 2 * nodes] *= weak
            if weak == 0.0:
                theta[2 * nodes :] = np.round(theta[2 * nodes :])
            best = totals(nodes, pairs, theta).max()
            value, code = structure.max_oracle(0, theta)
            assert value == pytest.approx(best, rel=1e-12, abs=1e-12)
            assert structure.statistics(0, code) @ theta == pytest.approx(value, rel=1e-12, abs=1e-12)
        structure.check()


@pytest.mark.parametrize('coupling', COUPLINGS)
def test_forbidden_states_and_pairs(coupling):
    rng, seen = np.random.default_rng(2), 0
    for _ in range(150):
        nodes = int(rng.integers(2, 8))
        pairs = random_pairs(rng, nodes)
        theta = random_scores(rng, nodes, pairs, coupling)
        theta[rng.random(len(theta)) < rng.choice([0.02, 0.1, 0.3])] = -np.inf
        best = totals(nodes, pairs, theta).max()
        value, code = cuts(nodes, pairs).max_oracle(0, theta)
        assert value == pytest.approx(best, rel=1e-10, abs=1e-10)
        assert set(code.tolist()) <= {0, 1}
        seen += best == -np.inf
    assert 10 < seen < 100


@pytest.mark.parametrize('coupling', COUPLINGS)
def test_lists_of_the_best(coupling):
    rng = np.random.default_rng(3)
    for _ in range(15):
        nodes = int(rng.integers(2, 8))
        pairs = random_pairs(rng, nodes)
        theta = random_scores(rng, nodes, pairs, coupling)
        values, codes = cuts(nodes, pairs).topk_oracle(0, theta, 20)
        expected = np.sort(totals(nodes, pairs, theta))[::-1][:20]
        np.testing.assert_allclose(values, expected, rtol=1e-11, atol=1e-11)
        assert len(np.unique(codes, axis=0)) == len(codes)


def test_supermodular_scores_are_those_of_linear_programs():
    pairs, rng = grid(12), np.random.default_rng(4)
    layout = layout_of(144, pairs)
    structure, polytope = GraphCuts(FactorGraphs(layout)), LocalPolytope(FactorGraphs(layout))
    for weak in (1.0, 0.3):
        theta = random_scores(rng, 144, pairs, supermodular)
        theta[: 2 * 144] *= weak
        assert structure.max_oracle(0, theta)[0] == pytest.approx(polytope.max_oracle(0, theta)[0], rel=1e-9)


@pytest.mark.parametrize(('coupling', 'side'), [(mixed, 10), (strong, 6)])
def test_branching_finds_what_elimination_does(coupling, side):
    """On grids on which linear programs do not: the roof dual is their bound, and leaves nodes without a state."""
    below = 0
    pairs, rng = grid(side), np.random.default_rng(5)
    graphs = FactorGraphs(layout_of(side**2, pairs))
    structure, exact, polytope = GraphCuts(graphs), Graph(graphs), LocalPolytope(graphs)
    for _ in range(8):
        theta = random_scores(rng, side**2, pairs, coupling)
        theta[: 2 * side**2] *= 0.2
        value, _ = structure.max_oracle(0, theta)
        assert value == pytest.approx(exact.max_oracle(0, theta)[0], rel=1e-12)
        bound, _ = polytope.max_oracle(0, theta)
        assert value <= bound * (1 + 1e-9)
        below += value < bound - 1e-6
    assert below, 'no program had a fractional optimum'
    structure.check()


@pytest.mark.parametrize('coupling', [mixed, strong, antagonistic])
def test_components_are_put_together(coupling):
    """Several loops of odd length and dense groups, joined by a few pairs."""
    rng = np.random.default_rng(8)
    for _ in range(10):
        pairs = [(a, b) for g in range(6) for a, b in itertools.combinations(range(5 * g, 5 * g + 5), 2)]
        pairs += [(5 * g + 4, 5 * g + 5) for g in range(5)]
        graphs = FactorGraphs(layout_of(30, pairs))
        theta = random_scores(rng, 30, pairs, coupling)
        theta[:60] *= 0.1
        structure = GraphCuts(graphs)
        value, _ = structure.max_oracle(0, theta)
        assert value == pytest.approx(Graph(graphs).max_oracle(0, theta)[0], rel=1e-12)
        structure.check()


@pytest.mark.parametrize('sign', [1, -1])
def test_all_alike_and_all_unlike(sign):
    """A grid without loops of odd length, pulled at one node: each pair scores its best."""
    side = 40
    pairs = grid(side)
    theta = np.concatenate([np.zeros(2 * side**2), np.tile([sign, -sign, -sign, sign], len(pairs))]).astype(float)
    theta[1] = 0.5
    value, code = cuts(side**2, pairs).max_oracle(0, theta)
    assert value == len(pairs) + 0.5
    rows, columns = np.divmod(np.arange(side**2), side)
    np.testing.assert_array_equal(code, np.ones(side**2) if sign > 0 else (rows + columns + 1) % 2)


def test_what_cannot_be_found_is_said():
    nodes = 70
    pairs = list(itertools.combinations(range(nodes), 2))
    structure = cuts(nodes, pairs)
    theta = random_scores(np.random.default_rng(6), nodes, pairs, mixed)
    theta[: 2 * nodes] *= 0.01
    structure.check()
    value, code = structure.max_oracle(0, theta)
    assert structure.statistics(0, code) @ theta == pytest.approx(value)
    with pytest.raises(InexactError, match='cannot be found by graph cuts'):
        structure.check()
    start = time.perf_counter()
    for _ in range(20):  # it does not try again
        assert structure.is_output(0, structure.max_oracle(0, theta)[1])
    assert time.perf_counter() - start < 1
    with pytest.raises(InexactError):
        structure.check()


@pytest.mark.parametrize('bad', [np.nan, np.inf, 1e308])
def test_absurd_scores_come_to_an_end(bad):
    pairs, rng = grid(5), np.random.default_rng(7)
    structure = cuts(25, pairs)
    theta = random_scores(rng, 25, pairs, mixed)
    theta[rng.random(len(theta)) < 0.3] = bad
    _, code = structure.max_oracle(0, theta)
    assert set(code.tolist()) <= {0, 1}


def test_binary_graphs_are_told():
    assert are_binary(graphs.layout(['twice', 'complete', 'grid']))
    assert not are_binary(graphs.layout(['twice', 'apart']))
    assert not are_binary(graphs.layout(['twice', 'high order']))
    layout = layout_of(3, [(0, 1)])
    layout.types.append(FactorType.full((2, 2, 2)))
    assert are_binary(layout)  # no factor has that type
    layout.shapes[0].types[-1] = 2
    layout.shapes[0].scopes[-1] = (0, 1, 2)
    assert not are_binary(layout)
