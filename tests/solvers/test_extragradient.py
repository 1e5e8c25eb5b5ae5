"""Dual extragradient: its steps against plain numpy, and the rate that its step sizes promise."""

import functools

import numpy as np
import pytest

from tests import optimum
from tests.solvers import problems
from tests.solvers.references import Extragradient
from tests.solvers.runs import make, run

twin = functools.cache(problems.twin)


@pytest.mark.parametrize('name', ['multiclass', 'chain', 'chain-edges'])
@pytest.mark.parametrize('step', [1.0, 4.0])
def test_steps_are_those_of_the_paper(name, step):
    it = twin(name, 'hinge', 'matrix', 0.3)
    method = make('extragradient', it.problem, step=step)
    plain = Extragradient(it.plain, method.eta, method.tau)
    for _ in range(30):
        run(method, 1)
        plain.step()
        found = dict(method.iterates())
        np.testing.assert_allclose(it.from_core(found['current']), plain.w, rtol=0, atol=1e-5)
        np.testing.assert_allclose(it.from_core(found['average']), plain.average, rtol=0, atol=1e-5)
    assert method.oracle_calls == 60 * it.problem.n


@pytest.mark.parametrize('name', ['multiclass', 'chain'])
@pytest.mark.parametrize('balance', [0.1, 1.0, 10.0])
@pytest.mark.parametrize('lam_times_n', [0.03, 1.0])
def test_the_rate_is_what_the_step_sizes_promise(name, balance, lam_times_n):
    """P(mean w½) - D(mean alpha½) <= (||w||^2 / (2 eta) + mean log |Y_i| / tau) / t, w that of mean alpha½; and the
    mixture is no worse than the mean."""
    it = twin(name, 'hinge', 'hamming', lam_times_n)
    method = make('extragradient', it.problem, balance=balance)
    largest = max((psi**2).sum(axis=1).max() for psi in it.plain.psi)
    assert method.eta * method.tau * largest <= 1 + 1e-9
    plain = Extragradient(it.plain, method.eta, method.tau)
    outputs = np.mean([np.log(len(delta)) for delta in it.plain.delta])
    for t in range(1, 61):
        run(method, 1)
        plain.step()
        w = optimum.weights(it.plain, plain.average_alpha)
        dual = optimum.dual(it.plain, 'hinge', plain.average_alpha)
        primal = it.primal(dict(method.iterates())['average'])
        assert primal - dual <= (w @ w / (2 * method.eta) + outputs / method.tau) / t + 1e-6 * primal
        assert dual - 1e-6 * primal <= method.dual_value() <= it.best.primal * (1 + 1e-9)
