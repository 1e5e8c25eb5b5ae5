"""One suite over every solver and every problem that it fits, against independently computed optima."""

import functools
import itertools

import numpy as np
import pytest

from cython_ext.duals.mixture import MixturePoint
from cython_ext.duals.natural import NaturalPoint
from cython_ext.solvers.registry import MODULES, solver_info
from cython_ext.tasks.fit import Wanted
from data_formats.errors import UsageError
from ssvm_cli.options.solver_choice import choose
from tests import optimum
from tests.solvers import problems
from tests.solvers.runs import bounds, go, make, run
from tests.solvers.tiny import COUNTABLE, DATA

twin = functools.cache(problems.twin)

# Baselines minimise nothing: they have no optimum to reach, but what they report must be true.
BASELINES = [name for name in MODULES if not solver_info(name).minimises]
# Solvers of the local marginal polytope alone, which test_dlpw.py holds to its optima.
RELAXED = [name for name in MODULES if 'messages' in solver_info(name).oracle.values()]
MINIMISERS = [name for name in MODULES if name not in (*BASELINES, *RELAXED)]
LOSSES = ('zero-one', 'hamming', 'matrix')
# Further ways to run a solver, beside its defaults: (solver, options)
VARIANTS = {
    'bcfw': [{}, {'acceleration': False}, {'acceleration': False, 'sampling': 'uniform'}, {'sampling': 'gap'}],
    'sgd': [{}],
    'lbfgs': [{}, {'memory': 3, 'restart': 4}],
    'bmrm': [{}],
    'smo': [{}, {'sampling': 'gap'}],
    'extragradient': [{}],
    'cg': [{}, {'restart': 4}],
    'fw': [{}],
    'n-slack': [{}, {'reoptimise': 'subspace'}, {'every': 1}],
    'one-slack': [{}, {'rounds': 0}],
    'excessive-gap': [{}, {'adaptive': True}],
    'eg': [{}, {'order': 'fixed'}, {'acceleration': 'true'}, {'acceleration': 'true', 'anneal': 10.0}],
    'eg-batch': [{}],
    'svrg': [{}, {'oracle': 'topk'}, {'oracle': 'topk', 'K': 100}, {'oracle': 'max'}, {'planes': 1}],
    'sc-svrg': [
        {},
        {'oracle': 'topk'},
        {'oracle': 'max'},
        {'scheme': '2'},
        {'scheme': '3'},
        {'scheme': '4'},
        {'inner': 'saga'},
        {'inner': 'miso'},
        {'inner': 'sdca'},
    ],
}
# Stochastic (sub)gradient steps and batch Frank-Wolfe have an error of order 1/t: they are held to their rates in
# test_sgd.py and test_fw.py, here to this.
REACH = {
    'bcfw': (1e-6, 1500),
    'lbfgs': (1e-6, 300),
    'bmrm': (1e-6, 400),
    'smo': (1e-4, 3000),
    'extragradient': (1e-2, 1500),
    'cg': (1e-6, 300),
    'n-slack': (1e-6, 400),
    'one-slack': (1e-6, 400),
    'sgd': (5e-2, 3000),
    'fw': (1e-3, 5000),
    'excessive-gap': (1e-3, 5000),
    'eg': (1e-3, 3000),
    'eg-batch': (2e-3, 20000),
    'svrg': (1e-3, 500),
    'sc-svrg': (1e-3, 500),
}
# Without a mixture of dual points.
ALONE = (1e-3, 3000)
# Solvers that need a task loss which is a sum over parts, and solvers whose dual points have too many outputs to list.
BY_PARTS = {'excessive-gap', 'eg', 'eg-batch', 'extragradient'}
DENSE = {'excessive-gap'}
# Solvers that take the longest see triplets once: that losses and feature sets make no difference other data show.
SLOW = {'fw', 'excessive-gap', 'sgd'}


def everything_that_fits():
    """(solver, options, data, objective, loss, feature set): defaults on every problem, variants on hamming loss."""
    for solver in MINIMISERS:
        for objective, options in itertools.product(solver_info(solver).objectives, VARIANTS[solver]):
            for loss, name in itertools.product(['hamming'] if objective == 'log' or options else LOSSES, DATA):
                if loss == 'zero-one' and name.startswith('chain') and solver in BY_PARTS:
                    continue
                for feature_set in ('all', 'observed'):
                    once = name == 'chain-triples' and solver in SLOW
                    if once and (loss, feature_set) != ('hamming', 'all'):
                        continue
                    yield solver, options, name, objective, loss, feature_set


