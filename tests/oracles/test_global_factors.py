"""Global factors of soft constraints: features, costs and sums, against the list of their labelings; counts of many
nodes. The oracles of small ones are among the cases of test_contract.py."""

import functools
import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from cython_ext.common.parallel import Pool
from cython_ext.core.problem import Problem
from cython_ext.features.accumulators import Accumulator
from cython_ext.features.calls import add_parts_to, adjoint, gram_of, norm2_of, put, scores_of
from cython_ext.losses.graph import NodeCosts
from cython_ext.objectives.registry import build_objective
from cython_ext.solvers.registry import solver_info
from cython_ext.structures.graph.count_layout import CountsError
from cython_ext.structures.graph.factor_graphs import FactorGraphs
from cython_ext.structures.graph.graph import Graph
from cython_ext.structures.graph.layout import FactorType, GraphLayout, Shape
from cython_ext.tasks.fit import Wanted, check_fit
from cython_ext.tasks.relaxations import build_relaxed, has_exact_oracle
from tests import graphs
from tests.oracles.test_graph import Flat

LAM, RHO = 0.3, 0.7
NAMES = tuple(graphs.GLOBAL)


@functools.cache
def made(tied, per_state=0):
    """(structure, features, the blocks written out, what their features are multiplied by)."""
    layout = graphs.layout(('tree', *NAMES), seed=3, tied=tied, per_state=per_state)
    blocks, _, times = graphs.soft(graphs.GraphEnumeration(layout), LAM, RHO)
    return *build_relaxed(layout, Flat(layout), 'soft', RHO, LAM), blocks.examples, times


TIED = pytest.mark.parametrize('tied', [False, True])
FEATURES = pytest.mark.parametrize(('tied', 'per_state'), [(False, 0), (True, 0), (False, 2), (True, 2)])


@TIED
def test_blocks_have_the_outputs_of_the_list(tied):
    structure, _, blocks, times = made(tied)
    assert structure.n == len(blocks) and times == structure.n / (1 + len(NAMES))
    assert sum(structure.code_size(b) > 1 for b in range(structure.n)) == 12
    for b, truth in enumerate(blocks):
        np.testing.assert_array_equal(structure.gold_code(b), truth.codes[truth.gold])
        for code, parts in zip(truth.codes, truth.parts, strict=True):
            statistics = structure.statistics(b, np.array(code, np.int32))
            np.testing.assert_array_equal(statistics[: len(parts)], parts)
            assert not statistics[len(parts) :].any()


@FEATURES
def test_scores_are_those_of_the_labelings(tied, per_state):
    _, features, blocks, times = made(tied, per_state)
    w = np.random.default_rng(0).normal(size=features.dim)
    for b, truth in enumerate(blocks):
        scores = truth.parts @ scores_of(features, b, w)[: truth.parts.shape[1]]
        np.testing.assert_allclose(scores, times * truth.features @ w, rtol=0, atol=1e-12 * times)


@FEATURES
def test_features_of_sums_of_outputs(tied, per_state):
    """The adjoint of the scores, and the inner products that follow from it."""
    structure, features, blocks, times = made(tied, per_state)
    rng = np.random.default_rng(1)
    for b, truth in enumerate(blocks):
        alpha = np.where(rng.random(len(truth.codes)) < 0.5, rng.normal(size=len(truth.codes)), 0)
        a = np.zeros(structure.size(b))
        a[: truth.parts.shape[1]] = alpha @ truth.parts
        expected = times * alpha @ truth.features
        np.testing.assert_allclose(adjoint(features, b, a), expected, rtol=0, atol=1e-12 * times)
        np.testing.assert_allclose(truth.parts @ gram_of(features, b, a)[: truth.parts.shape[1]],
                                   times * truth.features @ expected, rtol=0, atol=1e-11 * times**2)  # fmt: skip
        assert norm2_of(features, b, a) == pytest.approx(expected @ expected, rel=1e-11, abs=1e-12)
        w, ids = np.zeros(features.dim), np.flatnonzero(a).astype(np.int32)
        add_parts_to(features, w, b, ids, a[ids])
        np.testing.assert_allclose(w, expected, rtol=0, atol=1e-12 * times)


