"""The best mixture of dual points: its small program against many mixtures, and what happens where there is no room."""

import numpy as np
import pytest

from cython_ext.solvers.blocks.bundle import Bundle
from tests.solvers.problems import twin


def planes(problem, count, seed):
    """Random ones: (arrays of a dual point that tell it apart, b, g)."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        gradient = problem.features.zeros()
        gradient[:] = rng.normal(size=len(gradient)) * rng.choice([0.1, 1, 3])
        yield {'number': np.array([k])}, rng.normal() + 1, gradient


def value(problem, chosen, share):
    g = sum(s * gradient for s, (_, _, gradient) in zip(share, chosen, strict=True))
    return sum(s * b for s, (_, b, _) in zip(share, chosen, strict=True)) - g @ g / (2 * problem.lam)


@pytest.mark.parametrize('lam_times_n', [0.1, 30.0])
@pytest.mark.parametrize('seed', range(5))
def test_no_mixture_is_better(lam_times_n, seed):
    problem = twin('chain', 'hinge', 'hamming', lam_times_n).problem
    bundle, chosen, before = Bundle(problem, 100, 0), list(planes(problem, 12, seed)), -np.inf
    for k, plane in enumerate(chosen, 1):
        bundle.add([plane])
        assert bundle.value >= before - 1e-12 * abs(before)
        assert bundle.shares.min() >= 0 and bundle.shares.sum() == pytest.approx(1, abs=1e-12)
        assert bundle.value == pytest.approx(value(problem, chosen[:k], bundle.shares), rel=1e-10)
        before = bundle.value
    rng = np.random.default_rng(seed)
    for _ in range(300):
        share = rng.dirichlet(np.full(12, rng.choice([0.05, 1.0])))
        assert value(problem, chosen, share) <= bundle.value + 1e-10 * abs(bundle.value)
    g = sum(s * gradient for s, (_, _, gradient) in zip(bundle.shares, chosen, strict=True))
    np.testing.assert_allclose(bundle.weights(), -g / problem.lam, rtol=0, atol=1e-12)
    shares, points = bundle.mixed()
    assert [int(point['number'][0]) for point in points] == np.flatnonzero(bundle.shares).tolist() and (
        shares > 0
    ).all()


def test_the_least_share_makes_room():
    problem = twin('chain', 'hinge', 'hamming', 1.0).problem
    bundle, chosen = Bundle(problem, 3, 0), list(planes(problem, 20, 1))
    for plane in chosen:
        bundle.add([plane])
        assert len(bundle.points) <= 3
        assert bundle.value >= value(problem, [plane], [1.0]) - 1e-12  # the new one alone
    again = Bundle(problem, 3, 0)
    again.restore(bundle.state())
    assert again.value == bundle.value and again.weights().tobytes() == bundle.weights().tobytes()
    assert Bundle(problem, 100, 10**9).most == 2  # as many as have room, two at least
