"""Smooth inference oracles, variance-reduced steps, Catalyst with smoothing: against enumeration and plain numpy."""

import functools

import numpy as np
import pytest

from cython_ext.features.calls import scores_of
from cython_ext.objectives.smoothed import smoothed_loss
from cython_ext.solvers.methods.primal import svrg
from cython_ext.solvers.parts.schemes import GOLDEN, Scheme
from tests import optimum
from tests.solvers import problems
from tests.solvers.references import CatalystSmoothing, VarianceReduced
from tests.solvers.runs import go, make, run

twin = functools.cache(problems.twin)

ORACLES = [('exp', 5), ('topk', 1), ('topk', 3), ('topk', 1000), ('max', 5)]


def distribution(oracle, k, mu, z):
    """(max_u <z, u> - mu omega(u), u), by listing the outputs."""
    if oracle == 'exp':
        return mu * optimum.log_sum_exp(z / mu), optimum.softmax(z / mu)
    best = np.argsort(-z, kind='stable')[: 1 if oracle == 'max' else k]
    u = np.zeros(len(z))
    u[best] = projection(z[best] / mu)
    return z @ u - mu / 2 * (u @ u - 1), u


def projection(z):
    """Onto the simplex, by bisection for the shift."""
    low, high = z.max() - 1, z.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(z - middle, 0).sum() > 1 else (low, middle)
    u = np.maximum(z - low, 0)
    return u / u.sum()


@pytest.mark.parametrize(('oracle', 'k'), ORACLES)
@pytest.mark.parametrize('name', ['multiclass', 'chain', 'chain-edges', 'chain-empty'])
@pytest.mark.parametrize('loss', ['zero-one', 'hamming', 'matrix'])
def test_smoothed_losses_against_enumeration(oracle, k, name, loss):
    it = twin(name, 'hinge', loss)
    if oracle == 'exp' and loss == 'zero-one' and name != 'multiclass':
        with pytest.raises(ValueError, match=r'oracle=exp needs a task loss that is a sum over parts.*oracle=topk'):
            smoothed_loss(it.problem.objective, oracle, k)
        return
    smooth = smoothed_loss(it.problem.objective, oracle, k)
    rng = np.random.default_rng(0)
    for mu in (0.01, 0.3, 5.0):
        smooth.mu = mu
        w = rng.normal(size=it.truth.dim)
        for i, example in enumerate(it.truth.examples):
            value, mean, bias = smooth.value_of(i, scores_of(it.problem.features, i, it.to_core(w)))
            wanted, u = distribution(oracle, k, mu, it.plain.delta[i] - it.plain.psi[i] @ w)
            statistics = [it.problem.structure.statistics(i, np.array(c, np.int32)) for c in example.codes]
            assert value == pytest.approx(wanted, rel=1e-10, abs=1e-12)
            assert bias == pytest.approx(u @ it.plain.delta[i], rel=1e-9, abs=1e-11)
            np.testing.assert_allclose(mean, u @ np.array(statistics), rtol=0, atol=1e-9)
            top = (it.plain.delta[i] - it.plain.psi[i] @ w).max()
            bound = {'exp': mu * np.log(len(u)), 'topk': mu / 2, 'max': 0.0}[oracle]
            assert -1e-12 <= value - top <= bound + 1e-12


@pytest.mark.parametrize(('oracle', 'k'), [('exp', 5), ('topk', 1000)])
@pytest.mark.parametrize('name', ['multiclass', 'chain'])
def test_gradients_by_finite_differences(oracle, k, name):
    it = twin(name, 'hinge', 'matrix')
    smooth = smoothed_loss(it.problem.objective, oracle, k)
    smooth.mu = 0.7
    rng = np.random.default_rng(1)
    for i in range(it.problem.n):
        theta = rng.normal(size=it.problem.structure.size(i))
        right = it.problem.structure.statistics(i, it.problem.structure.gold_code(i))
        slope = smooth.value_of(i, theta)[1] - right
        for _ in range(5):
            way = rng.normal(size=len(theta)) * 1e-5
            change = smooth.value_of(i, theta + way)[0] - smooth.value_of(i, theta - way)[0]
            assert change == pytest.approx(2 * slope @ way, rel=1e-5, abs=1e-12)


