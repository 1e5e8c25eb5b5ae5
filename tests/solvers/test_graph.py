"""Every solver on tiny factor graphs: the problem itself, over the local polytope, and with soft constraints, each to
its own optimum over enumerated outputs."""

import functools

import numpy as np
import pytest

from cython_ext.local_marginals import relaxed_dual
from cython_ext.losses.zero_one import ZeroOne
from cython_ext.objectives.registry import OBJECTIVES, build_objective
from cython_ext.problem import Problem
from cython_ext.solvers.registry import check_oracles, solver_info
from cython_ext.structures.relaxations import build_relaxed, hamming
from tests import graphs, optimum
from tests.oracles.test_graph import Flat
from tests.solvers.runs import bounds, go, make
from tests.solvers.test_optimum import BY_PARTS, MINIMISERS, REACH

LAM, RHO = 0.3, 0.5
NAMES = ('tree', 'loop', 'complete', 'high order', 'node')
BINARY = ('complete', 'twice', 'triangle')
graphs.GRAPHS['triangle'] = ((2, 2, 2), ((0, 1), (1, 2), (0, 2)))
SEED = {'none': 1, 'lp': 4, 'soft': 4}
# What is left where the loss is not smooth, as in test_optimum.py; fw's error falls like 1/t, and linear programs
# take long.
ROUGH = {'svrg': (5e-2, 3000), 'sc-svrg': (2e-2, 3000)}
BY_PROGRAMS = {'svrg': (7e-2, 1000), 'sc-svrg': (2e-2, 3000), 'fw': (5e-2, 200), 'sgd': (5e-2, 200)}


@functools.cache
def twin(relaxation, objective, loss='hamming'):
    """(problem, the plain problem, its optimum, what its objective is multiplied by)."""
    layout = graphs.layout(NAMES if relaxation == 'none' else BINARY, seed=SEED[relaxation], tied=True)
    structure, features = build_relaxed(layout, Flat(layout), relaxation, RHO, LAM)
    task_loss = ZeroOne(structure) if loss == 'zero-one' else hamming(structure)
    with_loss = OBJECTIVES[objective][2]
    made = build_objective(objective, structure, task_loss)
    problem = Problem(structure, features, made, LAM, ('graph', objective, loss if with_loss else None))
    truth, lam, times = graphs.GraphEnumeration(layout), LAM, 1.0
    if relaxation == 'lp':
        truth = graphs.relaxed(truth)
    elif relaxation == 'soft':
        truth, lam, times = graphs.soft(truth, LAM, RHO)
    plain = optimum.Problem.of(truth, lam)
    if loss == 'zero-one':
        plain.delta = [(np.arange(len(e.codes)) != e.gold).astype(float) for e in truth.examples]
    return problem, plain, optimum.solve(plain, objective), times


def fits(solver, relaxation, objective, loss):
    if relaxation == 'none':
        return loss == 'hamming' or (objective != 'log' and solver not in BY_PARTS)
    return objective == 'hinge' and loss == 'hamming' and (relaxation == 'soft' or solver not in BY_PARTS)


CASES = [
    (solver, relaxation, objective, loss)
    for solver in MINIMISERS
    for objective in solver_info(solver).objectives
    for relaxation in ('none', 'lp', 'soft')
    for loss in ('hamming', 'zero-one')
    if fits(solver, relaxation, objective, loss)
]


def options_of(solver, relaxation):
    """The polytope has the max oracle only."""
    return {'oracle': 'max'} if relaxation == 'lp' and solver in ROUGH else {}


def reach_of(solver, relaxation, objective, loss):
    if relaxation == 'lp':
        return BY_PROGRAMS.get(solver, (1e-5, 200))
    return (ROUGH if solver in ROUGH and (objective, loss) == ('hinge', 'zero-one') else REACH)[solver]


@pytest.mark.parametrize('case', CASES, ids=map('-'.join, CASES))
def test_bounds_close_in_on_the_optimum(case):
    solver, relaxation, objective, loss = case
    problem, plain, best, times = twin(relaxation, objective, loss)
    tolerance, limit = reach_of(*case)
    method = make(solver, problem, seed=3, **options_of(solver, relaxation))
    primal, dual = bounds(method)
    while not (primal - dual <= tolerance * primal or method.finished or method.passes >= limit):
        assert method.run_pass(go())
        primal_now, dual_now = bounds(method)
        assert dual_now <= times * best.primal * (1 + 1e-9)
        assert primal_now >= times * best.dual * (1 - 1e-9)
        primal, dual = min(primal, primal_now), max(dual, dual_now)
    assert primal - dual <= tolerance * primal
    assert primal - times * best.primal <= tolerance * primal
    if relaxation == 'none':
        for _, w in method.candidates():
            expected = optimum.primal(plain, objective, np.array(w, float))
            assert problem.evaluate(w).primal == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize('rho', [10.0, 1.0, 0.1, 0.01])
