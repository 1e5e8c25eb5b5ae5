"""Excessive gap reduction: the paper's algorithm, its invariants at every step, and the adaptive variant."""

import csv
import functools
import json

import numpy as np
import pytest

from cython_ext.features.capabilities import Radius
from cython_ext.solvers.parts.radius import largest_difference2
from data_formats.models.model import load
from tests import optimum
from tests.cli import commands
from tests.kernels import explicit_features, with_features
from tests.solvers import problems, tiny
from tests.solvers.references import ExcessiveGap
from tests.solvers.runs import bounds, go, make, run
from tests.solvers.tiny import DATA

twin = functools.cache(problems.twin)

EVERY_VARIANT = pytest.mark.parametrize('adaptive', [False, True], ids=['plain', 'adaptive'])
KERNELS = [{'kind': 'poly', 'degree': 2}, {'kind': 'rbf', 'gamma': 0.4}]
LAMBDAS = (0.01, 0.3, 10)


def constants(it):
    """(max_{i,y} ||psi_i(y)||^2 / lambda, mean of log |Y_i|), from all outputs."""
    largest = max((psi**2).sum(axis=1).max() for psi in it.plain.psi)
    return largest / it.plain.lam, np.mean([np.log(len(delta)) for delta in it.plain.delta])


def smoothed(it, w, mu):
    """J_mu(w), from all outputs."""
    parts = [
        mu * (optimum.log_sum_exp((delta - psi @ w) / mu) - np.log(len(delta)))
        for psi, delta in zip(it.plain.psi, it.plain.delta, strict=True)
    ]
    return it.plain.lam / 2 * (w @ w) + np.mean(parts)


@pytest.mark.parametrize('loss', ['hamming', 'matrix'])
@pytest.mark.parametrize('name', DATA)
def test_it_is_the_algorithm_of_the_paper(name, loss):
    """One oracle pass a step instead of two, w(alpha) instead of alpha: the same iterates."""
    it = twin(name, 'hinge', loss, 1.0)
    solver, reference = run(make('excessive-gap', it.problem), 1), ExcessiveGap(it.plain)
    for k in range(1, 60):
        assert solver.mu == pytest.approx(reference.mu, rel=1e-12)
        scale = max(1, np.abs(reference.w).max())
        np.testing.assert_allclose(it.from_core(solver.w), reference.w, rtol=0, atol=1e-11 * scale)
        w = optimum.weights(it.plain, reference.alpha)
        np.testing.assert_allclose(it.from_core(solver.mixed), w, rtol=0, atol=1e-11 * scale)
        dual = optimum.dual(it.plain, 'hinge', [a / a.sum() for a in reference.alpha])
        assert solver.dual_value() == pytest.approx(dual, rel=1e-9, abs=1e-11)
        assert solver.oracle_calls == (k + 1) * it.problem.n
        reference.step()
        assert solver.run_pass(go())


@pytest.mark.parametrize('name', ['multiclass', 'chain', 'chain-edges'])
@pytest.mark.parametrize('lam_times_n', LAMBDAS)
def test_the_dual_is_as_near_as_its_own_bound_says(name, lam_times_n):
    """Equation (16): D(alpha*) - D(alpha_k) <= 6 L d(alpha*) / ((k + 1) (k + 2)), with how far alpha* is from uniform
    distributions instead of how far any may be; so after every step."""
    it = twin(name, 'hinge', 'hamming', lam_times_n)
    solver, (lipschitz, most) = make('excessive-gap', it.problem), constants(it)
    distance = np.mean([np.log(len(a)) + a[a > 0] @ np.log(a[a > 0]) for a in it.best.alpha])
    assert 0 < distance <= most
    for k in range(1, 100):
        run(solver, 1)
        left = it.best.dual - solver.dual_value()
        assert left <= 6 * lipschitz * distance / ((k + 1) * (k + 2)) + it.rounding(k)


