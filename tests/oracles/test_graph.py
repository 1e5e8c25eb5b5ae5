"""Feature maps and losses of factor graphs, exact and relaxed, and the linear program over the local polytope."""

import functools
import itertools

import numpy as np
import pytest

from cython_ext.features.accumulators import Accumulator
from cython_ext.features.calls import add_parts_to, adjoint, gram_of, norm2_of, put, scores_of
from cython_ext.losses.graph import NodeCosts
from cython_ext.relaxations.local_polytope import LocalPolytope
from cython_ext.structures.graph.elimination import MAX_TABLE_DOUBLES, TooLargeError, plan
from cython_ext.structures.graph.factor_graphs import FactorGraphs
from cython_ext.tasks.relaxations import build_relaxed, has_exact_oracle
from tests import graphs

LAM, RHO = 0.3, 0.7
EXAMPLES = ('tree', 'high order', 'loop', 'node', 'twice')


class Flat:
    """A naming of the weights for tests: one array."""

    def __init__(self, layout):
        self.sizes = [(kind.weights - kind.state_attributes, kind.state_attributes) for kind in layout.types]

    def join(self, arrays, of_states):
        both = zip(arrays, of_states, strict=True)
        return {'all': np.concatenate([np.append(array.ravel(), more) for array, more in both])}

    def split(self, blocks):
        ends = np.cumsum(np.ravel(self.sizes))
        if len(blocks['all']) != ends[-1]:
            raise ValueError('weights of another graph')
        pieces = np.split(blocks['all'], ends[:-1])
        return pieces[::2], pieces[1::2]


@functools.cache
def made(relaxation, tied=False, per_state=0, names=EXAMPLES):
    """(structure, features, GraphEnumeration) of some graphs."""
    layout = graphs.layout(names, seed=3, tied=tied, per_state=per_state)
    return *build_relaxed(layout, Flat(layout), relaxation, RHO, LAM), graphs.GraphEnumeration(layout)


def truth_of(relaxation, truth):
    """For each example the features of its parts, [m_i, d], and what the map multiplies them by."""
    if relaxation == 'none':
        return [
            (truth.dense([truth.features_of(i, *key) for key in truth.part_keys(i)]), 1.0) for i in range(len(EXAMPLES))
        ]
    blocks, _, times = graphs.soft(truth, LAM, RHO)
    return [(block.features, times) for block in blocks.examples]


CASES = pytest.mark.parametrize(
    ('relaxation', 'tied', 'per_state'), list(itertools.product(('none', 'soft'), (False, True), (0, 2)))
)


@CASES
def test_scores_and_their_adjoint(relaxation, tied, per_state):
    _, features, truth = made(relaxation, tied, per_state)
    rng = np.random.default_rng(0)
    for i, (of_parts, times) in enumerate(truth_of(relaxation, truth)):
        w, a = rng.normal(size=features.dim), rng.normal(size=len(of_parts))
        np.testing.assert_allclose(
            scores_of(features, i, w)[: len(a)], times * of_parts @ w, rtol=0, atol=1e-12 * times
        )
        np.testing.assert_allclose(adjoint(features, i, a), times * a @ of_parts, rtol=0, atol=1e-12 * times)


@CASES
def test_inner_products(relaxation, tied, per_state):
    _, features, truth = made(relaxation, tied, per_state)
    rng = np.random.default_rng(1)
    for i, (of_parts, times) in enumerate(truth_of(relaxation, truth)):
        a = np.where(rng.random(len(of_parts)) < 0.5, rng.normal(size=len(of_parts)), 0)
        gram = times**2 * of_parts @ of_parts.T
        np.testing.assert_allclose(gram_of(features, i, a)[: len(a)], gram @ a, rtol=0, atol=1e-11 * times**2)
        assert norm2_of(features, i, a) == pytest.approx(a @ gram @ a, rel=1e-11, abs=1e-12)
        w = np.zeros(features.dim)
        ids = np.flatnonzero(a).astype(np.int32)
        add_parts_to(features, w, i, ids, a[ids])
        np.testing.assert_allclose(w, times * a @ of_parts, rtol=0, atol=1e-12 * times)


@CASES
@pytest.mark.parametrize('threads', [1, 2])
def test_sums_over_examples(relaxation, tied, per_state, threads):
    from cython_ext.common.parallel import Pool

    structure, features, truth = made(relaxation, tied, per_state)
    found = truth_of(relaxation, truth)
    rng = np.random.default_rng(2)
    values = [rng.normal(size=len(of_parts)) for of_parts, _ in found]
    expected = sum(times * a @ of_parts for a, (of_parts, times) in zip(values, found, strict=True))
    total = features.helper(Accumulator, structure.n)
    for _ in range(2):  # the second time from a cleared one
        total.clear(Pool(threads))
        put_all(total, values)
        out = features.zeros()
        total.total(out, Pool(threads))
        np.testing.assert_allclose(out, expected, rtol=0, atol=1e-10)
        assert total.norm2(Pool(threads)) == pytest.approx(expected @ expected, rel=1e-10)


