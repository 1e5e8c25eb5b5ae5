"""L-BFGS: descent, what it reports for free, restarts and warm starts."""

import functools

import numpy as np
import pytest

from tests.solvers import problems
from tests.solvers.runs import bounds, go, make, run

twin = functools.cache(problems.twin)

OBJECTIVES = pytest.mark.parametrize('objective', ['log', 'softmax-margin'])


@OBJECTIVES
@pytest.mark.parametrize('lam_times_n', [1e-3, 1.0, 1e3])
def test_descent_to_the_end(objective, lam_times_n):
    """The primal falls in every iteration until there is nothing left to gain; then the solver says so."""
    it = twin('chain', objective, 'matrix', lam_times_n)
    solver = make('lbfgs', it.problem)
    before, _ = bounds(solver)
    while not solver.finished and solver.passes < 2000:
        assert solver.run_pass(go())
        primal, dual = bounds(solver)
        assert primal <= before * (1 + 1e-15)
        before = primal
    assert solver.finished
    assert primal - dual <= 1e-9 * primal
    assert primal == pytest.approx(it.best.primal, rel=1e-9)


@OBJECTIVES
def test_what_it_reports_is_the_evaluation(objective):
    it = twin('chain-edges', objective, 'hamming', 1.0)
    solver = make('lbfgs', it.problem)
    assert solver.estimate() is None
    for _ in range(8):
        assert solver.run_pass(go())
        ((_, w),) = solver.iterates()
        again = it.problem.evaluate(w, softmax_dual=True)
        assert solver.estimate() == (again.primal, again.dual)
        assert (solver.evaluation().primal, solver.evaluation().dual) == (again.primal, again.dual)
        np.testing.assert_array_equal(solver.evaluation().loss_values, again.loss_values)


@OBJECTIVES
def test_restarts_do_not_keep_it_from_the_optimum(objective):
    it = twin('chain', objective, 'hamming', 0.1)
    primal, dual = bounds(run(make('lbfgs', it.problem, restart=3, memory=2), 300))
    assert primal - dual <= 1e-8 * primal


def test_a_warm_start_begins_where_it_is_told():
    it = twin('chain', 'log', 'hamming', 1.0)
    near = it.to_core(it.best.w)
    solver = make('lbfgs', it.problem)
    solver.set_start(near)
    assert bounds(solver)[0] == pytest.approx(it.best.primal, rel=1e-9)
    run(solver, 2)
    assert bounds(solver)[0] == pytest.approx(it.best.primal, rel=1e-9)


def test_oracle_calls_count_evaluations():
    it = twin('chain', 'log')
    solver = run(make('lbfgs', it.problem), 6)
    assert solver.oracle_calls % it.problem.n == 0
    assert solver.oracle_calls >= 6 * it.problem.n
