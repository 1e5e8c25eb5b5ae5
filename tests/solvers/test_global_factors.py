"""Soft constraints with global factors: every solver to an independently computed optimum, and what the optima have
to do with those of the problem itself; counts where the problem itself is solved."""

import functools
import itertools

import numpy as np
import pytest

from cython_ext.core.local_marginals import relaxed_dual
from cython_ext.core.problem import Problem
from cython_ext.core.relaxed_primal import relaxed_primal
from cython_ext.losses.graph import NodeCosts
from cython_ext.losses.zero_one import ZeroOne
from cython_ext.objectives.registry import OBJECTIVES, build_objective
from cython_ext.solvers.registry import solver_info
from cython_ext.structures.graph.layout import FactorType
from cython_ext.tasks.relaxations import build_relaxed, next_stage
from ssvm_cli.training.rho_stages import Multipliers
from tests import graphs, optimum
from tests.oracles.test_graph import Flat
from tests.solvers.runs import bounds, close_in, go, make
from tests.solvers.test_graph import fits
from tests.solvers.test_optimum import MINIMISERS, REACH

LAM, RHO, SEED = 0.3, 0.5, 4
NAMES = ('chain', 'rows', 'counted', 'both')
EXACT = (*graphs.COUNTED, 'tree', 'high order', 'node')
graphs.GRAPHS['pairs'] = ((2,) * 7, tuple(itertools.pairwise(range(7))))
ALONE = ('only chain', 'only tree', 'counted')  # one factor that holds all nodes: nothing is relaxed


def problem_of(layout, relaxation, objective='hinge', loss='hamming', rho=RHO, **how):
    structure, features = build_relaxed(layout, Flat(layout), relaxation, rho, LAM, **how)
    task_loss = ZeroOne(structure) if loss == 'zero-one' else NodeCosts.on(structure)
    made = build_objective(objective, structure, task_loss)
    name = loss if OBJECTIVES[objective][2] else None
    return Problem(structure, features, made, LAM, ('graph', objective, name))


def soft_optimum(layout, rho=RHO, multipliers=None):
    """(optimum, what it is to be multiplied by) of the soft problem, from all labelings."""
    plain, lam, times = graphs.soft(graphs.GraphEnumeration(layout), LAM, rho, multipliers)
    return optimum.solve(optimum.Problem.of(plain, lam), 'hinge'), times


def exact_optimum(layout, objective='hinge', loss='hamming'):
    truth = graphs.GraphEnumeration(layout)
    plain = optimum.Problem.of(truth, LAM)
    if loss == 'zero-one':
        plain.delta = [(np.arange(len(e.codes)) != e.gold).astype(float) for e in truth.examples]
    return optimum.solve(plain, objective)


@functools.cache
def twin(relaxation, objective='hinge', loss='hamming', pulled=False):
    """(problem, its optimum, what that is to be multiplied by)."""
    layout = graphs.layout(EXACT if relaxation == 'none' else NAMES, seed=SEED, tied=True)
    if relaxation == 'none':
        return problem_of(layout, 'none', objective, loss), exact_optimum(layout, objective, loss), 1.0
    places = graphs.soft(graphs.GraphEnumeration(layout), LAM, RHO)[0].place
    multipliers = np.random.default_rng(5).normal(size=len(places)) if pulled else None
    return problem_of(layout, 'soft', multipliers=multipliers), *soft_optimum(layout, RHO, multipliers)


CASES = [
    (solver, relaxation, objective, loss)
    for solver in MINIMISERS
    for objective in solver_info(solver).objectives
    for relaxation in ('none', 'soft')
    for loss in ('hamming', 'zero-one')
    if fits(solver, relaxation, objective, loss)
]


def closes_in(solver, problem, best, times, tolerance, limit):
    method = make(solver, problem, seed=3)
    close_in(method, best, times, tolerance, limit)
    return method


@pytest.mark.parametrize('case', CASES, ids=map('-'.join, CASES))
def test_bounds_close_in_on_the_optimum(case):
    solver, relaxation, objective, loss = case
    closes_in(solver, *twin(relaxation, objective, loss), *REACH[solver])


@pytest.mark.parametrize('solver', ['bcfw', 'fw', 'n-slack', 'one-slack'])
def test_solvers_reach_the_optimum_with_multipliers(solver):
    problem, best, times = twin('soft', pulled=True)
    method = closes_in(solver, problem, best, times, *REACH[solver])
    _, w = method.iterates()[0]
    np.testing.assert_allclose(problem.features.weights(problem.features.blocks(w)), w, rtol=0, atol=1e-12)


