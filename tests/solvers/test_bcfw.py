"""Block-coordinate Frank-Wolfe: what its theory promises, its options, and the safety of the acceleration."""

import functools

import numpy as np
import pytest

from tests import optimum
from tests.solvers import problems, tiny
from tests.solvers.references import FrankWolfe
from tests.solvers.runs import bounds, go, make, run
from tests.solvers.tiny import DATA

twin = functools.cache(problems.twin)

SAMPLINGS = ('permuted', 'uniform', 'gap')
EVERY_SAMPLING = pytest.mark.parametrize('sampling', SAMPLINGS)
EVERY_STEP = pytest.mark.parametrize('steps', ['pairwise', 'plain'])


def plainly(problem, **options):
    return make('bcfw', problem, acceleration=False, **options)


@EVERY_SAMPLING
@EVERY_STEP
@pytest.mark.parametrize('loss', ['zero-one', 'hamming', 'matrix'])
@pytest.mark.parametrize('lam_times_n', [1e-3, 0.1, 1, 10, 1e3])
def test_dual_never_falls(sampling, steps, loss, lam_times_n):
    for name in ('multiclass', 'chain', 'chain-edges'):
        it = twin(name, 'hinge', loss, lam_times_n)
        solver = plainly(it.problem, seed=2, sampling=sampling, steps=steps)
        before = solver.dual_value()
        assert before == 0
        for _ in range(60):
            assert solver.run_pass(go())
            dual = solver.dual_value()
            assert dual >= before - it.rounding()
            before = dual
        assert before > 0


@EVERY_SAMPLING
@pytest.mark.parametrize('name', ['multiclass', 'chain', 'chain-edges', 'chain-edges-only'])
def test_plain_steps_are_the_algorithm_of_the_paper(sampling, name):
    """The same visits in plain Python give the same w, the same average of all iterates and the same dual point."""
    it = twin(name, 'hinge', 'matrix', 1.0)
    solver = plainly(it.problem, seed=1, sampling=sampling, steps='plain', average=True)
    reference = FrankWolfe(it.plain)
    for _ in range(25):
        assert solver.run_pass(go())
        for i in solver.state()['order']:
            reference.visit(i)
        iterates = dict(solver.iterates())
        assert set(iterates) == {'current', 'average'}
        np.testing.assert_allclose(it.from_core(iterates['current']), reference.w, rtol=0, atol=1e-10)
        np.testing.assert_allclose(it.from_core(iterates['average']), reference.average, rtol=0, atol=1e-10)
        for ours, theirs in zip(it.alpha_of(solver.dual_point()), reference.alpha, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10)
    assert solver.oracle_calls == reference.visits


@pytest.mark.parametrize('name', ['multiclass', 'chain'])
def test_the_average_of_pairwise_steps(name):
    """Of pairwise steps too: with one example every visit is a pass, and its w can be seen."""
    data = tiny.named(name)
    one = problems.dataset_of(data).subset([0])
    problem = problems.build_problem(one, task=name, objective='hinge', loss='hamming', lam=0.1)
    solver = plainly(problem, average=True)
    total = np.zeros(problem.dim)
    for k in range(1, 9):
        run(solver, 1)
        iterates = dict(solver.iterates())
        total += k * iterates['current']
        np.testing.assert_allclose(iterates['average'], 2 / (k * (k + 1)) * total, rtol=0, atol=1e-12)


@EVERY_STEP
def test_line_search_is_exact(steps):
    """With one example of two outputs the first step goes to the optimum, at an end of the segment or inside it."""
    for lam in (0.01, 0.3, 1.0, 3.0, 100.0):
        data = tiny.arrays('multiclass', (1,), 2, attributes=6, seed=3)
        problem = problems.build_problem(problems.dataset_of(data), 'multiclass', 'hinge', 'zero-one', lam)
        truth = problems.Enumeration('multiclass', data, 2, 'zero-one')
        best = optimum.solve(optimum.Problem.of(truth, lam), 'hinge')
        solver = run(plainly(problem, steps=steps), 1)
        assert solver.dual_value() == pytest.approx(best.primal, rel=1e-9)


@EVERY_SAMPLING
def test_samplings_visit_as_they_say(sampling):
    it = twin('chain', 'hinge')
    solver = plainly(it.problem, seed=4, sampling=sampling)
    counts = np.zeros(it.problem.n, int)
    for _ in range(300):
        assert solver.run_pass(go())
        order = solver.state()['order']
        assert len(order) == it.problem.n
        if sampling == 'permuted':
            assert sorted(order) == list(range(it.problem.n))
        counts += np.bincount(order, minlength=it.problem.n)
    if sampling == 'uniform':
        assert counts.min() > 300 - 5 * np.sqrt(300) and counts.max() < 300 + 5 * np.sqrt(300)
    assert counts.min() >= 25


@EVERY_SAMPLING
@pytest.mark.parametrize('name', DATA)
def test_no_sampling_gets_stuck(sampling, name):
    """Remembered gaps grow stale; every sampling still ends at the optimum."""
    it = twin(name, 'hinge', 'hamming', 0.3)
    solver = plainly(it.problem, seed=4, sampling=sampling)
    for _ in range(1500):
        assert solver.run_pass(go())
        primal, dual = bounds(solver)
        if primal - dual <= 1e-6 * primal:
            return
    pytest.fail(f'relative gap {(primal - dual) / primal} after {solver.passes} passes')