def test_soft_optimum_is_near_the_relaxed_one(rho):
    """Theorems 4.1 and 4.2 of Meshi et al.: g* <= g_rho* <= g* + rho/2 h, and a point with a soft gap epsilon is within
    epsilon + rho/2 h of g*; and what is said to bound the relaxed problem does."""
    layout = graphs.layout(BINARY, seed=SEED['lp'], tied=True)
    truth = graphs.GraphEnumeration(layout)
    blocks, lam, times = graphs.soft(truth, LAM, rho)
    soft = times * optimum.solve(optimum.Problem.of(blocks, lam), 'hinge').primal
    hard = twin('lp', 'hinge')[2]
    assert hard.primal > optimum.solve(optimum.Problem.of(truth, LAM), 'hinge').primal + 1e-3, 'the relaxation is tight'
    structure, features = build_relaxed(layout, Flat(layout), 'soft', rho, LAM)
    objective = build_objective('hinge', structure, hamming(structure))
    method = make('bcfw', Problem(structure, features, objective, LAM, ('graph', 'hinge', 'hamming')))
    for _ in range(200):
        method.run_pass(go())
        _, dual = bounds(method)
    w = min((w for _, w in method.candidates()), key=lambda w: method.problem.evaluate(w).primal)
    primal = method.problem.evaluate(w).primal
    longest = max(np.linalg.norm(example.features, axis=1).max() for example in truth.examples)
    largest = max(np.linalg.norm(hard.w), np.linalg.norm(w[: truth.dim]))
    factors = max(len(shape.types) for shape in layout.shapes)
    wrong = max(shape.nodes for shape in layout.shapes)
    h = layout.n * (8 * 2 * factors * (largest * longest + wrong)) ** 2
    assert hard.dual - 1e-9 <= soft <= hard.primal + rho / 2 * h
    relaxed = features.figures(w, primal, LAM)['relaxed_primal']
    assert hard.dual - 1e-9 <= relaxed <= primal
    assert relaxed <= hard.primal + (primal - dual) + rho / 2 * h
    assert relaxed_dual(method.problem, method.dual_point()) <= hard.primal + 1e-9


def test_bounds_of_the_relaxed_problem_meet_as_rho_falls():
    layout = graphs.layout(BINARY, seed=SEED['lp'], tied=True)
    best, gaps = twin('lp', 'hinge')[2].primal, []
    for rho in (1.0, 0.1, 0.01):
        structure, features = build_relaxed(layout, Flat(layout), 'soft', rho, LAM)
        objective = build_objective('hinge', structure, hamming(structure))
        method = make('bcfw', Problem(structure, features, objective, LAM, ('graph', 'hinge', 'hamming')))
        for _ in range(400):
            method.run_pass(go())
        _, w = method.candidates()[0]
        upper = features.figures(w, method.problem.evaluate(w).primal, LAM)['relaxed_primal']
        gaps.append(upper - relaxed_dual(method.problem, method.dual_point()))
        assert gaps[-1] >= -1e-9
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.05 * best


def test_agreeing_marginals_bound_from_below_for_factors_of_any_size():
    layout = graphs.layout(('high order', 'loop'), seed=2, tied=True)
    structure, features = build_relaxed(layout, Flat(layout), 'soft', RHO, LAM)
    objective = build_objective('hinge', structure, hamming(structure))
    problem = Problem(structure, features, objective, LAM, ('graph', 'hinge', 'hamming'))
    exact = optimum.solve(optimum.Problem.of(graphs.GraphEnumeration(layout), LAM), 'hinge')
    polytope, of_graphs = build_relaxed(layout, Flat(layout), 'lp', None, LAM)
    relaxed = Problem(
        polytope, of_graphs, build_objective('hinge', polytope, hamming(polytope)), LAM, ('graph', 'hinge', 'hamming')
    )
    solver = make('n-slack', relaxed)
    while not solver.finished and solver.passes < 100:
        solver.run_pass(go())
    optimal = solver.dual_value()
    assert optimal >= exact.dual - 1e-6
    method = make('bcfw', problem)
    for passes in range(50):
        assert relaxed_dual(problem, method.dual_point()) <= optimal + 1e-6, passes
        method.run_pass(go())


def test_solvers_that_want_more_oracles_are_refused():
    layout = graphs.layout(BINARY, seed=4, tied=True)
    structure, features = build_relaxed(layout, Flat(layout), 'lp', None, LAM)
    objective = build_objective('hinge', structure, hamming(structure))
    problem = Problem(structure, features, objective, LAM, ('graph', 'hinge', 'hamming'))
    for solver in ('eg', 'excessive-gap'):
        with pytest.raises(ValueError, match=f'{solver} needs the exp oracle, which graph lacks'):
            check_oracles(solver_info(solver), problem)