@pytest.mark.parametrize('name', ALONE)
def test_one_factor_of_all_nodes_leads_to_the_problem_itself(name):
    """Theorems 4.1 and 4.2 of Meshi et al., where the relaxed problem is the exact one: g* <= g_rho* <= g* + rho/2 h,
    and a point with a soft gap epsilon is within epsilon + rho/2 h of g*. What is said to bound it does, and closes
    in."""
    layout = graphs.layout((name, 'node'), seed=SEED, tied=True)
    exact, truth, gaps, values = exact_optimum(layout), graphs.GraphEnumeration(layout), [], []
    longest = max(np.linalg.norm(example.features, axis=1).max() for example in truth.examples)
    factors = max(len(graphs.blocks(layout, shape)) for shape in layout.shapes)
    wrong, states = max(shape.nodes for shape in layout.shapes), max(max(truth.states(i)) for i in range(layout.n))
    for rho in (1.0, 0.1, 0.01, 0.001):
        best, times = soft_optimum(layout, rho)
        problem = problem_of(layout, 'soft', rho=rho)
        method = make('bcfw', problem)
        for _ in range(2000):
            method.run_pass(go())
        primal, dual = bounds(method)
        _, w = min(method.iterates(), key=lambda iterate: problem.evaluate(iterate[1]).primal)
        largest = max(np.linalg.norm(exact.w), np.linalg.norm(w[: truth.dim]))
        h = layout.n * (4 * states * factors * 2 * (largest * longest + wrong)) ** 2
        assert exact.dual - 1e-9 <= times * best.primal and times * best.dual <= exact.primal + rho / 2 * h
        relaxed = relaxed_primal(problem, w, primal)
        assert exact.dual - 1e-9 <= relaxed <= exact.primal + (primal - dual) + rho / 2 * h
        lower = relaxed_dual(problem, method.dual_point())
        assert lower <= exact.primal + 1e-9
        gaps.append(relaxed - lower)
        values.append(times * best.primal)
    assert values == sorted(values, reverse=True) and values[-1] < 1.01 * exact.primal
    assert gaps == sorted(gaps, reverse=True) and gaps[-1] < 1e-3 * exact.primal


def gaps_of_stages(layout, stages, passes):
    """What is left between the bounds of the relaxed problem, here the exact one, after each stage with multipliers."""
    exact, problem = exact_optimum(layout), problem_of(layout, 'soft', rho=0.1)
    method, multipliers, gaps = make('bcfw', problem), Multipliers(), []
    for _ in range(stages):
        for _ in range(passes):
            method.run_pass(go())
        _, w = method.iterates()[0]
        upper = relaxed_primal(problem, w, problem.evaluate(w).primal)
        lower = relaxed_dual(problem, method.dual_point())
        assert upper >= exact.dual * (1 - 1e-9) and lower <= exact.primal * (1 + 1e-9)
        gaps.append((upper - lower) / exact.primal)
        point, delta = method.dual_point(), problem.features.delta_of(w)
        problem = next_stage(problem, 0.1, multipliers.after(delta))
        method = make('bcfw', problem)
        method.set_dual_point(point)
    return gaps


@pytest.mark.parametrize('name', ALONE)
def test_multipliers_lead_to_the_problem_itself(name):
    assert gaps_of_stages(graphs.layout((name, 'node'), seed=SEED, tied=True), 40, 60)[-1] < 1e-3


@pytest.mark.parametrize('seed', [4, 5, 6])
def test_a_chain_as_one_factor_needs_fewer_passes_than_its_pairs(seed):
    """To agree on the states of all nodes: what multipliers have to reach along the chain."""
    chain, pairs = (graphs.layout((name, name), seed=seed, tied=True) for name in ('only chain', 'pairs'))
    assert gaps_of_stages(chain, 6, 20)[-1] < gaps_of_stages(pairs, 6, 20)[-1] / 5


def test_agreeing_marginals_bound_from_below_whatever_the_point():
    """Also where global factors overlap, after every pass, and for a point that knows no labelings."""
    layout = graphs.layout(('both', 'rows', 'star', 'counts apart'), seed=2, tied=True)
    exact = exact_optimum(layout)
    problem = problem_of(layout, 'soft')
    for solver in ('bcfw', 'eg'):
        method = make(solver, problem)
        for passes in range(30):
            assert relaxed_dual(problem, method.dual_point()) <= exact.primal + 1e-9, passes
            method.run_pass(go())
    assert relaxed_dual(problem, method.dual_point()) > 0


@pytest.mark.parametrize('rho', [10.0, 1.0, 0.1, 0.01])
def test_a_chain_as_one_factor_is_bounded_by_its_pairs(rho):
    """With delta of the chain the sum of those of the pairs, nodes score the same, the chain no more than its pairs,
    and a node's delta has at most twice the square (two pairs meet in it): the value at rho/2 is at most that of the
    pairs at rho. At the same rho it may be more, as scores of nodes are not shared out among pairs."""
    chain, pairs = (graphs.layout((name,), seed=SEED, tied=True) for name in ('only chain', 'pairs'))
    exact = exact_optimum(chain)
    assert exact.primal == pytest.approx(exact_optimum(pairs).primal, rel=1e-9)
    halved, apart = (times * best.primal for best, times in (soft_optimum(chain, rho / 2), soft_optimum(pairs, rho)))
    assert exact.dual - 1e-9 <= halved <= apart + 1e-9


def test_a_count_is_a_table_of_all_joint_states():
    """The same problem as with a factor whose joint states share columns of weights, and the same optimum."""
    layout = graphs.layout(('counted', 'both'), seed=SEED, tied=True)
    problem = problem_of(layout, 'soft')
    values = [soft_optimum(layout)[0].primal]
    method = make('bcfw', problem)
    for t, kind in enumerate(layout.types):
        if kind.buckets is not None:
            counts = np.array([bin(joint).count('1') for joint in range(16)])
            columns = np.searchsorted(kind.buckets, counts, side='right') - 1
            layout.types[t] = FactorType((2,) * 4, columns.astype(np.int32), kind.attributes)
    table = problem_of(layout, 'soft')
    values.append(soft_optimum(layout)[0].primal)
    assert values[0] == pytest.approx(values[1], rel=1e-9)
    for _ in range(30):
        method.run_pass(go())
    _, w = method.iterates()[0]
    assert problem.evaluate(w).primal == pytest.approx(table.evaluate(w).primal, rel=1e-12)
