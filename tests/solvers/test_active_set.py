"""Badly scaled quadratic programs and training problems, against the interior-point method of optimum.py."""

import numpy as np
import pytest

from cython_ext.objectives.registry import Variant
from cython_ext.solvers.blocks import active_set
from cython_ext.tasks.build import build_problem
from tests import matchings, optimum, variants
from tests.solvers.runs import bounds, go, make


def random_problem(rng, scale):
    """A hinge problem with up to six examples of up to eight outputs, some of them alike."""
    psi, delta = [], []
    dim = rng.integers(1, 8)
    for _ in range(rng.integers(1, 7)):
        outputs = rng.integers(2, 9)
        psi.append(rng.normal(size=(outputs, dim)) * scale)
        delta.append(rng.integers(0, 3, size=outputs).astype(float))
        psi[-1][0], delta[-1][0] = 0, 0
        if outputs > 3:
            psi[-1][2] = psi[-1][1]
    return optimum.Problem(psi, delta, 0.5)


@pytest.mark.parametrize('scale', [1e-3, 1.0, 1e2, 1e4])
@pytest.mark.parametrize('seed', range(12))
def test_distributions(scale, seed):
    plain = random_problem(np.random.default_rng(seed), scale)
    best = optimum.solve(plain, 'hinge', 1e-6)
    a, sizes = np.concatenate(plain.psi), [len(delta) for delta in plain.delta]
    right = np.concatenate([np.eye(1, size)[0] for size in sizes])
    groups = np.repeat(np.arange(plain.n), sizes)
    x = active_set.solve(np.concatenate(plain.delta), a @ a.T / (plain.lam * plain.n), right, groups)
    alpha = [mine / mine.sum() for mine in np.split(x, np.cumsum(sizes)[:-1])]
    assert x.min() >= 0
    np.testing.assert_allclose([mine.sum() for mine in np.split(x, np.cumsum(sizes)[:-1])], 1, rtol=1e-9)
    assert optimum.dual(plain, 'hinge', alpha) == pytest.approx(best.dual, rel=1e-6)
    assert optimum.primal(plain, 'hinge', optimum.weights(plain, alpha)) <= best.primal * (1 + 1e-3)


@pytest.mark.parametrize('ridge', [0.0, 2.0])
@pytest.mark.parametrize('scale', [1.0, 1e3])
@pytest.mark.parametrize('seed', range(6))
def test_without_sums(ridge, scale, seed):
    """A positive definite program over x >= 0: its optimality conditions hold, relative to the size of its terms."""
    rng = np.random.default_rng(seed)
    a = scale * rng.normal(size=(9, 12))
    hessian, b = a @ a.T + ridge, rng.normal(size=9)
    x = active_set.solve(b, hessian, np.zeros(9))
    slope, rounding = b - hessian @ x, 1e-10 * (1 + np.abs(hessian) @ x)
    assert x.min() >= 0 and x.max() > 0
    assert (slope <= rounding).all() and (np.abs(slope[x > 0]) <= rounding[x > 0]).all()


def test_a_program_that_rises_for_ever_comes_to_an_end():
    x = active_set.solve(np.ones(3), np.zeros((3, 3)), np.zeros(3))
    assert np.isfinite(x).all()


def test_it_looks_at_the_stop_flag():
    assert active_set.solve(np.ones(2), np.eye(2), np.zeros(2), stop=np.ones(1, np.int32)) is None


@pytest.mark.parametrize(
    'variant', [Variant(), Variant('margin', 2), Variant('slack', 2)], ids=lambda v: '+'.join(v.names)
)
@pytest.mark.parametrize('scale', [1e2, 1e4])
@pytest.mark.parametrize('seed', range(3))
@pytest.mark.parametrize('solver', ['n-slack', 'one-slack'])
def test_matchings_with_large_values(solver, variant, scale, seed):
    if variant != Variant() and (solver == 'one-slack' or scale > 1e2):  # the optimum is not known that well
        return
    rng = np.random.default_rng(seed)
    examples = [matchings.random_example(rng, *size) for size in [(2, 2, 1.0), (1, 2, 1.0), (2, 3, 0.8), (3, 2, 0.8)]]
    examples = [[(r, c, t, {k: scale * v for k, v in f.items()}) for r, c, t, f in links] for links in examples]
    problem = build_problem(matchings.dataset_of(examples), 'matching', 'hinge', 'zero-one', 0.5, variant=variant)
    best = variants.solve(matchings.MatchingEnumeration(examples, 'zero-one'), variant, 0.5, 1e-5)
    method = make(solver, problem)
    primal, dual = bounds(method)
    rounding = 1e-15 * scale**2  # of the losses, from inner products of that size
    while primal - dual > 1e-3 * primal + rounding and method.passes < 200:
        assert method.run_pass(go())
        now, dual_now = bounds(method)
        assert dual_now <= best * (1 + 1e-5)
        assert dual_now >= dual - 1e-9 * best - 1e-14  # losses are up to 1
        primal, dual = min(primal, now), max(dual, dual_now)
    assert primal - dual <= 1e-3 * primal + rounding
