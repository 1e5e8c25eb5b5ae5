"""Batch Frank-Wolfe: the algorithm of the paper, step by step, and what its theory promises."""

import functools

import numpy as np
import pytest

from cython_ext.objectives.registry import Variant
from tests import optimum, variants
from tests.kernels import explicit_features, with_features
from tests.solvers import problems, tiny
from tests.solvers.runs import bounds, everything, go, make, run, saved

twin = functools.cache(problems.twin)

EVERY_LAMBDA = pytest.mark.parametrize('lam_times_n', [1e-3, 0.1, 1, 10, 1e3])
KERNELS = [{'kind': 'poly', 'degree': 2}, {'kind': 'rbf', 'gamma': 0.4}]
EVERY_LOSS = pytest.mark.parametrize('loss', ['zero-one', 'hamming', 'matrix'])


class Reference:
    """Lacoste-Julien et al. (2013), Algorithm 2 with exact line search, over enumerated outputs."""

    def __init__(self, plain):
        self.plain = plain
        self.alpha = [np.eye(1, len(delta), int(np.flatnonzero(delta == 0)[0]))[0] for delta in plain.delta]
        self.w = optimum.weights(plain, self.alpha)

    def step(self):
        plain, n = self.plain, self.plain.n
        best = [int((delta - psi @ self.w).argmax()) for psi, delta in zip(plain.psi, plain.delta, strict=True)]
        corner = [np.eye(1, len(delta), y)[0] for y, delta in zip(best, plain.delta, strict=True)]
        towards, loss, loss_there = optimum.weights(plain, corner), 0.0, 0.0
        for a, y, delta in zip(self.alpha, best, plain.delta, strict=True):
            loss, loss_there = loss + a @ delta / n, loss_there + delta[y] / n
        change = self.w - towards
        gap, curve = plain.lam * change @ self.w - loss + loss_there, plain.lam * change @ change
        step = min(1.0, gap / curve) if curve > 0 else 1.0
        self.w = (1 - step) * self.w + step * towards
        self.alpha = [(1 - step) * a + step * c for a, c in zip(self.alpha, corner, strict=True)]


@pytest.mark.parametrize('name', ['multiclass', 'chain', 'chain-edges', 'chain-empty'])
def test_steps_are_those_of_the_paper(name):
    """With costs that leave no ties."""
    it = twin(name, 'hinge', 'matrix')
    solver, reference = make('fw', it.problem), Reference(it.plain)
    for _ in range(25):
        assert solver.run_pass(go())
        reference.step()
        np.testing.assert_allclose(it.from_core(solver.w), reference.w, rtol=0, atol=1e-10)
        for ours, theirs in zip(it.alpha_of(solver.dual_point()), reference.alpha, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10)


@EVERY_LOSS
@EVERY_LAMBDA
def test_dual_never_falls(loss, lam_times_n):
    for name in ('multiclass', 'chain', 'chain-edges'):
        it = twin(name, 'hinge', loss, lam_times_n)
        solver = make('fw', it.problem)
        before = solver.dual_value()
        assert before == 0
        for _ in range(100):
            assert solver.run_pass(go())
            assert solver.dual_value() >= before - it.rounding()
            before = solver.dual_value()
        assert before > 0


def curvature(plain):
    """An upper bound on the curvature constant of -D: lam ||w(alpha) - w(beta)||^2 at its largest."""
    spans = [np.sqrt(((psi[:, None] - psi[None]) ** 2).sum(axis=2).max()) for psi in plain.psi]
    return np.mean(spans) ** 2 / plain.lam


@EVERY_LOSS
@EVERY_LAMBDA
@pytest.mark.parametrize('name', ['multiclass', 'multiclass-binary', 'chain', 'chain-edges'])
def test_rate(name, loss, lam_times_n):
    """Jaggi (2013), theorems 1 and 2: after k steps D* - D <= 2 C / (k + 2), and some gap up to there is at most
    27/4 C / (k + 2)."""
    it = twin(name, 'hinge', loss, lam_times_n)
    solver, constant, least = make('fw', it.problem), curvature(it.plain), np.inf
    for k in range(1, 200):
        assert solver.run_pass(go())
        primal, dual = solver.estimate()
        least = min(least, primal - dual)
        assert it.best.primal - dual <= 2 * constant / (k + 2)
        assert least <= 27 / 4 * constant / (k + 2)