@pytest.mark.parametrize('objective', ['hinge', 'log', 'softmax-margin'])
@pytest.mark.parametrize('solver', ['svrg', 'sc-svrg'])
@pytest.mark.parametrize(('stored', 'tail'), [(True, 1), (False, 1), (True, 3), (False, 8)])
def test_lazy_steps_are_dense_steps(monkeypatch, objective, solver, stored, tail):
    """fixed + scale * change is w after every pass, to the single precision of the statistics at the anchor."""
    if not stored:
        monkeypatch.setattr(svrg, 'STORED_BYTES', 0)
    it = twin('chain', objective, 'matrix', 3.0)
    method = make(solver, it.problem, seed=2, mu=0.3, shrink=1.0, step=0.02, adapt=False, warmup=0, tail=tail)
    reference = VarianceReduced(it.plain, objective, 0.3, 0.02, tail)
    scheme = Scheme(1, it.problem.lam, it.problem.n, 0.0, 0.9)
    kappa = scheme.kappa(1, 1 / 0.02, None) if solver == 'sc-svrg' else 0.0
    alpha, before = scheme.first_alpha(kappa), reference.w
    assert (kappa > 0) == (solver == 'sc-svrg')
    for _ in range(20):
        assert method.run_pass(go())
        center = reference.w
        reference.run(method.state()['order'], kappa)
        w = dict(method.iterates())['current']
        np.testing.assert_allclose(it.from_core(w), reference.w, rtol=0, atol=1e-6)
        if solver == 'sc-svrg':
            uphill = (center - reference.w) @ (reference.w - before) > 0
            alpha, beta = scheme.momentum(alpha, kappa, kappa)
            if uphill:
                alpha, beta = scheme.first_alpha(kappa), 0.0
            before, reference.w = reference.w, reference.w + beta * (reference.w - before)
    calls = 2 if stored else 3
    assert method.oracle_calls == 20 * calls * it.problem.n


@pytest.mark.parametrize('objective', ['hinge', 'log'])
@pytest.mark.parametrize(('inner', 'stored', 'tail'), [('saga', True, 1), ('saga', False, 3), ('miso', True, 1),
                                                       ('miso', False, 8), ('sdca', True, 3)])  # fmt: skip
def test_other_inner_methods_are_those_of_their_papers(monkeypatch, objective, inner, stored, tail):
    """saga, miso and sdca of an outer step, against tables of gradients in numpy."""
    if not stored:
        monkeypatch.setattr(svrg, 'STORED_BYTES', 0)
    it = twin('chain', objective, 'hamming', 3.0)
    how = {'mu': 0.3, 'shrink': 1.0, 'step': 0.02, 'adapt': False, 'warmup': 0, 'tail': tail, 'kappa': 0.4}
    method = make('sc-svrg', it.problem, seed=2, inner=inner, **how)
    plain, scheme = VarianceReduced(it.plain, objective, 0.3, 0.02, tail, inner), Scheme(1, it.problem.lam, 4, 0.4, 0.9)
    alpha, before = scheme.first_alpha(0.4), plain.w
    for _ in range(20):
        run(method, 1)
        center = plain.w
        plain.run(method.state()['order'], 0.4)
        w = dict(method.iterates())['current']
        np.testing.assert_allclose(it.from_core(w), plain.w, rtol=0, atol=1e-6)
        uphill = (center - plain.w) @ (plain.w - before) > 0
        alpha, beta = scheme.momentum(alpha, 0.4, 0.4)
        if uphill:
            alpha, beta = scheme.first_alpha(0.4), 0.0
        before, plain.w = plain.w, plain.w + beta * (plain.w - before)


@pytest.mark.parametrize('tail', [1, 2, 8])
def test_progress_is_the_change_of_the_objective(tail):
    """What a pass says about its progress, against values of the objective before and after: the loss is nearly linear
    between the last visits and the end, and over the iterates of a tail."""
    it = twin('multiclass', 'log', 'hamming', 1.0)
    method = make('svrg', it.problem, step=1e-3, adapt=False, warmup=0, tail=tail)
    run(method, 5)
    w = dict(method.iterates())['current'].copy()
    before = it.problem.evaluate(w).primal
    run(method, 1)
    after = it.problem.evaluate(dict(method.iterates())['current']).primal
    early, late, end, most = method.progress()
    assert -most < end < early < 0 and -most < late < early
    if tail == 1:  # the mean of a tail may lie before three quarters of the pass
        assert end < late
    assert end == pytest.approx(after - before, rel=1e-2)