@pytest.mark.parametrize('cache', [1, 2, 5, 1000])
def test_the_cache_limits_what_is_kept(cache):
    it = twin('chain', 'hinge')
    solver = plainly(it.problem, cache=cache)
    for _ in range(40):
        assert solver.run_pass(go())
        state = solver.state()
        indptr, used = state['block.sets.indptr'], state['block.sets.weights'] > 0
        for i in range(it.problem.n):
            mine = used[indptr[i] : indptr[i + 1]]
            assert len(mine) <= max(cache, mine.sum())


def test_a_long_run_stays_feasible_and_true():
    """Neither the weights nor w = w(alpha) drift over thousands of visits."""
    it = twin('chain', 'hinge', 'matrix', 0.1)
    for options in ({'acceleration': False, 'sampling': 'uniform'}, {'acceleration': True}):
        solver = run(make('bcfw', it.problem, **options), 3000)
        for a in it.alpha_of(solver.dual_point()):
            assert a.min() >= 0
            assert a.sum() == pytest.approx(1, abs=1e-12)
        value, w = solver.dual_point().certify(it.problem)
        assert solver.dual_value() == pytest.approx(value, rel=0, abs=it.rounding(3000))
        if not options['acceleration']:
            np.testing.assert_allclose(dict(solver.iterates())['current'], w, rtol=0, atol=1e-10 * np.abs(w).max())


def test_estimate_is_rough_above_and_exact_below():
    it = twin('chain', 'hinge')
    solver = plainly(it.problem)
    for _ in range(60):
        assert solver.run_pass(go())
    primal, dual = solver.estimate()
    assert dual == solver.dual_value()
    assert primal == pytest.approx(bounds(solver)[0], rel=1e-3)


# Acceleration

LAMBDAS = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3)


def best_gaps(it, passes, **options):
    """The relative gap of the best bounds so far, after each pass; every bound is checked on the way."""
    solver = make('bcfw', it.problem, seed=1, **options)
    primal, dual, gaps = *bounds(solver), []
    for _ in range(passes):
        if not solver.finished:
            assert solver.run_pass(go())
        primal_now, dual_now = bounds(solver)
        assert dual_now <= it.best.primal + it.rounding(passes)
        assert primal_now >= it.best.dual - it.rounding()
        primal, dual = min(primal, primal_now), max(dual, dual_now)
        gaps.append((primal - dual) / primal)
    value, _ = solver.dual_point().certify(it.problem)
    assert value <= it.best.primal + it.rounding()
    assert solver.dual_value() == pytest.approx(value, rel=0, abs=it.rounding(passes))
    return np.array(gaps)


def passes_to(gaps, tolerance):
    """Passes until the relative gap is at most that."""
    below = np.flatnonzero(gaps <= tolerance)
    return int(below[0]) + 1 if len(below) else np.inf


@pytest.mark.parametrize('lam_times_n', LAMBDAS)
@pytest.mark.parametrize('name', DATA)
def test_acceleration_is_safe(name, lam_times_n):
    """Every accuracy is reached in hardly more passes than without acceleration, also where one pass is enough."""
    for loss in ('hamming', 'matrix', 'zero-one'):
        it = twin(name, 'hinge', loss, lam_times_n)
        plain = best_gaps(it, 200, acceleration=False)
        fast = best_gaps(it, 200, acceleration=True)
        for tolerance in (1e-1, 1e-2, 1e-3, 1e-4, 1e-6):
            wanted = passes_to(plain, tolerance)
            assert passes_to(fast, tolerance) <= 2 * wanted + 3
        assert fast[-1] <= 3 * plain[-1] + 1e-8


@pytest.mark.parametrize('name', ['multiclass', 'chain', 'chain-binary', 'chain-edges'])
def test_acceleration_pays_where_the_problem_is_hard(name):
    """At small lambdas every accuracy takes fewer passes."""
    for lam_times_n in (1e-3, 1e-2):
        it = twin(name, 'hinge', 'hamming', lam_times_n)
        plain = best_gaps(it, 300, acceleration=False)
        fast = best_gaps(it, 300, acceleration=True)
        for tolerance in (1e-1, 1e-2, 1e-3, 1e-4):
            assert passes_to(fast, tolerance) <= 0.9 * passes_to(plain, tolerance)


@pytest.mark.parametrize('lam_times_n', LAMBDAS)
@pytest.mark.parametrize('name', DATA)
def test_the_default_gets_there_at_every_lambda(name, lam_times_n):
    it = twin(name, 'hinge', 'hamming', lam_times_n)
    solver = make('bcfw', it.problem, seed=1)
    primal, dual = bounds(solver)
    while primal - dual > 1e-6 * primal and solver.passes < 2000:
        assert solver.run_pass(go())
        primal_now, dual_now = bounds(solver)
        primal, dual = min(primal, primal_now), max(dual, dual_now)
    assert primal - dual <= 1e-6 * primal