@pytest.mark.parametrize('name', ['multiclass', 'chain', 'chain-edges'])
def test_the_gap_is_known_without_another_oracle_pass(name):
    it = twin(name, 'hinge', 'matrix')
    solver = make('fw', it.problem, seed=1)
    assert solver.evaluation() is None and solver.estimate() is None
    for k in range(1, 20):
        assert solver.run_pass(go())
        assert solver.oracle_calls == (k + 1) * it.problem.n
        again = it.problem.evaluate(solver.w)
        assert solver.evaluation().primal == again.primal
        np.testing.assert_array_equal(solver.evaluation().loss_values, again.loss_values)
        assert solver.estimate() == (again.primal, solver.dual_value())


def test_line_search_is_exact():
    """With one example of two outputs the first step goes to the optimum, at an end of the segment or inside it."""
    for lam in (0.01, 0.3, 1.0, 3.0, 100.0):
        data = tiny.arrays('multiclass', (1,), 2, attributes=6, seed=3)
        problem = problems.build_problem(problems.dataset_of(data), 'multiclass', 'hinge', 'zero-one', lam)
        truth = problems.Enumeration('multiclass', data, 2, 'zero-one')
        best = optimum.solve(optimum.Problem.of(truth, lam), 'hinge')
        assert run(make('fw', problem), 1).dual_value() == pytest.approx(best.primal, rel=1e-9)


def test_a_long_run_stays_feasible_and_true():
    """Neither the weights of the dual point nor w = w(alpha) drift, and nothing without weight is kept."""
    it = twin('chain', 'hinge', 'matrix', 0.1)
    solver = run(make('fw', it.problem), 3000)
    for a in it.alpha_of(solver.dual_point()):
        assert a.min() >= 0
        assert a.sum() == pytest.approx(1, abs=1e-12)
    value, w = solver.dual_point().certify(it.problem)
    assert solver.dual_value() == pytest.approx(value, rel=0, abs=it.rounding(3000))
    np.testing.assert_allclose(solver.w, w, rtol=0, atol=1e-10 * np.abs(w).max())
    assert (solver.state()['sets.weights'] > 0).all()


def test_nothing_to_gain():
    """A problem whose optimum is where the solver begins: it says that it has finished, and moves no more."""
    data = tiny.arrays('multiclass', (1,) * 5, 1, attributes=3)
    problem = problems.build_problem(problems.dataset_of(data), 'multiclass', 'hinge', 'zero-one', 0.2)
    solver = make('fw', problem)
    assert solver.run_pass(go())
    assert solver.finished and bounds(solver) == (0.0, 0.0)


@pytest.mark.parametrize('name', ['multiclass', 'chain', 'chain-edges', 'chain-empty'])
def test_begins_at_a_dual_point(name):
    """The first dual value is the certified one, weights that do not quite sum to one included; it never falls."""
    point = run(make('bcfw', twin(name, 'hinge', 'matrix', 3.0).problem), 6).dual_point()
    point.weights *= 1 + 5e-7
    it = twin(name, 'hinge', 'matrix', 1.0)
    solver = make('fw', it.problem)
    solver.set_dual_point(point)
    value, w = point.certify(it.problem)
    assert solver.dual_value() == pytest.approx(value, rel=1e-12, abs=it.rounding())
    np.testing.assert_allclose(solver.w, w, rtol=0, atol=1e-12 * np.abs(w).max())
    for ours, theirs in zip(it.alpha_of(solver.dual_point()), it.alpha_of(point), strict=True):
        np.testing.assert_allclose(ours, theirs / theirs.sum(), rtol=0, atol=1e-15)
    run(solver, 50)
    assert value - it.rounding() <= solver.dual_value() <= it.best.primal + it.rounding(50)
    assert solver.dual_value() == pytest.approx(solver.dual_point().certify(it.problem)[0], rel=0, abs=it.rounding(50))


