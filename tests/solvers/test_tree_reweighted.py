"""Log losses over the local polytope: every solver on tiny graphs with circles, to an optimum that is computed from the
definition of tree-reweighted sums."""

import functools

import pytest

from cython_ext.core.problem import Problem
from cython_ext.losses.graph import NodeCosts
from cython_ext.objectives.registry import OBJECTIVES, build_objective
from cython_ext.solvers.registry import solver_info
from cython_ext.tasks.relaxations import build_relaxed
from tests import graphs, optimum
from tests.oracles.test_graph import Flat
from tests.solvers.runs import bounds, go, make
from tests.solvers.test_optimum import MINIMISERS, REACH
from tests.tree_reweighted import optimum as least

LAM, NAMES = 0.3, ('loop', 'tree', 'twice')
CASES = [
    (solver, objective)
    for solver in MINIMISERS
    for objective in ('log', 'softmax-margin')
    if objective in solver_info(solver).objectives
]


@functools.cache
def twin(objective, names=NAMES, relaxation='lp'):
    """(problem, its GraphEnumeration, its layout)."""
    layout = graphs.layout(names, seed=4, tied=True, per_state=1)
    structure, features = build_relaxed(layout, Flat(layout), relaxation, lam=LAM, sums=True)
    made = build_objective(objective, structure, NodeCosts.on(structure))
    loss = 'hamming' if OBJECTIVES[objective][2] else None
    problem = Problem(structure, features, made, LAM, ('graph', objective, loss))
    return problem, graphs.GraphEnumeration(layout), layout


@functools.cache
def best_of(objective):
    _, truth, layout = twin(objective)
    return least(layout, truth, LAM, float(objective == 'softmax-margin'))


@pytest.mark.parametrize('case', CASES, ids='-'.join)
def test_bounds_close_in_on_the_optimum(case):
    solver, objective = case
    problem, best = twin(objective)[0], best_of(objective)
    tolerance, limit = REACH[solver]
    method = make(solver, problem, seed=3)
    primal, dual = bounds(method)
    while not (primal - dual <= tolerance * primal or method.finished or method.passes >= limit):
        assert method.run_pass(go())
        primal_now, dual_now = bounds(method)
        assert dual_now <= best * (1 + 1e-7) and primal_now >= best * (1 - 1e-7)
        primal, dual = min(primal, primal_now), max(dual, dual_now)
    assert primal - dual <= tolerance * primal


def test_trees_are_exact():
    problem, truth, _ = twin('log', ('tree', 'apart', 'node'))
    exact = optimum.solve(optimum.Problem.of(truth, LAM), 'log').primal
    method = make('lbfgs', problem)
    for _ in range(100):
        method.run_pass(go())
    primal, dual = bounds(method)
    assert dual <= exact * (1 + 1e-9) and primal >= exact * (1 - 1e-9) and primal - dual <= 1e-6


def test_circles_are_bounded_from_above():
    exact = optimum.solve(optimum.Problem.of(twin('log')[1], LAM), 'log').primal
    assert best_of('log') > exact + 1e-4
