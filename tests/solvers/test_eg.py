"""Exponentiated gradient: the dual rises at every visit, Theorem 1 of the paper holds, starts and refusals."""

import functools

import numpy as np
import pytest

from cython_ext.duals.natural import NaturalPoint
from cython_ext.tasks.build import build_problem
from data_formats.datasets.tokens import TokenDataset
from tests import optimum
from tests.solvers import problems
from tests.solvers.runs import bounds, go, make, run

twin = functools.cache(problems.twin)
OBJECTIVES = ('hinge', 'log', 'softmax-margin')


@pytest.mark.parametrize('lam_times_n', [0.01, 0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize('objective', OBJECTIVES)
@pytest.mark.parametrize('name', ['multiclass', 'chain', 'chain-edges', 'chain-empty'])
@pytest.mark.parametrize(
    ('solver', 'options'), [('eg', {'acceleration': 'false'}), ('eg', {'order': 'fixed', 'acceleration': 'false'}),
                            ('eg-batch', {})], ids=['eg', 'eg-fixed', 'eg-batch']
)  # fmt: skip
def test_the_dual_never_falls(solver, options, name, objective, lam_times_n):
    it = twin(name, objective, 'hamming', lam_times_n)
    method = make(solver, it.problem, seed=2, **options)
    dual = method.dual_value()
    for _ in range(40):
        assert method.run_pass(go())
        assert method.dual_value() >= dual - 1e-10 * max(1, abs(dual))
        dual = method.dual_value()
    assert dual <= it.best.primal + 1e-9
    primal, _ = bounds(method)
    assert np.isfinite(primal) and primal >= it.best.dual - 1e-9


@pytest.mark.parametrize('objective', ['hinge', 'log'])
@pytest.mark.parametrize('name', ['multiclass', 'chain', 'chain-binary'])
def test_theorem_1_of_the_batch_algorithm(name, objective):
    """D* - D(alpha_T) <= KL(alpha* || alpha_1) / (n eta T) for the longest step that the theorem allows."""
    it = twin(name, objective, 'hamming', 1.0)
    n, rows = it.problem.n, np.concatenate(it.plain.psi)
    largest = np.abs(rows @ rows.T).max() / (it.problem.lam * n)
    step = 1 / (n * largest + (objective == 'log'))
    method = make('eg-batch', it.problem, step=step)
    first = it.alpha_of(method.dual_point())
    divergence = sum((a[a > 0] * np.log(a[a > 0] / b[a > 0])).sum() for a, b in zip(it.best.alpha, first, strict=True))
    for passes in range(1, 300):
        assert method.run_pass(go())
        left = it.best.dual - method.dual_value()
        assert left <= divergence / (n * step * passes) + 1e-9
        if objective == 'log':
            assert left <= np.exp(-step * passes) * divergence / (n * step) + 1e-9


def test_log_losses_converge_fast():
    """The relative gap falls by a constant factor in every pass."""
    for name in ('multiclass', 'chain', 'chain-edges'):
        it = twin(name, 'log', 'hamming', 2.0)
        method = run(make('eg', it.problem, seed=1), 60)
        primal, dual = bounds(method)
        assert primal - dual <= 1e-6 * primal


def test_a_start_from_weights_is_the_softmax_of_their_scores():
    it = twin('chain', 'log')
    first = run(make('lbfgs', it.problem), 4)
    w = first.iterates()[0][1].copy()
    for solver in ('eg', 'eg-batch'):
        method = make(solver, it.problem)
        method.set_start(w)
        assert method.iterates()[0][1].tolist() == w.tolist()
        alpha = it.alpha_of(method.dual_point())
        wanted = optimum.posteriors(it.plain, 'log', it.from_core(w))
        for mine, theirs in zip(alpha, wanted, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-5)
        assert method.dual_value() == pytest.approx(it.problem.evaluate(w, softmax_dual=True).dual, rel=1e-9)


def test_a_dual_point_serves_every_lambda():
    point = run(make('eg', twin('chain', 'log', 'hamming', 1.0).problem), 20).dual_point()
    other = twin('chain', 'log', 'hamming', 0.7)
    method = make('eg', other.problem)
    method.set_dual_point(point)
    assert method.dual_value() == pytest.approx(point.value(other.problem), rel=1e-6)
    assert method.dual_value() > 0.8 * other.best.dual
    with pytest.raises(ValueError, match='natural parameters of these examples'):
        make('eg', twin('multiclass', 'log').problem).set_dual_point(point)


@pytest.mark.parametrize('solver', ['eg', 'eg-batch'])
def test_a_loss_that_is_no_sum_is_refused(solver):
    with pytest.raises(ValueError, match='needs a task loss that is a sum over parts'):
        make(solver, twin('chain', 'hinge', 'zero-one').problem)


def test_damaged_natural_parameters_are_refused():
    it = twin('chain', 'log')
    point = run(make('eg', it.problem), 3).dual_point()
    for change in (
        {'theta': point.theta[:-1]},
        {'theta_indptr': point.theta_indptr + 1},
        {'theta': point.theta * np.nan},
    ):
        with pytest.raises(ValueError, match='natural parameters'):
            NaturalPoint(**{**point.arrays(), **change}).value(it.problem)


@pytest.mark.parametrize('acceleration', ['false', 'true'])
@pytest.mark.parametrize('objective', OBJECTIVES)
def test_annealing(objective, acceleration):
    """lambda comes down as in section 7.1.1 of the paper; the certificate is that of lambda in every pass."""
    it = twin('chain', objective, 'hamming', 0.1)
    method = make('eg', it.problem, seed=3, anneal=10.0, acceleration=acceleration)
    strengths = []
    for passes in range(40):
        assert method.run_pass(go())
        strengths.append(method.dual.regularisation / it.problem.lam)
        assert method.dual_value() == pytest.approx(
            method.dual_point().value(it.problem), rel=1e-5, abs=1e-7
        )  # which is in single precision
        assert method.dual_value() <= it.best.primal + 1e-9
        expected = 1 + 9 * 0.7 ** max(passes - 5, 0)
        if expected > 1.02:
            assert strengths[-1] == pytest.approx(expected)
        elif acceleration == 'false':
            assert strengths[-1] == 1
    primal, dual = bounds(method)
    if objective == 'log':
        assert primal - dual <= 0.05 * primal


def test_a_warm_start_is_not_annealed():
    it = twin('chain', 'log', 'hamming', 0.1)
    method = make('eg', it.problem, anneal=10.0)
    method.set_dual_point(run(make('eg', it.problem), 5).dual_point())
    run(method, 1)
    assert method.dual.regularisation == it.problem.lam


def test_many_examples_are_accelerated_and_annealed():
    """Only then: with few of them the dual never falls."""
    few = make('eg', twin('multiclass', 'log', 'hamming', 0.01).problem)
    assert few.anneal == 1 and few.acceleration is None
    data = problems.dataset_of(problems.tiny.named('multiclass'))
    data = TokenDataset.concatenate([data] * -(-1000 // data.n))
    many = make('eg', build_problem(data, 'multiclass', 'log', None, 0.01 / data.n))
    assert many.anneal == pytest.approx(200) and many.acceleration is not None