@pytest.mark.parametrize('number', [1, 2, 3, 4])
@pytest.mark.parametrize(('lam', 'curvature'), [(1.0, 2.0), (1e-4, 50.0), (0.3, 1e6)])
def test_schemes_satisfy_their_equations(number, lam, curvature):
    n = 10
    scheme = Scheme(number, lam, n, 0.0, 0.8)
    first = scheme.kappa(1, curvature, None)
    alpha, kappa = scheme.first_alpha(first), first
    q = lam / (lam + kappa)
    assert alpha == pytest.approx(np.sqrt(q) if number <= 2 else GOLDEN)
    for k in range(1, 60):
        wanted = {1: max(curvature / n - lam, 0), 2: lam, 3: curvature / n, 4: k * curvature / n}[number]
        assert kappa == pytest.approx(wanted)
        assert 0 <= scheme.accuracy(k, kappa) < 1 or kappa == 0  # no proximal term, nothing to be accurate about
        after = scheme.kappa(k + 1, curvature, first)
        new, beta = scheme.momentum(alpha, kappa, after)
        strong = scheme.strong
        old = alpha**2 * (kappa + strong)
        assert new**2 * (after + strong) == pytest.approx((1 - new) * old + new * strong, rel=1e-9)
        assert beta == pytest.approx(alpha * (1 - alpha) * (kappa + strong) / (old + new * (after + strong)))
        if number <= 2:
            assert new == pytest.approx(alpha)
        alpha, kappa = new, after
    shrunk = np.prod([scheme.decrease(k) for k in range(1, 10)])
    assert shrunk == pytest.approx({1: 1.0, 2: 0.8**9, 3: 1.0, 4: 1 / 10}[number])


@pytest.mark.parametrize('number', [1, 2, 3, 4])
def test_schemes_with_a_fixed_step_are_those_of_the_paper(number):
    """The step stays what it was given, whatever mu does; iterates and rates are those of a plain program."""
    it, kappa = twin('chain', 'hinge', 'hamming', 0.3), 0.05 if number == 4 else 0.0
    fixed = {'step': 0.005, 'adapt': False, 'mu': 1.0, 'shrink': 1.0, 'patient': False, 'kappa': kappa}
    method = make('sc-svrg', it.problem, seed=2, scheme=str(number), warmup=0, tail=1, **fixed)
    plain = CatalystSmoothing(it.plain, number, 1.0, 0.005, kappa or None)
    gaps = []
    for k in range(1, 301):
        run(method, 1)
        plain.outer_step(method.state()['order'])
        w = it.from_core(dict(method.iterates())['current'])
        if k <= 50 or number in (1, 3):
            np.testing.assert_allclose(w, plain.w, rtol=0, atol=1e-5)
        gaps.append([optimum.primal(it.plain, 'hinge', v) - it.best.primal for v in (w, plain.w)])
    assert method.step == 0.005
    assert method.mu == pytest.approx(max({1: 1.0, 2: 0.9**300, 3: 1.0, 4: 1 / 301}[number], svrg.LEAST_MU), rel=0.2)
    mine, theirs = np.minimum.accumulate(gaps)[[49, 99, 299]].T
    if number in (2, 4):  # mu vanishes: the objective itself converges
        assert mine[1] <= 0.5 * mine[0] and mine[2] <= 0.5 * mine[1]
        assert mine[2] <= 1.2 * theirs[2]
    else:  # what the smoothing allows
        assert mine[2] == pytest.approx(theirs[2], rel=1e-4)


