"""Every solver on tiny factor graphs: the problem itself, also by cuts, over the local polytope, and with soft
constraints, each to its own optimum over enumerated outputs."""

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
from cython_ext.structures.graph.graph_cuts import GraphCuts
from cython_ext.tasks.fit import Wanted, check_fit
from cython_ext.tasks.relaxations import build_relaxed, next_stage
from ssvm_cli.training.rho_stages import Multipliers
from tests import graphs, optimum
from tests.oracles.test_graph import Flat
from tests.solvers.runs import bounds, close_in, go, make
from tests.solvers.test_optimum import BY_PARTS, MINIMISERS, REACH

LAM, RHO = 0.3, 0.5
NAMES = ('tree', 'loop', 'complete', 'high order', 'node')
BINARY = ('complete', 'twice', 'triangle')
graphs.GRAPHS['triangle'] = ((2, 2, 2), ((0, 1), (1, 2), (0, 2)))
SEED = {'none': 1, 'cut': 4, 'lp': 4, 'soft': 4}
VARIANCE_REDUCED = ('svrg', 'sc-svrg')
# fw's error falls like 1/t, and linear programs take long.
BY_PROGRAMS = {'svrg': (1e-3, 500), 'sc-svrg': (1e-3, 500), 'fw': (5e-2, 200), 'sgd': (5e-2, 200)}


@functools.cache
def twin(relaxation, objective, loss='hamming', per_state=0):
    """(problem, the plain problem, its optimum, what its objective is multiplied by). per_state: how many features of
    each type have a value for each state, beside the others."""
    layout = graphs.layout(NAMES if relaxation == 'none' else BINARY, SEED[relaxation], 3, True, per_state)
    structure, features = build_relaxed(layout, Flat(layout), 'none' if relaxation == 'cut' else relaxation, RHO, LAM)
    if relaxation == 'cut':
        structure = GraphCuts(structure.graphs)
    task_loss = ZeroOne(structure) if loss == 'zero-one' else NodeCosts.on(structure)
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
    if relaxation == 'cut':  # which has no sums
        info = solver_info(solver)
        return objective == 'hinge' and ('oracle' in info.options or info.oracle['hinge'] != 'exp')
    if relaxation == 'none':
        return loss == 'hamming' or (objective != 'log' and solver not in BY_PARTS)
    return objective == 'hinge' and loss == 'hamming' and (relaxation == 'soft' or solver not in BY_PARTS)


CASES = [
    (solver, relaxation, objective, loss)
    for solver in MINIMISERS
    for objective in solver_info(solver).objectives
    for relaxation in ('none', 'cut', 'lp', 'soft')
    for loss in ('hamming', 'zero-one')
    if fits(solver, relaxation, objective, loss)
]


def options_of(solver, relaxation):
    """The polytope has the max oracle only, cuts the K best too."""
    if relaxation == 'cut' and solver in VARIANCE_REDUCED:
        return {'oracle': 'topk', 'K': 32}
    return {'oracle': 'max'} if relaxation == 'lp' and solver in VARIANCE_REDUCED else {}


def reach_of(solver, relaxation, objective, loss):
    if relaxation == 'lp':
        return BY_PROGRAMS.get(solver, (1e-5, 200))
    if (solver, relaxation) == ('fw', 'cut'):
        return REACH['fw'][0], 5 * REACH['fw'][1]
    return REACH[solver]


@pytest.mark.parametrize('case', CASES, ids=map('-'.join, CASES))
def test_bounds_close_in_on_the_optimum(case):
    solver, relaxation, objective, loss = case
    problem, plain, best, times = twin(relaxation, objective, loss)
    tolerance, limit = reach_of(*case)
    method = make(solver, problem, seed=3, **options_of(solver, relaxation))
    close_in(method, best, times, tolerance, limit)
    if relaxation in ('none', 'cut'):
        for _, w in method.iterates():
            expected = optimum.primal(plain, objective, np.array(w, float))
            assert problem.evaluate(w).primal == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize('case', [case for case in CASES if case[3] == 'hamming'], ids=lambda case: '-'.join(case[:3]))