def name_of(case):
    solver, options, *rest = case
    return '-'.join([solver, *(f'{key}={value}' for key, value in options.items()), *rest])


EVERYTHING = list(everything_that_fits())


def test_every_solver_is_covered():
    assert set(VARIANTS) == set(REACH) == set(MINIMISERS)


@pytest.mark.parametrize('solver', MINIMISERS)
def test_solvers_that_need_a_sum_over_parts_say_so(solver):
    assert solver_info(solver).decomposable == (solver in BY_PARTS)
    if solver in BY_PARTS:
        with pytest.raises(ValueError, match='sum over'):
            make(solver, twin('chain', 'hinge', 'zero-one').problem)


@pytest.mark.parametrize('case', EVERYTHING, ids=map(name_of, EVERYTHING))
def test_bounds_close_in_on_the_optimum(case):
    """Every pass: dual <= optimum <= primal. In the end their gap is below the tolerance, and both sides are what
    the enumeration says about the same w and the same alpha."""
    solver, options, name, objective, loss, feature_set = case
    tolerance, limit = REACH[solver] if options.get('planes') != 1 else ALONE
    it = twin(name, objective, loss, 1.0, feature_set)
    method = make(solver, it.problem, seed=3, **options)
    close_in(it, method, tolerance, limit)
    check_both_sides(it, method, solver in DENSE)


def close_in(it, method, tolerance, limit):
    """Passes until the gap is below the tolerance, each with dual <= optimum <= primal."""
    best, (primal, dual) = it.best, bounds(method)
    while not (primal - dual <= tolerance * primal or method.finished or method.passes == limit):
        assert method.run_pass(go())
        primal_now, dual_now = bounds(method)
        assert dual_now <= best.primal + it.rounding(method.passes)
        assert primal_now >= best.dual - it.rounding()
        primal, dual = min(primal, primal_now), max(dual, dual_now)
    assert primal - dual <= tolerance * primal
    assert primal - best.primal <= tolerance * primal


# Methods whose error falls like 1/t or 1/t^2 take many passes to what the others have above: (weights within, passes).
SLOW = {
    'fw': ({}, 1e-5, 250_000),
    'excessive-gap': ({}, 1e-5, 20_000),
    'excessive-gap, adaptive': ({'adaptive': True}, 1e-5, 2_000),
    'eg-batch': ({}, 1e-5, 3_000),
    'eg': ({}, 1e-5, 3_000),
    'sgd': ({}, 1e-3, 10_000),
    'svrg': ({}, 1e-3, 1_000),
    'sc-svrg': ({}, 1e-3, 1_000),
}