def test_a_proximal_term_that_outgrows_the_step_shortens_it_for_all_terms():
    """Scheme 4 as in Table 2, whose kappa grows with k: the rate is that of the plain program all the same."""
    it = twin('chain', 'hinge', 'hamming', 0.3)
    fixed = {'step': 0.02, 'adapt': False, 'mu': 0.1, 'shrink': 1.0, 'patient': False}
    method = make('sc-svrg', it.problem, seed=2, scheme='4', warmup=0, tail=1, **fixed)
    plain, gaps = CatalystSmoothing(it.plain, 4, 0.1, 0.02), []
    for k in range(1, 301):
        run(method, 1)
        plain.outer_step(method.state()['order'])
        w = it.from_core(dict(method.iterates())['current'])
        if k <= 20:
            np.testing.assert_allclose(w, plain.w, rtol=0, atol=1e-4)
        gaps.append([optimum.primal(it.plain, 'hinge', v) - it.best.primal for v in (w, plain.w)])
    assert 0.02 * (method.kappa + it.plain.lam) > 1  # or the test says nothing
    mine, theirs = np.minimum.accumulate(gaps)[[39, 299]].T
    assert mine[1] <= 0.5 * mine[0] and mine[1] <= 1.1 * theirs[1]


def test_a_fixed_step_stays_where_mu_falls_by_itself():
    it = twin('chain', 'hinge', 'hamming')
    for solver in ('svrg', 'sc-svrg'):
        method = run(make(solver, it.problem, seed=1, step=0.01, adapt=False), 400)
        assert method.mu < method.first_mu
        assert method.step == 0.01


@pytest.mark.parametrize('scheme', ['1', '2', '3', '4'])
@pytest.mark.parametrize('name', ['multiclass', 'chain'])
def test_accurate_outer_steps_converge(scheme, name):
    """Algorithm 1 with inner problems solved to its delta_k, not a pass each."""
    it = twin(name, 'hinge', 'hamming')
    method = make('sc-svrg', it.problem, seed=1, scheme=scheme, epochs=0)
    primal = min(it.problem.evaluate(dict(run(method, 50).iterates())['current']).primal for _ in range(40))
    assert primal - it.best.primal <= 1e-2 * it.best.primal


@pytest.mark.parametrize('mu', [1e-3, 0.1, 10.0])
def test_the_dual_point_of_a_temperature(mu):
    it = twin('chain', 'hinge', 'matrix')
    for scale in (0.0, 0.1, 3.0):
        w = scale * np.random.default_rng(0).normal(size=it.truth.dim)
        found = it.problem.evaluate(it.to_core(w), True, temperature=mu)
        alpha = optimum.posteriors(it.plain, 'hinge', w, mu)
        assert found.primal == pytest.approx(it.primal(it.to_core(w)), rel=1e-12)
        assert found.dual == pytest.approx(optimum.dual(it.plain, 'hinge', alpha), rel=1e-9, abs=1e-9)
        assert found.dual <= it.best.primal


def test_a_temperature_is_refused_where_there_is_none():
    it = twin('chain', 'hinge', 'zero-one')
    assert not it.problem.has_tempered_duals
    w = it.problem.features.zeros()
    with pytest.raises(ValueError, match='sum over parts'):
        it.problem.evaluate(w, True)
    it = twin('chain', 'hinge', 'hamming')
    assert it.problem.has_tempered_duals
    for temperature in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match='temperature'):
            it.problem.evaluate(w, True, temperature=temperature)


@pytest.mark.parametrize('scale', [1e-3, 1.0, 1e3])
def test_smoothing_follows_the_scale_of_the_costs(scale):
    """Costs times c are the same problem with weights times c and lambda by c."""
    it = problems.twin('multiclass', 'hinge', 'hamming')
    scaled = problems.build_problem(
        problems.dataset_of(problems.tiny.named('multiclass')), 'multiclass', 'hinge',
        scale * (1 - np.eye(3)), it.problem.lam / scale,
    )  # fmt: skip
    method, other = make('sc-svrg', it.problem, seed=1), make('sc-svrg', scaled, seed=1)
    assert other.mu == pytest.approx(scale * method.mu)
    for _ in range(30):
        run(method, 1), run(other, 1)
    values = (p.evaluate(dict(m.iterates())['current']).primal for p, m in ((it.problem, method), (scaled, other)))
    first, second = values
    assert second == pytest.approx(scale * first, rel=0.2)