@FEATURES
@pytest.mark.parametrize('threads', [1, 2])
def test_sums_over_blocks(tied, per_state, threads):
    structure, features, blocks, times = made(tied, per_state)
    rng, expected = np.random.default_rng(2), 0
    total = features.helper(Accumulator, structure.n)
    for b, truth in enumerate(blocks):
        a, alpha = np.zeros(structure.size(b)), rng.normal(size=len(truth.codes))
        a[: truth.parts.shape[1]] = alpha @ truth.parts
        put(total, min(total.chunks - 1, 2 * b // len(blocks)), b, a)
        expected = expected + times * alpha @ truth.features
    out = features.zeros()
    total.total(out, Pool(threads))
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-10)


def test_models_keep_the_agreement_variables():
    _, features, _, _ = made(False)
    w = np.random.default_rng(3).normal(size=features.dim)
    np.testing.assert_allclose(features.weights(features.blocks(w)), w, rtol=1e-15)


@pytest.mark.parametrize('pulled', [False, True])
def test_costs(pulled):
    """Nodes cost what Hamming loss says, all blocks what multipliers do."""
    layout = graphs.layout(('tree', *NAMES), seed=3)
    truth = graphs.GraphEnumeration(layout)
    plain, _, times = graphs.soft(truth, LAM, RHO)
    rng = np.random.default_rng(4)
    multipliers = rng.normal(size=len(plain.place)) if pulled else None
    structure, _ = build_relaxed(layout, Flat(layout), 'soft', RHO, LAM, multipliers=multipliers)
    loss, blocks = NodeCosts.on(structure), graphs.soft(truth, LAM, RHO, multipliers)[0].examples
    for b, block in enumerate(blocks):
        for code, delta in zip(block.codes, block.losses, strict=True):
            assert loss.value_of(b, np.array(code, np.int32)) == pytest.approx(times * delta, abs=1e-12)
        theta = rng.normal(size=structure.size(b))
        scores = block.parts @ theta[: block.parts.shape[1]]
        value, code, delta = loss.max_of(b, theta)
        best = (scores + times * block.losses).argmax()
        assert value == pytest.approx(scores[best] + times * block.losses[best], rel=1e-12)
        assert block.codes.index(tuple(code.tolist())) == best
        assert delta == pytest.approx(times * block.losses[best], abs=1e-12)
        z, mean = loss.exp_of(b, theta)
        assert z == pytest.approx(np.logaddexp.reduce(scores + times * block.losses), rel=1e-12)
        alpha = np.exp(scores + times * block.losses - z)
        np.testing.assert_allclose(mean[: block.parts.shape[1]], alpha @ block.parts, rtol=0, atol=1e-12)
        assert loss.expected_of(b, mean) == pytest.approx(times * alpha @ block.losses, abs=1e-12)


# ------------------------------------------------------------------------------------------------------ counts


def counted(nodes, buckets, seed=0):
    """(Graph of one count of so many nodes, scores of its parts)."""
    types = [FactorType.full((2,)), FactorType.count(buckets)]
    shape = Shape(
        nodes,
        np.array([0] * nodes + [1], np.int32),
        [*((v,) for v in range(nodes)), tuple(range(nodes))],
        np.zeros(nodes + 1, np.int64),
    )
    none, empty = np.zeros(1, np.int64), np.zeros(0, np.int32)
    indptr = np.array([0, nodes], np.int64)
    layout = GraphLayout(
        types, [shape], np.zeros(1, np.int32), none, indptr, np.zeros(nodes, np.int32), none, empty, None
    )
    return Graph(FactorGraphs(layout)), np.random.default_rng(seed).normal(size=2 * nodes + len(buckets)) * 3


def bucket_of(buckets, count):
    return np.searchsorted(buckets, count, side='right') - 1


@pytest.mark.parametrize('seed', range(5))
@pytest.mark.parametrize('buckets', [(0, 1, 2, 150, 151), tuple(range(301)), (0,), (0, 1000)], ids=len)
def test_counts_of_many_nodes(buckets, seed):
    """The best labeling for each count by dynamic programming over the nodes, and sums likewise."""
    n = 300
    graph, theta = counted(n, buckets, seed)
    of_nodes, own = theta[: 2 * n].reshape(n, 2), theta[2 * n :]
    if seed == 1:  # ties
        of_nodes[:], own[:] = np.round(of_nodes), np.round(own)
    if seed == 2:
        of_nodes[::3, 0], of_nodes[1::3, 1] = -np.inf, -np.inf
        own[-1] = -np.inf
        if not np.isfinite(own).any():
            own[:] = 0
    best, sums = np.full(n + 1, -np.inf), np.full(n + 1, -np.inf)
    best[0] = sums[0] = 0
    for zero, one in of_nodes:
        best = np.maximum(best + zero, np.append(-np.inf, best[:-1]) + one)
        sums = np.logaddexp(sums + zero, np.append(-np.inf, sums[:-1]) + one)
    terms = own[bucket_of(buckets, np.arange(n + 1))]
    value, code = graph.max_oracle(0, theta)
    assert value == pytest.approx((best + terms).max(), rel=1e-12)
    assert graph.statistics(0, code)[np.isneginf(theta)].sum() == 0
    assert value == pytest.approx(graph.statistics(0, code) @ np.maximum(theta, -1e300), rel=1e-12)
    z, mean = graph.exp_oracle(0, theta)
    assert z == pytest.approx(np.logaddexp.reduce(sums + terms), rel=1e-12)
    of_counts = np.exp(sums + terms - z)
    of_buckets = np.bincount(bucket_of(buckets, np.arange(n + 1)), of_counts, minlength=len(buckets))
    np.testing.assert_allclose(mean[2 * n :], of_buckets, rtol=0, atol=1e-9)
    np.testing.assert_allclose(mean[: 2 * n].reshape(n, 2).sum(axis=1), 1, rtol=0, atol=1e-9)
    assert mean[1 : 2 * n : 2].sum() == pytest.approx(of_counts @ np.arange(n + 1), rel=1e-9)


def test_counts_of_very_many_nodes_have_no_sums_unless_buckets_are_few():
    """The table of sums is nodes by counts; the maximum needs none."""
    n = 20_000
    graph, theta = counted(n, tuple(range(n + 1)))
    assert graph.oracles == ('max', 'topk')
    value, code = graph.max_oracle(0, theta)
    of_nodes, terms = theta[: 2 * n].reshape(n, 2), theta[2 * n :]
    gains = np.concatenate([[0], np.cumsum(np.sort(of_nodes[:, 1] - of_nodes[:, 0])[::-1])])
    assert value == pytest.approx(of_nodes[:, 0].sum() + (gains + terms).max(), rel=1e-12)
    assert value == pytest.approx(graph.statistics(0, code) @ theta, rel=1e-12)
    graph, theta = counted(n, (0, 1, 5))
    assert graph.oracles == ('max', 'topk', 'exp')
    z, mean = graph.exp_oracle(0, theta)
    log_odds = theta[1 : 2 * n : 2] - theta[: 2 * n : 2]
    np.testing.assert_allclose(mean[1 : 2 * n : 2], 1 / (1 + np.exp(-log_odds)), rtol=0, atol=1e-9)  # five are nothing
    assert z == pytest.approx(np.logaddexp(theta[: 2 * n : 2], theta[1 : 2 * n : 2]).sum() + theta[-1], rel=1e-9)


def test_blocks_offer_what_their_global_factors_do():
    layout = counted(3000, tuple(range(3001)))[0].graphs.layout
    blocks, features = build_relaxed(layout, Flat(layout), 'soft', RHO, LAM)
    assert blocks.oracles == ('max', 'topk') and made(False)[0].oracles == ('max', 'topk', 'exp')
    objective = build_objective('hinge', blocks, NodeCosts.on(blocks))
    problem = Problem(blocks, features, objective, LAM, ('graph', 'hinge', 'hamming'))
    with pytest.raises(ValueError, match='eg needs the exp oracle, which graph lacks'):
        check_fit(solver_info('eg'), Wanted.of(problem))
    assert not problem.has_tempered_duals


def test_all_forbidden():
    graph, theta = counted(4, (0, 2))
    theta[-2:] = -np.inf
    value, _ = graph.max_oracle(0, theta)
    z, mean = graph.exp_oracle(0, theta)
    assert value == z == -np.inf and not mean.any()


def test_exact_oracles_of_counts():
    layout = graphs.layout(('tree', *graphs.COUNTED))
    assert has_exact_oracle(layout)
    assert isinstance(build_relaxed(layout, Flat(layout), 'none', None, LAM)[0], Graph)
    layout = graphs.layout(('counted', 'both'))
    assert not has_exact_oracle(layout)
    with pytest.raises(CountsError, match='a factor beside one that counts: there is no exact oracle'):
        build_relaxed(layout, Flat(layout), 'none', None, LAM)
    layout = graphs.layout(('counts apart',))
    layout.shapes[0].scopes[-1] = (4, 5)
    with pytest.raises(CountsError, match='two factors that count the same node'):
        build_relaxed(layout, Flat(layout), 'none', None, LAM)


@pytest.mark.parametrize('name', ['counted', 'counts apart', 'both', 'rows'])
def test_the_local_polytope_has_distributions_over_labelings_of_counts(name):
    """Its maximum is that of a linear program with a variable for each labeling of each factor (pairs on their own)."""
    layout = graphs.layout((name, 'loop'), seed=1)
    structure, _ = build_relaxed(layout, Flat(layout), 'lp', None, LAM)
    truth, counting = graphs.GraphEnumeration(layout), name != 'rows'
    assert structure.oracles == (('max',) if counting else ('max', 'messages'))
    right = structure.gold_code(0)
    assert structure.is_output(0, right)
    np.testing.assert_array_equal(structure.statistics(0, right), truth.examples[0].parts[truth.examples[0].gold])
    fractional, parts = 0, truth.examples[0].parts.shape[1]
    for seed in range(12):
        theta = np.random.default_rng(seed).normal(size=parts)
        theta[2 * len(truth.states(0)) :] *= 5
        value, code = structure.max_oracle(0, theta)
        point = code.view(np.float64)
        assert value == pytest.approx(point @ theta, rel=1e-12) == pytest.approx(by_labelings(layout, truth, theta))
        assert value >= (truth.examples[0].parts @ theta).max() - 1e-9
        assert structure.is_output(0, code)
        fractional += bool((np.abs(point - np.round(point)) > 1e-6).any())
        if counting:
            wrong = point.copy()
            wrong[-1] += 0.01
            assert not structure.is_output(0, wrong.view(np.int32))
    assert (fractional > 0) == (name in ('both', 'rows')), 'the relaxation is one, and exact for counts alone'


def test_a_point_whose_counts_no_labeling_has_is_outside():
    """Half a count of none and half a count of all, with one node in state 1 and one in state 0: sums fit."""
    structure = build_relaxed(*two_counted(), 'lp', None, LAM)[0]
    for of_nodes, inside in (([0, 1, 1, 0], False), ([0.5, 0.5, 0.5, 0.5], True)):
        assert structure.is_output(0, np.array([*of_nodes, 0.5, 0, 0.5]).view(np.int32)) == inside


def two_counted():
    layout = counted(2, (0, 1, 2))[0].graphs.layout
    return layout, Flat(layout)


def by_labelings(layout, truth, theta):
    """The best score of distributions over labelings of single factors that agree on nodes."""
    shape, states = layout.shapes[0], truth.states(0)
    place = np.concatenate([[0], np.cumsum([layout.types[kind].size for kind in shape.types])])
    scores, equations, right = list(theta[: place[shape.nodes]]), [], []
    for v in range(shape.nodes):
        equations.append({place[v] + state: 1 for state in range(states[v])})
        right.append(1)
    for f in range(shape.nodes, len(shape.types)):
        scope = shape.scopes[f]
        rows = {(v, state): {place[v] + state: -1} for v in scope for state in range(states[v])}
        for code in itertools.product(*(range(states[v]) for v in scope)):
            labeling = dict(zip(scope, code, strict=True))
            for node in labeling.items():
                rows[node][len(scores)] = 1
            scores.append(theta[place[f] + truth.joint(0, f, labeling)])
        equations += rows.values()
        right += [0] * len(rows)
    matrix = np.zeros((len(equations), len(scores)))
    for row, entries in zip(matrix, equations, strict=True):
        row[list(entries)] = list(entries.values())
    return -linprog(-np.array(scores), A_eq=matrix, b_eq=right, bounds=(0, None)).fun


def test_their_maxima_cannot_be_smoothed():
    layout = graphs.layout(('chain',))
    with pytest.raises(ValueError, match='cannot be smoothed'):
        build_relaxed(layout, Flat(layout), 'soft', RHO, LAM, smoothing=0.1)
