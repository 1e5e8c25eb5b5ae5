"""Averaged stochastic (sub)gradient descent: its steps, its average, its rate and its dual point."""

import functools

import numpy as np
import pytest

from tests.solvers import problems, tiny
from tests.solvers.references import SubgradientDescent
from tests.solvers.runs import bounds, go, make, run

twin = functools.cache(problems.twin)

OBJECTIVES = pytest.mark.parametrize('objective', ['hinge', 'log', 'softmax-margin'])


@OBJECTIVES
@pytest.mark.parametrize('name', ['multiclass', 'chain', 'chain-edges'])
def test_steps_and_average_against_plain_python(objective, name):
    it = twin(name, objective, 'matrix', 1.0)
    solver = make('sgd', it.problem, seed=2, gamma0=0.2, t0=30.0)
    reference = SubgradientDescent(it.plain, objective, 0.2, 30.0)
    for _ in range(25):
        assert solver.run_pass(go())
        order = solver.state()['order']
        assert sorted(order) == list(range(it.problem.n))
        for i in order:
            reference.visit(i)
        iterates = dict(solver.iterates())
        np.testing.assert_allclose(it.from_core(iterates['current']), reference.w, rtol=0, atol=1e-10)
        np.testing.assert_allclose(it.from_core(iterates['average']), reference.average, rtol=0, atol=1e-10)
    assert solver.oracle_calls == reference.t


@pytest.mark.parametrize('name', ['multiclass', 'chain'])
def test_dual_point_is_the_average_of_the_outputs(name):
    """The p-th output of an example has weight 2 / (p + 1) when it comes and shrinks with the later ones."""
    it = twin(name, 'hinge', 'matrix', 1.0)
    solver = make('sgd', it.problem, seed=2, gamma0=0.2, t0=30.0)
    reference = SubgradientDescent(it.plain, 'hinge', 0.2, 30.0)
    for _ in range(20):
        assert solver.run_pass(go())
        for i in solver.state()['order']:
            reference.visit(i)
    for i, alpha in enumerate(it.alpha_of(solver.dual_point())):
        wanted = np.zeros(len(alpha))
        for p, row in enumerate(reference.seen[i], start=1):
            wanted *= 1 - 2 / (p + 1)
            wanted[row] += 2 / (p + 1)
        np.testing.assert_allclose(alpha, wanted, rtol=0, atol=1e-12)


@OBJECTIVES
@pytest.mark.parametrize('lam_times_n', [0.1, 1.0, 10.0])
def test_error_falls_like_one_over_t(objective, lam_times_n):
    """Steps 2 / (lam t) and weights t give E[P] - P* <= 2 G^2 / (lam t) (Lacoste-Julien, Schmidt and Bach 2012), with
    G a bound on the gradients; and sixteen times the steps leave less than a quarter of the error."""
    it = twin('chain', objective, 'hamming', lam_times_n)
    solver = make('sgd', it.problem, seed=1)
    longest = 2 * max(np.sqrt((psi**2).sum(axis=1).max()) for psi in it.plain.psi)
    errors = []
    for passes in (100, 1600):
        run(solver, passes - solver.passes)
        w = dict(solver.iterates())['average']
        errors.append(it.problem.evaluate(w).primal - it.best.primal)
        assert errors[-1] <= 2 * longest**2 / (it.problem.lam * passes * it.problem.n)
    assert errors[1] <= max(errors[0] / 4, 1e-9 * it.best.primal)


@OBJECTIVES
@pytest.mark.parametrize('lam_times_n', [1e-3, 1.0, 1e3])
@pytest.mark.parametrize('t0', [1.0, 1e3, 1e9])
def test_the_average_is_one_whatever_the_steps(objective, lam_times_n, t0):
    """Far too long, nearly constant steps too: the average stays within the iterates, however long the run."""
    it = twin('multiclass', objective, 'hamming', lam_times_n)
    gamma0 = 0.5 / it.problem.lam
    solver = make('sgd', it.problem, seed=1, gamma0=gamma0, t0=t0)
    reference = SubgradientDescent(it.plain, objective, gamma0, t0)
    for _ in range(150):
        assert solver.run_pass(go())
        for i in solver.state()['order']:
            reference.visit(i)
        primal, dual = bounds(solver)
        assert dual <= it.best.primal * (1 + 1e-9)
        assert primal >= it.best.dual * (1 - 1e-9)
    average = it.from_core(dict(solver.iterates())['average'])
    tolerance = 1e-8 * np.abs(reference.average).max()
    np.testing.assert_allclose(average, reference.average, rtol=0, atol=tolerance)


def test_the_first_step_is_chosen_sensibly():
    """The automatic step is no worse than an arbitrary one by orders of magnitude, at any scale of the features."""
    for factor in (1e-3, 1.0, 1e3):
        data = tiny.named('chain')
        data.values = data.values * factor
        problem = problems.build_problem(problems.dataset_of(data), 'chain', 'log', None, 1.0)
        start = problem.evaluate(problem.features.zeros()).primal
        primal, _ = bounds(run(make('sgd', problem), 5))
        assert primal < start
