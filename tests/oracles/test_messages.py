"""Block minimisation over messages: every block against its own minimum by brute force, the bound against the optimum
of all messages together, and beliefs against the derivative of the bound."""

import functools

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from scipy.special import logsumexp

from cython_ext.relaxations.agreements import Agreements
from cython_ext.relaxations.messages import Messages
from cython_ext.structures.graph.factor_graphs import FactorGraphs
from tests import graphs

NAMES = ('tree', 'high order', 'loop', 'node', 'apart', 'twice', 'complete')
BINARY = ('twice', 'complete')
TEMPERATURES = pytest.mark.parametrize('temperature', [0.0, 0.3, 2.0])


@functools.cache
def made():
    layout = graphs.layout(NAMES, seed=3)
    return Messages(Agreements(FactorGraphs(layout))), graphs.GraphEnumeration(layout)


def maps(truth, i):
    """(for each factor the rows that are added up: theta of its joint states, the matrix [joint states, messages] of
    what they meet of delta; the messages of each node) of an example, written out from the formula."""
    shape = truth.layout.shapes[truth.layout.shape_of[i]]
    sizes = [truth.layout.types[kind].size for kind in shape.types]
    place, of_nodes = {}, [[] for _ in range(shape.nodes)]
    for f in range(shape.nodes, len(sizes)):
        for k, node in enumerate(shape.scopes[f]):
            for state in range(truth.states(i)[node]):
                of_nodes[node].append(len(place))
                place[f, k, state] = len(place)
    matrices = [np.zeros((size, len(place))) for size in sizes]
    for (f, k, state), column in place.items():
        node = shape.scopes[f][k]
        matrices[node][state, column] += 1
        states = truth.layout.types[shape.types[f]].states
        for joint in range(sizes[f]):
            if np.unravel_index(joint, states)[k] == state:
                matrices[f][joint, column] -= 1
    ends = np.cumsum(sizes)
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)], matrices, of_nodes


def bound(theta, delta, parts, matrices, temperature):
    scores = [theta[part] + matrix @ delta for part, matrix in zip(parts, matrices, strict=True)]
    if temperature == 0:
        return sum(x.max() for x in scores)
    return sum(temperature * logsumexp(x / temperature) for x in scores)


def least(theta, delta, free, parts, matrices, temperature):
    """The minimum over the messages `free` of the bound, the others being as in delta: by a linear program, or
    quasi-Newton steps on a smooth function."""
    if not len(free):
        return bound(theta, delta, parts, matrices, temperature)
    delta = delta.copy()
    delta[free] = 0
    fixed = [theta[part] + matrix @ delta for part, matrix in zip(parts, matrices, strict=True)]
    moved = [matrix[:, free] for matrix in matrices]
    if temperature == 0:
        # the scores of each factor are at most its maximum
        rows = [np.hstack([block, -np.eye(len(parts))[[f] * len(block)]]) for f, block in enumerate(moved)]
        cost = np.concatenate([np.zeros(len(free)), np.ones(len(parts))])
        return linprog(cost, np.vstack(rows), -np.concatenate(fixed), bounds=(None, None)).fun

    def both(x):
        scores = [(start + block @ x) / temperature for start, block in zip(fixed, moved, strict=True)]
        value = temperature * sum(logsumexp(s) for s in scores)
        slope = sum(np.exp(s - logsumexp(s)) @ block for s, block in zip(scores, moved, strict=True))
        return value, slope

    found = minimize(both, np.zeros(len(free)), jac=True, method='BFGS', options={'gtol': 1e-9, 'maxiter': 10000})
    return found.fun


def random_start(truth, i, rng):
    parts, matrices, of_nodes = maps(truth, i)
    return rng.normal(size=parts[-1].stop), rng.normal(size=matrices[0].shape[1]), parts, matrices, of_nodes


@TEMPERATURES
def test_every_block_reaches_its_minimum(temperature):
    messages, truth = made()
    rng = np.random.default_rng(0)
    for i in range(len(NAMES)):
        theta, delta, parts, matrices, of_nodes = random_start(truth, i, rng)
        for v, free in enumerate(of_nodes):
            value, after, _ = messages.updated(i, v, theta, delta, temperature)
            assert value == pytest.approx(bound(theta, after, parts, matrices, temperature), rel=1e-12)
            assert value == pytest.approx(least(theta, delta, free, parts, matrices, temperature), rel=1e-7)
            np.testing.assert_array_equal(np.delete(after, free), np.delete(delta, free))