def test_stays_at_the_optimum():
    it = twin('chain', 'hinge', 'matrix')
    solver = make('fw', it.problem)
    solver.set_dual_point(run(make('bcfw', it.problem, seed=1), 150).dual_point())
    for _ in range(5):
        run(solver, 1)
        assert solver.dual_value() == pytest.approx(it.best.primal, rel=1e-7)


def test_refuses_a_point_of_other_data():
    point = run(make('bcfw', twin('chain-binary', 'hinge').problem), 2).dual_point()
    with pytest.raises(ValueError, match='dual point'):
        make('fw', twin('chain-edges-only', 'hinge').problem).set_dual_point(point)


def test_a_warm_start_can_be_resumed():
    it = twin('chain', 'hinge', 'hamming', 0.3)
    whole = make('fw', it.problem)
    whole.set_dual_point(run(make('bcfw', it.problem), 5).dual_point())
    state = saved(whole)
    run(whole, 9)
    relay = make('fw', it.problem)
    relay.restore(state)
    assert everything(run(relay, 9)) == everything(whole)


def test_stopped_between_the_step_and_the_oracle():
    """A state that was saved there is taken up there: the step is not taken again."""
    it = twin('chain', 'hinge')
    whole = run(make('fw', it.problem), 3)
    broken = run(make('fw', it.problem), 2)
    assert not broken.run_pass(np.ones(1, np.int32))
    assert broken.evaluation() is None and broken.passes == 2
    np.testing.assert_array_equal(broken.w, whole.w)
    relay = make('fw', it.problem)
    relay.restore(saved(broken))
    assert relay.run_pass(go())
    assert everything(relay) == everything(whole)


@pytest.mark.parametrize('loss', ['zero-one', 'hamming'])
@pytest.mark.parametrize('name', ['multiclass', 'chain', 'chain-empty'])
def test_slack_rescaling(name, loss):
    """The same bounds around the optimum of the rescaled losses, as they come closer; D never falls."""
    data, variant = tiny.named(name), Variant(rescale='slack')
    lam = 1 / (len(data.offsets) - 1)
    problem = problems.build_problem(problems.dataset_of(data), data.task, 'hinge', loss, lam, variant=variant)
    truth = problems.Enumeration(data.task, data, data.n_labels, loss)
    best = variants.solve(truth, variant, lam)
    solver, least, before = make('fw', problem), np.inf, 0.0
    for _ in range(1000):
        assert solver.run_pass(go())
        primal, dual = solver.estimate()
        assert before - 1e-14 <= dual <= best + 1e-9 and primal >= best - 1e-9
        least, before = min(least, primal), dual
    assert least - dual <= 5e-3 * least
    assert solver.dual_value() == pytest.approx(solver.dual_point().certify(problem)[0], rel=1e-12)


@pytest.mark.parametrize('kernel', KERNELS)
@pytest.mark.parametrize('task', ['multiclass', 'chain'])
def test_kernels(task, kernel):
    """Iterates are those of the linear problem whose features have the kernel's inner products."""
    data = tiny.arrays(task, (3, 1, 4, 2), 3, attributes=4, seed=2)
    linear = with_features(data, explicit_features(data, **kernel))
    pair = [
        make('fw', problems.build_problem(problems.dataset_of(d), task, 'hinge', 'hamming', 0.3, kernel=k))
        for d, k in ((data, kernel), (linear, None))
    ]
    for _ in range(30):
        bounds_now = []
        for solver in pair:
            assert solver.run_pass(go())
            bounds_now.append(solver.estimate())
        assert bounds_now[0] == pytest.approx(bounds_now[1], rel=1e-9)
    assert pair[0].problem.evaluate(pair[0].w).primal == pytest.approx(bounds_now[1][0], rel=1e-9)