def put_all(total, values):
    """Puts a vector for each example, the first half into the first chunk."""
    for i, a in enumerate(values):
        put(total, min(total.chunks - 1, 2 * i // len(values)), i, a)


@CASES
def test_models_keep_the_weights(relaxation, tied, per_state):
    _, features, _ = made(relaxation, tied, per_state)
    w = np.random.default_rng(3).normal(size=features.dim)
    np.testing.assert_allclose(features.weights(features.blocks(w)), w, rtol=1e-15)
    with pytest.raises(ValueError, match='another graph'):
        features.weights({'all': np.zeros(3)})


@pytest.mark.parametrize('relaxation', ['none', 'soft'])
def test_hamming_loss(relaxation):
    structure, _, truth = made(relaxation)
    blocks, times = (truth, 1.0) if relaxation == 'none' else graphs.soft(truth, LAM, RHO)[::2]
    loss = NodeCosts.on(structure)
    rng = np.random.default_rng(4)
    for i, example in enumerate(blocks.examples):
        values = [loss.value_of(i, np.array(code, np.int32)) for code in example.codes]
        np.testing.assert_allclose(values, times * example.losses, rtol=1e-15)
        theta = rng.normal(size=example.parts.shape[1])
        totals = example.parts @ theta + times * example.losses
        value, code, delta = loss.max_of(i, theta)
        row = example.codes.index(tuple(code.tolist()))
        assert value == pytest.approx(totals.max(), rel=1e-12)
        assert totals[row] == pytest.approx(totals.max(), rel=1e-12)
        assert delta == times * example.losses[row]
        chances = rng.dirichlet(np.ones(len(totals)))
        assert loss.expected_of(i, chances @ example.parts) == pytest.approx(chances @ (times * example.losses))


def binary(states):
    return all(count == 2 for count in states)


@functools.cache
def polytope():
    names = [name for name, (states, scopes) in graphs.GRAPHS.items() if binary(states) and len(states) < 6]
    truth = graphs.GraphEnumeration(graphs.layout(names, seed=5))
    return LocalPolytope(FactorGraphs(truth.layout)), graphs.relaxed(truth), truth


def test_linear_program_is_the_best_vertex():
    structure, points, exact = polytope()
    rng, above = np.random.default_rng(6), 0
    for i, example in enumerate(points.examples):
        for _ in range(20):
            theta = rng.normal(size=example.parts.shape[1])
            value, code = structure.max_oracle(i, theta)
            assert value == pytest.approx((example.parts @ theta).max(), rel=1e-9)
            assert structure.statistics(i, code) @ theta == pytest.approx(value, rel=1e-9)
            above += value > (exact.examples[i].parts @ theta).max() + 1e-6
        np.testing.assert_array_equal(structure.statistics(i, structure.gold_code(i)), example.parts[example.gold])
    assert above, 'no program had a fractional optimum'


def test_points_outside_of_the_polytope_are_no_outputs():
    structure, points, _ = polytope()
    for i, example in enumerate(points.examples):
        inside = np.random.default_rng(7).dirichlet(np.ones(len(example.parts))) @ example.parts
        assert structure.is_output(i, inside.view(np.int32))
        for change in (-0.5, 1e-3, np.nan, np.inf):
            outside = inside.copy()
            outside[0] += change
            assert not structure.is_output(i, outside.view(np.int32))


def test_relaxed_loss_is_linear_in_the_nodes():
    structure, points, _ = polytope()
    loss = NodeCosts.on(structure)
    for i, example in enumerate(points.examples):
        for point, delta in zip(example.parts[::7], example.losses[::7], strict=True):
            assert loss.value_of(i, point.copy().view(np.int32)) == pytest.approx(delta, abs=1e-15)


def test_rounding_takes_the_likelier_state():
    structure, points, _ = polytope()
    codes, indptr, expected = [], [0], []
    for i, example in enumerate(points.examples):
        point = example.parts[len(example.parts) // 3]
        codes.append(point.copy().view(np.int32))
        indptr.append(indptr[-1] + len(codes[-1]))
        nodes = len(graphs.GraphEnumeration.states(polytope()[2], i))
        expected += [int(point[2 * v + 1] > point[2 * v]) for v in range(nodes)]
    found = structure.labelings(np.concatenate(codes), np.array(indptr))
    np.testing.assert_array_equal(found, expected)


def test_large_graphs_have_no_exact_oracle():
    side = 20
    pairs = [
        (r * side + c, r * side + c + step) for r in range(side - 1) for c in range(side - 1) for step in (1, side)
    ]
    states = [5] * side**2
    with pytest.raises(TooLargeError, match='graph of 400 nodes'):
        plan(states, [*((v,) for v in range(side**2)), *pairs], np.arange(side**2 + len(pairs)))
    assert MAX_TABLE_DOUBLES == 1 << 22
    chain = [(v, v + 1) for v in range(side**2 - 1)]
    _, work = plan(states, [*((v,) for v in range(side**2)), *chain], np.arange(2 * side**2 - 1))
    assert work < 40 * side**2  # a tree: a table for two nodes each


def test_exact_oracles_are_found_out_before_anything_is_made():
    assert has_exact_oracle(graphs.layout(['grid', 'complete']))
    layout = graphs.layout(['node'])
    layout.shapes[0].nodes = 30
    layout.shapes[0].types = np.zeros(60, np.int32)
    layout.shapes[0].scopes = [*((v,) for v in range(30)), tuple(range(30))]
    assert not has_exact_oracle(layout)
