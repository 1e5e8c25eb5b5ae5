"""Dual losses, primal weights: every block of messages is minimised, bounds fall to the relaxed optimum and to the
smoothed one, and the solver closes in on the relaxed problem without a linear program."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from cython_ext.objectives.registry import build_objective
from cython_ext.problem import Problem
from cython_ext.solvers.registry import check_oracles, solver_info
from cython_ext.structures.agreements import Agreements
from cython_ext.structures.factor_graphs import FactorGraphs
from cython_ext.structures.local_polytope import LocalPolytope
from cython_ext.structures.relaxations import build_relaxed, hamming
from tests import graphs
from tests.oracles.test_graph import Flat
from tests.solvers import test_graph
from tests.solvers.problems import twin
from tests.solvers.runs import go, make

NAMES = ('tree', 'loop', 'complete', 'twice', 'high order', 'grid', 'node', 'apart')
BINARY = ('complete', 'twice', 'triangle', 'grid')


def polytope(names, seed=3):
    layout = graphs.layout(names, seed=seed)
    return LocalPolytope(FactorGraphs(layout)), graphs.GraphEnumeration(layout), layout


def smooth(scores, temperature):
    top = scores.max()
    return top if temperature == 0 else top + temperature * np.log(np.exp((scores - top) / temperature).sum())


def bound_of(layout, i, theta, delta, temperature):
    """g by its definition; delta[f, k, state] for the k-th node of factor f."""
    shape = layout.shapes[layout.shape_of[i]]
    sizes = [layout.types[kind].size for kind in shape.types]
    rows = np.split(np.array(theta, float), np.cumsum(sizes)[:-1])
    for f in range(shape.nodes, len(shape.types)):
        joint = list(itertools.product(*map(range, layout.types[shape.types[f]].states)))
        for k, node in enumerate(shape.scopes[f]):
            rows[f] -= np.array([delta[f, k, states[k]] for states in joint])
            rows[node] += np.array([delta[f, k, state] for state in range(sizes[node])])
    return sum(smooth(row, temperature) for row in rows)


def messages_of(layout, i, flat):
    """The dictionary for bound_of of an example's messages."""
    shape = layout.shapes[layout.shape_of[i]]
    keys = [
        (f, k, state)
        for f in range(shape.nodes, len(shape.types))
        for k, states in enumerate(layout.types[shape.types[f]].states)
        for state in range(states)
    ]
    return dict(zip(keys, flat, strict=True))


@pytest.mark.parametrize('temperature', [0.0, 0.5])
def test_the_bound_is_that_of_the_messages(temperature):
    structure, _, layout = polytope(NAMES)
    everything, begin = structure.messages()
    rng = np.random.default_rng(0)
    for i in range(structure.n):
        theta = rng.normal(size=structure.size(i))
        messages = np.append(rng.normal(size=begin[i + 1] - begin[i]), 0.0)
        for sweeps in (0, 1, 2):
            bound, beliefs = structure.messages_oracle(i, theta, messages, temperature, sweeps)
            expected = bound_of(layout, i, theta, messages_of(layout, i, messages[:-1]), temperature)
            assert bound == pytest.approx(expected, rel=1e-12)
            assert beliefs.sum() == pytest.approx(len(layout.shapes[layout.shape_of[i]].types))
    assert len(everything) == begin[-1] + 1 == Agreements(structure.graphs).n + 1


@pytest.mark.parametrize('temperature', [0.0, 0.5])
def test_bounds_never_rise_and_stay_above_the_best_output(temperature):
    structure, truth, _ = polytope(NAMES)
    begin = structure.messages()[1]
    rng = np.random.default_rng(1)
    for i in range(structure.n):
        theta = 3 * rng.normal(size=structure.size(i))
        best = (truth.examples[i].parts @ theta).max()
        messages, before = np.zeros(begin[i + 1] - begin[i] + 1), np.inf
        for _ in range(30):
            bound, _ = structure.messages_oracle(i, theta, messages, temperature, 1)
            assert best - 1e-9 <= bound <= before + 1e-9
            before = bound


def test_one_block_is_minimised():
    """After a sweep no change of its last block lowers the bound."""
    structure, _, layout = polytope(NAMES)
    begin = structure.messages()[1]
    rng = np.random.default_rng(2)
    for i, temperature in itertools.product(range(structure.n), (0.0, 0.3)):
        count = begin[i + 1] - begin[i]
        if not count:
            continue
        theta, messages = rng.normal(size=structure.size(i)), np.append(rng.normal(size=count), 0.0)
        bound, _ = structure.messages_oracle(i, theta, messages, temperature, 1)
        last = layout.types[layout.shapes[layout.shape_of[i]].types[-1]].states[-1]
        for _ in range(50):
            other = messages[:-1].copy()
            other[-last:] += rng.normal(size=last) * 10.0 ** rng.uniform(-4, 0)
            assert bound_of(layout, i, theta, messages_of(layout, i, other), temperature) >= bound - 1e-12