@TEMPERATURES
def test_the_bound_never_rises(temperature):
    messages, truth = made()
    rng = np.random.default_rng(1)
    for i in range(len(NAMES)):
        theta, delta, parts, matrices, of_nodes = random_start(truth, i, rng)
        before = bound(theta, delta, parts, matrices, temperature)
        for v in 10 * list(range(len(of_nodes))):
            value, delta, _ = messages.updated(i, v, theta, delta, temperature)
            assert value <= before + 1e-12 * abs(before)
            before = value
        assert before >= (truth.examples[i].parts @ theta).max() - 1e-12


def test_sweeps_are_the_updates_to_and_fro():
    messages, truth = made()
    rng = np.random.default_rng(2)
    for i in range(len(NAMES)):
        theta, delta, _, _, of_nodes = random_start(truth, i, rng)
        whole = messages.minimised(i, theta, delta, 0.5, 3)
        for v in [*range(len(of_nodes)), *reversed(range(len(of_nodes))), *range(len(of_nodes))]:
            value, delta, beliefs = messages.updated(i, v, theta, delta, 0.5)
        np.testing.assert_allclose(whole[1], delta, atol=1e-12)
        np.testing.assert_allclose(whole[2], beliefs, atol=1e-12)
        assert whole[0] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize('temperature', [0.3, 2.0])
def test_smoothed_sweeps_reach_the_optimum_of_all_messages(temperature):
    messages, truth = made()
    rng = np.random.default_rng(3)
    for i in range(len(NAMES)):
        theta, delta, parts, matrices, _ = random_start(truth, i, rng)
        value, _, beliefs = messages.minimised(i, theta, delta, temperature, 2000)
        best = least(theta, delta, np.arange(len(delta)), parts, matrices, temperature)
        assert value == pytest.approx(best, rel=1e-8)
        # there all factors agree on their nodes: the derivative by the messages is 0
        agreed = sum(beliefs[part] @ matrix for part, matrix in zip(parts, matrices, strict=True))
        np.testing.assert_allclose(agreed, 0, atol=1e-6)


def test_sweeps_reach_the_best_score_of_trees():
    messages, truth = made()
    rng = np.random.default_rng(4)
    for i in map(NAMES.index, ('tree', 'node', 'apart')):
        for _ in range(20):
            theta, delta, *_ = random_start(truth, i, rng)
            value, _, _ = messages.minimised(i, theta, delta, 0.0, 50)
            assert value == pytest.approx((truth.examples[i].parts @ theta).max(), rel=1e-9)


def test_sweeps_reach_the_linear_program_of_pairs_of_binary_nodes():
    """Where maxima are not smooth a point may be the best in every block and not the best: not for binary nodes
    (Globerson and Jaakkola 2007)."""
    layout = graphs.layout(BINARY, seed=3)
    messages, truth = Messages(Agreements(FactorGraphs(layout))), graphs.GraphEnumeration(layout)
    rng, above = np.random.default_rng(5), 0
    for i, example in enumerate(graphs.relaxed(truth).examples):
        for _ in range(20):
            theta, delta, *_ = random_start(truth, i, rng)
            value, _, _ = messages.minimised(i, theta, delta, 0.0, 3000)
            assert value == pytest.approx((example.parts @ theta).max(), rel=1e-6)
            above += value > (truth.examples[i].parts @ theta).max() + 1e-6
    assert above, 'no program had a fractional optimum'


@TEMPERATURES
def test_beliefs_are_the_derivative_of_the_bound(temperature):
    messages, truth = made()
    rng = np.random.default_rng(6)
    for i in range(len(NAMES)):
        theta, delta, parts, matrices, _ = random_start(truth, i, rng)
        _, _, beliefs = messages.minimised(i, theta, delta, temperature, 0)
        for k in range(len(theta)):
            step = np.zeros(len(theta))
            step[k] = 1e-6
            ends = [bound(theta + sign * step, delta, parts, matrices, temperature) for sign in (1, -1)]
            assert beliefs[k] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)