def test_features_with_a_value_for_each_state(case):
    solver, relaxation, objective, loss = case
    problem, _, best, times = twin(relaxation, objective, loss, per_state=2)
    tolerance, limit = reach_of(*case)
    limit *= 8 if solver == 'fw' else 1  # whose gap falls like 1 / passes
    method = make(solver, problem, seed=3, **options_of(solver, relaxation))
    close_in(method, best, times, tolerance, limit)


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
    objective = build_objective('hinge', structure, NodeCosts.on(structure))
    method = make('bcfw', Problem(structure, features, objective, LAM, ('graph', 'hinge', 'hamming')))
    for _ in range(200):
        method.run_pass(go())
        _, dual = bounds(method)
    w = min((w for _, w in method.iterates()), key=lambda w: method.problem.evaluate(w).primal)
    primal = method.problem.evaluate(w).primal
    longest = max(np.linalg.norm(example.features, axis=1).max() for example in truth.examples)
    largest = max(np.linalg.norm(hard.w), np.linalg.norm(w[: truth.dim]))
    factors = max(len(shape.types) for shape in layout.shapes)
    wrong = max(shape.nodes for shape in layout.shapes)
    h = layout.n * (8 * 2 * factors * (largest * longest + wrong)) ** 2
    assert hard.dual - 1e-9 <= soft <= hard.primal + rho / 2 * h
    relaxed = relaxed_primal(method.problem, w, primal)
    assert hard.dual - 1e-9 <= relaxed <= primal
    assert relaxed <= hard.primal + (primal - dual) + rho / 2 * h
    assert relaxed_dual(method.problem, method.dual_point()) <= hard.primal + 1e-9


def test_bounds_of_the_relaxed_problem_meet_as_rho_falls():
    layout = graphs.layout(BINARY, seed=SEED['lp'], tied=True)
    best, gaps = twin('lp', 'hinge')[2].primal, []
    for rho in (1.0, 0.1, 0.01):
        structure, features = build_relaxed(layout, Flat(layout), 'soft', rho, LAM)
        objective = build_objective('hinge', structure, NodeCosts.on(structure))
        method = make('bcfw', Problem(structure, features, objective, LAM, ('graph', 'hinge', 'hamming')))
        for _ in range(400):
            method.run_pass(go())
        _, w = method.iterates()[0]
        upper = relaxed_primal(method.problem, w, method.problem.evaluate(w).primal)
        gaps.append(upper - relaxed_dual(method.problem, method.dual_point()))
        assert gaps[-1] >= -1e-9
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.05 * best