@EVERY_VARIANT
@pytest.mark.parametrize('lam_times_n', LAMBDAS)
@pytest.mark.parametrize('feature_set', ['all', 'observed'])
@pytest.mark.parametrize('name', DATA)
def test_excessive_gap_and_its_rate_hold_at_every_step(name, feature_set, lam_times_n, adaptive):
    """J_mu(w_k) <= D(alpha_k), P(w_k) - D(alpha_k) <= mu_k D, and both are below 6 D L / ((k + 1)(k + 2)), with a
    J_mu and a P from all outputs."""
    it = twin(name, 'hinge', 'hamming', lam_times_n, feature_set)
    lipschitz, d = constants(it)
    solver = make('excessive-gap', it.problem, adaptive=adaptive)
    for k in range(1, 150):
        assert solver.run_pass(go())
        w, dual = it.from_core(solver.w), solver.dual_value()
        value, primal = smoothed(it, w, solver.mu), optimum.primal(it.plain, 'hinge', w)
        rounding = 1e-13 * max(abs(value), it.plain.lam / 2 * (w @ w), 1)
        assert solver.smoothed_value() == pytest.approx(value, rel=0, abs=100 * rounding)
        assert value <= dual + rounding
        assert primal - dual <= solver.mu * d + rounding
        assert solver.mu * d <= 6 * d * lipschitz / ((k + 1) * (k + 2)) * (1 + 1e-9)
        assert dual - it.rounding(k) <= it.best.primal <= primal + rounding


@pytest.mark.parametrize('lam_times_n', [0.1, 1, 10])
@pytest.mark.parametrize('name', ['multiclass', 'chain', 'chain-binary', 'chain-edges'])
def test_the_adaptive_variant_comes_close_and_pays(name, lam_times_n):
    """A relative gap of 1e-5 (1e-4 where lambda is small), with a quarter of the oracle calls for 1e-2."""
    it, calls = twin(name, 'hinge', 'hamming', lam_times_n), {}
    for adaptive, goals in ((True, [1e-2, 1e-5 if lam_times_n >= 1 else 1e-4]), (False, [1e-2])):
        solver = make('excessive-gap', it.problem, adaptive=adaptive)
        primal, dual = bounds(solver)
        for goal in goals:
            while primal - dual > goal * primal and solver.passes < 8000:
                assert solver.run_pass(go())
                primal_now, dual_now = bounds(solver)
                primal, dual = min(primal, primal_now), max(dual, dual_now)
            assert primal - dual <= goal * primal
            calls[adaptive, goal] = solver.oracle_calls
    assert 4 * calls[True, 1e-2] <= calls[False, 1e-2]


@EVERY_VARIANT
@pytest.mark.parametrize('lam_times_n', [1e-4, 1e4])
def test_extreme_lambdas(lam_times_n, adaptive):
    for name in ('multiclass', 'chain', 'chain-edges'):
        it = twin(name, 'hinge', 'hamming', lam_times_n)
        solver = run(make('excessive-gap', it.problem, adaptive=adaptive), 300)
        primal, dual = bounds(solver)
        assert np.isfinite([primal, dual, solver.mu]).all()
        assert dual - 1e-9 * abs(dual) <= it.best.primal <= primal + 1e-9
        assert solver.smoothed_value() <= dual + 1e-12 * max(abs(dual), primal)
    assert lam_times_n < 1 or not adaptive or primal - dual <= 1e-4 * primal


@pytest.mark.parametrize('feature_set', ['all', 'observed'])
@pytest.mark.parametrize('name', DATA)
def test_differences_of_features_are_bounded(name, feature_set):
    """Exactly where outputs are listed; otherwise from above, by the map's own bound and by that of any map."""
    it = twin(name, 'hinge', 'hamming', 1.0, feature_set)
    logs = np.log([len(delta) for delta in it.plain.delta])
    exact = max((psi**2).sum(axis=1).max() for psi in it.plain.psi)
    assert largest_difference2(it.problem, logs, go()) == pytest.approx(exact, rel=1e-12)
    for listed in (1, 10):
        assert exact * (1 - 1e-12) <= largest_difference2(it.problem, logs, go(), listed) <= 4 * exact
    structure, features = it.problem.structure, it.problem.features
    for i, psi in enumerate(it.plain.psi):
        statistics = structure.statistics(i, structure.gold_code(i))
        ids = np.flatnonzero(statistics).astype(np.int32)
        bound = Radius(features).radius2(i, ids, statistics[ids], statistics.sum())
        assert bound >= (psi**2).sum(axis=1).max() * (1 - 1e-12)


def problem_of(data, task, kernel):
    return problems.build_problem(problems.dataset_of(data), task, 'hinge', 'hamming', 0.3, kernel=kernel)