def test_messages_reach_the_linear_program():
    """Of pairs of binary nodes, where coordinate descent does not get stuck short of it; of trees that is the best
    labeling."""
    structure, truth, _ = polytope((*BINARY, 'node'))
    begin = structure.messages()[1]
    rng = np.random.default_rng(4)
    for i, _ in itertools.product(range(structure.n), range(5)):
        theta = 2 * rng.normal(size=structure.size(i))
        best = structure.max_oracle(i, theta)[0]
        messages = np.zeros(begin[i + 1] - begin[i] + 1)
        bound, _ = structure.messages_oracle(i, theta, messages, 0.0, 20000)
        assert best - 1e-7 <= bound <= best + 1e-4 * max(1, abs(best))
        assert bound >= (truth.examples[i].parts @ theta).max() - 1e-7


@pytest.mark.parametrize('name', ['loop', 'complete', 'high order'])
def test_smoothed_messages_reach_the_smoothed_minimum(name):
    """Against a generic minimiser over all messages at once; their beliefs agree then."""
    structure, _, layout = polytope((name,))
    theta = np.random.default_rng(5).normal(size=structure.size(0))
    count, temperature = structure.messages()[1][1], 0.4

    def value(flat):
        return bound_of(layout, 0, theta, messages_of(layout, 0, flat), temperature)

    best = minimize(value, np.zeros(count), method='BFGS', options={'gtol': 1e-7}).fun
    messages = np.zeros(count + 1)
    bound, beliefs = structure.messages_oracle(0, theta, messages, temperature, 3000)
    assert bound == pytest.approx(best, rel=1e-7)
    np.testing.assert_allclose(structure.agreeing_code(0, beliefs).view(float), beliefs, atol=1e-6)


def test_any_beliefs_can_be_made_to_agree():
    structure, _, _ = polytope(NAMES)
    begin, rng = structure.messages()[1], np.random.default_rng(6)
    for i in range(structure.n):
        for temperature in (0.0, 1.0):
            messages = np.zeros(begin[i + 1] - begin[i] + 1)
            _, beliefs = structure.messages_oracle(i, rng.normal(size=structure.size(i)), messages, temperature, 1)
            assert structure.is_output(i, structure.agreeing_code(i, beliefs))


def relaxed_problem():
    return test_graph.twin('lp', 'hinge')


@pytest.mark.parametrize(
    ('options', 'above', 'tolerance'),
    [({'sweeps': 5}, 0.04, 0.16), ({'smoothing': 0.005}, 0.02, 0.05), ({'smoothing': 0.005, 'sweeps': 5}, 0.02, 0.03)],
)
def test_bounds_close_in_on_the_relaxed_optimum(options, above, tolerance):
    """As far as subgradient steps of size 1/t and a fixed temperature come; sharp maxima get stuck a little above."""
    problem, _, best, _ = relaxed_problem()
    method = make('dlpw', problem, seed=3, **options)
    primal, dual = np.inf, -np.inf
    for passes in range(1000):
        assert method.run_pass(go())
        if passes % 50 < 3:
            evaluation = method.evaluation()
            assert evaluation.primal >= best.dual * (1 - 1e-9)
            _, w = method.candidates()[0]
            assert evaluation.primal >= problem.evaluate(w).primal - 1e-6
            assert method.dual_value() <= best.primal * (1 + 1e-9)
            primal, dual = min(primal, evaluation.primal), max(dual, method.dual_value())
    assert primal - dual <= tolerance * primal
    assert primal <= best.primal * (1 + above)


def test_an_evaluation_changes_nothing():
    problem, *_ = relaxed_problem()
    one, other = make('dlpw', problem, seed=1), make('dlpw', problem, seed=1)
    for _ in range(3):
        one.run_pass(go())
        other.run_pass(go())
        other.evaluation()
        other.dual_value()
    assert all(np.array_equal(value, other.state()[key]) for key, value in one.state().items())


def test_a_run_goes_on_from_its_state():
    problem, *_ = relaxed_problem()
    one, other = (make('dlpw', problem, seed=2, smoothing=0.1) for _ in range(2))
    one.run_pass(go())
    other.restore(one.state())
    for method in (one, other):
        method.run_pass(go())
    assert all(np.array_equal(value, other.state()[key]) for key, value in one.state().items())


def test_it_needs_messages():
    problem = twin('chain', 'hinge', 'hamming').problem
    with pytest.raises(ValueError, match='dlpw needs the messages oracle, which chain lacks'):
        check_oracles(solver_info('dlpw'), problem)
    with pytest.raises(ValueError, match='messages oracle'):
        make('dlpw', problem)
    layout = graphs.layout(('triangle',), seed=1)
    structure, features = build_relaxed(layout, Flat(layout), 'soft', 1.0, 0.1)
    made = build_objective('hinge', structure, hamming(structure))
    with pytest.raises(ValueError, match='messages oracle'):
        make('dlpw', Problem(structure, features, made, 0.1, ('graph', 'hinge', 'hamming')))