def test_agreeing_marginals_bound_from_below_for_factors_of_any_size():
    layout = graphs.layout(('high order', 'loop'), seed=2, tied=True)
    structure, features = build_relaxed(layout, Flat(layout), 'soft', RHO, LAM)
    objective = build_objective('hinge', structure, NodeCosts.on(structure))
    problem = Problem(structure, features, objective, LAM, ('graph', 'hinge', 'hamming'))
    exact = optimum.solve(optimum.Problem.of(graphs.GraphEnumeration(layout), LAM), 'hinge')
    polytope, of_graphs = build_relaxed(layout, Flat(layout), 'lp', None, LAM)
    relaxed = Problem(
        polytope,
        of_graphs,
        build_objective('hinge', polytope, NodeCosts.on(polytope)),
        LAM,
        ('graph', 'hinge', 'hamming'),
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


def stage(rho=RHO, multipliers=None, smoothing=0.0, names=BINARY):
    """(problem, the plain one, its optimum, what its objective is multiplied by) with soft constraints."""
    layout = graphs.layout(names, seed=SEED['soft'], tied=True)
    structure, features = build_relaxed(
        layout, Flat(layout), 'soft', rho, LAM, multipliers=multipliers, smoothing=smoothing
    )
    made = build_objective('hinge', structure, NodeCosts.on(structure))
    problem = Problem(structure, features, made, LAM, ('graph', 'hinge', 'hamming'))
    truth, lam, times = graphs.soft(graphs.GraphEnumeration(layout), LAM, rho, multipliers, smoothing)
    plain = optimum.Problem.of(truth, lam)
    return problem, plain, optimum.solve(plain, 'hinge'), times


def some_multipliers(names=BINARY):
    layout = graphs.layout(names, seed=SEED['soft'], tied=True)
    truth, _, _ = graphs.soft(graphs.GraphEnumeration(layout), LAM, RHO)
    return np.random.default_rng(5).normal(size=len(truth.place))


EXTENSIONS = [('bcfw', 'multipliers'), ('bcfw', 'smoothing')] + [
    (solver, 'both') for solver in MINIMISERS if 'hinge' in solver_info(solver).objectives
]


@pytest.mark.parametrize(('solver', 'kind'), EXTENSIONS)
def test_solvers_reach_the_optimum_of_the_extensions(solver, kind):
    """Section 7 of Meshi et al.: multipliers beside the penalty, and smoothed maxima."""
    multipliers = some_multipliers() if kind != 'smoothing' else None
    problem, _, best, times = stage(multipliers=multipliers, smoothing=0.0 if kind == 'multipliers' else 0.3)
    tolerance, limit = reach_of(solver, 'soft', 'hinge', 'hamming')
    method = make(solver, problem, seed=3)
    close_in(method, best, times, tolerance, limit)
    _, w = method.iterates()[0]
    np.testing.assert_allclose(problem.features.weights(problem.features.blocks(w)), w, rtol=0, atol=1e-12)


def smoothed_maximum(scores, right, gamma):
    """max over the simplex of <alpha, scores> - gamma/2 sum of alpha(a)^2 over the wrong a, by trying every support."""
    best, wrong = scores[right], [a for a in range(len(scores)) if a != right]
    for size in range(1, len(wrong) + 1):
        for support in itertools.combinations(wrong, size):
            margins = scores[list(support)] - scores[right]
            # inside the simplex, or with no weight left for the right one
            for level in (0.0, (margins.sum() - gamma) / size):
                alpha = (margins - level) / gamma
                if (alpha >= 0).all() and alpha.sum() <= 1 + 1e-12:
                    best = max(best, scores[right] + alpha @ margins - gamma / 2 * alpha @ alpha)
    return best


def test_features_of_joint_states_smooth_the_maxima():
    """The optimum with them is that of the problem whose maxima are smoothed, at the same weights."""
    gamma = 0.3
    _, plain, best, _ = stage(smoothing=gamma)
    own = sum(len(losses) for losses in plain.delta)
    w = np.array(best.w)
    assert np.abs(w[-own:]).max() > 1e-3
    w[-own:] = 0.0
    total = 0.0
    for psi, delta in zip(plain.psi, plain.delta, strict=True):  # psi: the right output's features less those of each
        right = int(np.abs(psi).sum(axis=1).argmin())
        total += smoothed_maximum(delta - psi @ w, right, gamma)
    assert plain.lam / 2 * w @ w + total / len(plain.psi) == pytest.approx(best.primal, rel=1e-6)
    _, _, hard, _ = stage()
    assert hard.primal - gamma / 2 <= best.primal <= hard.primal


def relaxed_bounds(problem, method):
    """(upper, lower) bound of the relaxed problem."""
    _, w = method.iterates()[0]
    upper = relaxed_primal(problem, w, problem.evaluate(w).primal)
    return upper, relaxed_dual(problem, method.dual_point())


@pytest.mark.parametrize('rho', [0.5, 0.1])
def test_multipliers_lead_to_the_relaxed_optimum(rho):
    """Whatever rho is: the augmented Lagrangian."""
    best = twin('lp', 'hinge')[2]
    problem, *_ = stage(rho)
    method, multipliers, gaps = make('bcfw', problem), Multipliers(), []
    for _ in range(40):
        for _ in range(60):
            method.run_pass(go())
        upper, lower = relaxed_bounds(problem, method)
        assert upper >= best.dual * (1 - 1e-9)
        assert lower <= best.primal * (1 + 1e-9)
        gaps.append(upper - lower)
        point, delta = method.dual_point(), problem.features.delta_of(method.iterates()[0][1])
        problem = next_stage(problem, rho, multipliers.after(delta))
        method = make('bcfw', problem)
        method.set_dual_point(point)
    assert gaps[-1] < 1e-3 * best.primal < 0.1 * gaps[0]


def test_blocks_of_a_graph_are_visited_one_after_the_other():
    """Every block once a pass, graphs and blocks in new orders each time: what a graph shares stays in the cache."""
    problem, *_ = stage()
    method = make('bcfw', problem, seed=1)
    example, orders = problem.structure.examples(), []
    for _ in range(3):
        method.run_pass(go())
        order = method.state()['order']
        assert sorted(order) == list(range(problem.n))
        visited = example[order]
        assert np.count_nonzero(np.diff(visited)) == problem.structure.graphs.n - 1
        orders.append((tuple(visited), tuple(order)))
    assert len({order for _, order in orders}) == 3 and len({graph for graph, _ in orders}) > 1
    begin = problem.structure.neighbours()
    assert begin[0] == 0 and begin[-1] == problem.n
    assert all(len(set(example[a:b])) == 1 for a, b in itertools.pairwise(begin))


def test_a_dual_point_is_one_for_every_rho():
    problem, *_ = stage(1.0)
    method = make('bcfw', problem)
    for _ in range(20):
        method.run_pass(go())
    point = method.dual_point()
    following = next_stage(problem, 0.1, None)
    _, _, best, times = stage(0.1)
    start = make('bcfw', following)
    start.set_dual_point(point)
    assert point.value(following) == pytest.approx(start.dual_value(), rel=1e-9)
    assert point.value(following) <= times * best.primal
    assert following.features.rho == 0.1


def test_solvers_that_want_more_oracles_are_refused():
    layout = graphs.layout(BINARY, seed=4, tied=True)
    structure, features = build_relaxed(layout, Flat(layout), 'lp', None, LAM)
    objective = build_objective('hinge', structure, NodeCosts.on(structure))
    problem = Problem(structure, features, objective, LAM, ('graph', 'hinge', 'hamming'))
    for solver in ('eg', 'excessive-gap'):
        with pytest.raises(ValueError, match=f'{solver} needs the exp oracle, which graph lacks'):
            check_fit(solver_info(solver), Wanted.of(problem))