@pytest.mark.parametrize('kernel', KERNELS)
@pytest.mark.parametrize('task', ['multiclass', 'chain'])
def test_kernels(task, kernel):
    """The same numbers as with features whose inner products are the kernel's."""
    data = tiny.arrays(task, (3, 1, 4, 2), 3, attributes=4, seed=2)
    linear = with_features(data, explicit_features(data, **kernel))
    for adaptive in (False, True):
        pair = [
            make('excessive-gap', problem_of(examples, task, function), adaptive=adaptive)
            for examples, function in ((data, kernel), (linear, None))
        ]
        for _ in range(40):
            figures = []
            for solver in pair:
                assert solver.run_pass(go())
                figures.append((*bounds(solver), solver.smoothed_value(), solver.mu, *solver.estimate()))
            assert figures[0] == pytest.approx(figures[1], rel=1e-8, abs=1e-10)


@EVERY_VARIANT
def test_estimate_is_rough_above_and_exact_below(adaptive):
    it = twin('chain', 'hinge', 'hamming')
    solver = make('excessive-gap', it.problem, adaptive=adaptive)
    assert solver.estimate() is None
    run(solver, 1500)
    rough, dual = solver.estimate()
    primal = bounds(solver)[0]
    assert dual == solver.dual_value()
    assert 0.99 * primal <= rough <= primal


@EVERY_VARIANT
def test_nothing_to_choose(adaptive):
    """With one label there is one output: the first pass is the last."""
    data = tiny.arrays('chain', (3, 0, 2), 1, attributes=3, seed=1)
    problem = problems.build_problem(problems.dataset_of(data), 'chain', 'hinge', 'hamming', 0.5)
    solver = make('excessive-gap', problem, adaptive=adaptive)
    assert solver.run_pass(go()) and solver.finished
    assert bounds(solver) == (0, 0)


def test_a_loss_that_is_no_sum_over_parts_is_refused(tmp_path):
    (tmp_path / 'train.conll').write_text(commands.conll_text())
    words = ['--task', 'chain', '--solver', 'excessive-gap', tmp_path / 'train.conll', tmp_path / 'model']
    said = commands.run('train', '--task-loss', 'zero-one', *words, code=2).stderr
    assert 'excessive-gap needs a task loss that is a sum over parts, and zero-one on chain is not' in said
    assert not (tmp_path / 'model').exists()
    commands.run('train', '--task-loss', 'hamming', '--max-passes', '3', *words)
    assert (tmp_path / 'model').exists()


@EVERY_VARIANT
def test_a_model_claims_nothing_that_it_cannot_prove(tmp_path, adaptive):
    """The mixture is too large to be stored: what counts is the softmax of the scores at temperature mu."""
    (tmp_path / 'train.svm').write_text(commands.multiclass_text())
    words = ['--solver', 'excessive-gap', '--set', f'adaptive={adaptive}', '--max-passes', 10000]
    commands.run('train', *words, '--log', tmp_path / 'log', tmp_path / 'train.svm', tmp_path / 'model')
    header = load(tmp_path / 'model').header
    found = json.loads(commands.run('gap', '--json', tmp_path / 'train.svm', tmp_path / 'model').stdout)
    row = list(csv.DictReader(line for line in (tmp_path / 'log').read_text().splitlines() if line[0] != '#'))[-1]
    assert header['status'] == found['status'] == 'converged' and float(row['relative_gap']) <= 1e-3
    for side in ('primal', 'dual'):
        assert found[side] == pytest.approx(header[side], rel=1e-9)
    assert found['dual_source'] in ('softmax', 'model')
    assert header['dual'] <= float(row['dual']) * (1 + 1e-6) and float(row['dual']) <= found['primal']


@EVERY_VARIANT
@pytest.mark.parametrize('name', DATA)
def test_near_the_optimum_the_softmax_is_the_better_dual_point(name, adaptive):
    """D(beta_k), of what a model can hold, ends above D(alpha_k) or as near to P as a tenth of a percent."""
    it = twin(name, 'hinge', 'hamming', 0.3)
    solver = run(make('excessive-gap', it.problem, adaptive=adaptive), 300 if adaptive else 3000)
    found = it.problem.evaluate(solver.w, True, temperature=solver.temperature)
    assert solver.temperature == solver.mu
    assert found.dual >= solver.dual_value() or found.primal - found.dual <= 1e-3 * found.primal