@pytest.mark.parametrize('name', ['multiclass', 'chain'])
@pytest.mark.parametrize('case', SLOW)
def test_slow_methods_reach_the_optimum_too(case, name):
    options, tolerance, limit = SLOW[case]
    it = twin(name, 'hinge', 'hamming')
    method, primal = make(case.split(',')[0], it.problem, seed=3, **options), np.inf
    while primal - it.best.primal > tolerance * it.best.primal and method.passes < limit and not method.finished:
        run(method, 1 + method.passes // 50)
        primal = min([primal, *(it.problem.evaluate(w).primal for _, w in method.iterates())])
    assert primal - it.best.primal + it.rounding() >= 0 and primal - it.best.primal <= tolerance * it.best.primal


def check_both_sides(it, method, dense=False):
    """P(w) of every iterate and D of the dual point, recomputed from all outputs."""
    for _, w in method.iterates():
        heat = method.temperature
        evaluation = it.problem.evaluate(w, it.problem.sums or heat is not None, temperature=heat or 1.0)
        assert evaluation.primal == pytest.approx(it.primal(w), rel=1e-11)
        if heat is not None:
            alpha = optimum.posteriors(it.plain, it.objective, it.from_core(w), heat)
            dual, rounding = optimum.dual(it.plain, it.objective, alpha), 2e-11 * evaluation.primal
            assert evaluation.dual == pytest.approx(dual, rel=1e-9, abs=rounding)
        if it.problem.sums:
            alpha = optimum.posteriors(it.plain, it.objective, it.from_core(w))
            # far above the optimum the dual is rounded down by 1e-11 of the gap, see Problem.value_and_gradient
            dual, rounding = optimum.dual(it.plain, it.objective, alpha), 2e-11 * evaluation.primal
            assert evaluation.dual == pytest.approx(dual, rel=1e-10, abs=rounding)
    point = method.dual_point()
    natural, mixed = isinstance(point, NaturalPoint), isinstance(point, MixturePoint)
    assert natural or mixed or (point is None) == (it.problem.sums or dense or method.temperature is not None)
    if point is not None:
        alpha = [a / a.sum() for a in it.alpha_of(point)]
        value, w = point.certify(it.problem)
        wanted = optimum.dual(it.plain, it.objective, alpha)
        if mixed and it.problem.sums:  # the entropy of a mixture is proved to be that of its parts only
            lost = it.lost_entropy(point)
            assert lost >= 0
            wanted -= lost
        assert value == pytest.approx(wanted, rel=1e-10)
        assert method.dual_value() == pytest.approx(value, rel=1e-5 if natural else 1e-10)
        np.testing.assert_allclose(it.from_core(w), optimum.weights(it.plain, alpha), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize('solver', MINIMISERS)
@pytest.mark.parametrize('lam_times_n', [1e-3, 0.03, 30, 1e3])
def test_bounds_hold_at_every_lambda(solver, lam_times_n):
    """Far from lambda = 1/n the bounds may close slowly, but they are bounds."""
    for objective, name in itertools.product(solver_info(solver).objectives, ('multiclass', 'chain')):
        it = twin(name, objective, 'hamming', lam_times_n)
        method = make(solver, it.problem, seed=1)
        for _ in range(60):
            if method.finished:
                break
            assert method.run_pass(go())
            primal, dual = bounds(method)
            assert np.isfinite([primal, dual]).all()
            assert dual <= it.best.primal + it.rounding(method.passes)
            assert primal >= it.best.dual - it.rounding()


@pytest.mark.parametrize('solver', BASELINES)
@pytest.mark.parametrize('lam_times_n', [1e-3, 1, 1e3])
@pytest.mark.parametrize('name', COUNTABLE)
def test_what_baselines_report_is_true(solver, lam_times_n, name):
    """Both bounds hold after every pass, and are what the enumeration says about the same w and the same alpha."""
    for objective, loss in itertools.product(solver_info(solver).objectives, LOSSES):
        it = twin(name, objective, loss, lam_times_n)
        method = make(solver, it.problem, seed=1)
        for _ in range(20):
            primal, dual = bounds(method)
            assert dual <= it.best.primal + it.rounding(method.passes)
            assert primal >= it.best.dual - it.rounding()
            check_both_sides(it, method)
            if method.finished:
                break
            assert method.run_pass(go())


@pytest.mark.parametrize('solver', [*MINIMISERS, *BASELINES])
def test_before_the_first_pass(solver):
    """Whoever evaluates before any pass gets the bounds of w = 0, or of a better start."""
    for objective in solver_info(solver).objectives:
        it = twin('chain-countable', objective, 'hamming')
        primal, dual = bounds(make(solver, it.problem))
        assert dual <= it.best.primal <= primal <= optimum.primal(it.plain, objective, np.zeros(it.truth.dim)) + 1e-12


@pytest.mark.parametrize('objective', ['log', 'softmax-margin'])
def test_a_baseline_is_refused_in_other_words(objective):
    with pytest.raises(UsageError, match=f'perceptron does not report {objective}, only hinge .solvers for'):
        choose('perceptron', Wanted(objective=objective))


@pytest.mark.parametrize(('solver', 'objective'), [('lbfgs', 'hinge'), ('bcfw', 'log'), ('bcfw', 'softmax-margin')])
def test_what_does_not_fit_is_refused_with_both_names_and_the_alternatives(solver, objective):
    minimisers = [name for name in MODULES if name not in (*BASELINES, 'dlpw')]  # which only graphs have
    others = [name for name in minimisers if objective in solver_info(name).objectives]
    with pytest.raises(UsageError, match=f'{solver} does not minimise {objective}.*{", ".join(others)}'):
        choose(solver, Wanted(objective=objective))
    for name in others:
        assert choose(name, Wanted(objective=objective)).name == name


@pytest.mark.parametrize('objective', ['hinge', 'log', 'softmax-margin'])
def test_solvers_agree_within_their_gaps(objective):
    """All that minimise the same objective end with intervals that have a point in common."""
    intervals = {}
    for solver in MINIMISERS:
        if objective in solver_info(solver).objectives:
            it = twin('chain-edges', objective, 'matrix', 2.0)
            method = make(solver, it.problem)
            ends = []
            for _ in range(100):
                if not method.finished:
                    method.run_pass(go())
                ends.append(bounds(method))
            intervals[solver] = max(dual for _, dual in ends), min(primal for primal, _ in ends)
    assert len(intervals) >= 2
    assert max(low for low, _ in intervals.values()) <= min(high for _, high in intervals.values()) * (1 + 1e-12)
