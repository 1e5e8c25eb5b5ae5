"""Beginning somewhere else than at zero: at weights, or at a dual point of the same data under another lambda."""

import functools

import numpy as np
import pytest

from tests.solvers import problems
from tests.solvers.references import SubgradientDescent
from tests.solvers.runs import bounds, everything, go, make, run, saved

twin = functools.cache(problems.twin)

BCFW = pytest.mark.parametrize(
    'options', [{'acceleration': False}, {'acceleration': True}], ids=['plain', 'accelerated']
)


@BCFW
@pytest.mark.parametrize('name', ['multiclass', 'chain', 'chain-edges'])
def test_bcfw_begins_at_a_dual_point(name, options):
    """The first dual value is the certified one; from there on the run goes to the optimum as any other."""
    before = run(make('bcfw', twin(name, 'hinge', 'matrix', 3.0).problem), 6)
    it = twin(name, 'hinge', 'matrix', 1.0)
    solver = make('bcfw', it.problem, seed=1, **options)
    solver.set_dual_point(before.dual_point())
    value, w = before.dual_point().certify(it.problem)
    assert solver.dual_value() == pytest.approx(value, rel=1e-12, abs=it.rounding())
    np.testing.assert_allclose(dict(solver.iterates())['current'], w, rtol=0, atol=1e-6 * np.abs(w).max())
    for ours, theirs in zip(it.alpha_of(solver.dual_point()), it.alpha_of(before.dual_point()), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-15)
    primal, dual = bounds(solver)
    while primal - dual > 1e-6 * primal and solver.passes < 500:
        assert solver.run_pass(go())
        primal_now, dual_now = bounds(solver)
        assert dual_now <= it.best.primal + it.rounding(solver.passes)
        if not options['acceleration']:
            assert dual_now >= value - it.rounding()
        primal, dual = min(primal, primal_now), max(dual, dual_now)
    assert primal - dual <= 1e-6 * primal


@BCFW
def test_bcfw_stays_at_the_optimum(options):
    it = twin('chain', 'hinge', 'matrix', 1.0)
    first = run(make('bcfw', it.problem, seed=1), 150)
    solver = make('bcfw', it.problem, seed=2, **options)
    solver.set_dual_point(first.dual_point())
    for _ in range(5):
        assert solver.run_pass(go())
        assert solver.dual_value() == pytest.approx(it.best.primal, rel=1e-7)


@BCFW
def test_bcfw_takes_weights_that_do_not_quite_sum_to_one(options):
    """What certify accepts is normalised, not carried along: the dual point stays one of distributions."""
    it = twin('chain', 'hinge', 'matrix', 1.0)
    point = run(make('bcfw', it.problem), 10).dual_point()
    point.weights *= 1 + 5e-7
    value, _ = point.certify(it.problem)
    solver = make('bcfw', it.problem, **options)
    solver.set_dual_point(point)
    assert solver.dual_value() == pytest.approx(value, rel=1e-12)
    run(solver, 3)
    for alpha in it.alpha_of(solver.dual_point()):
        assert alpha.sum() == pytest.approx(1, abs=1e-13)
    assert solver.dual_value() == pytest.approx(solver.dual_point().certify(it.problem)[0], rel=0, abs=it.rounding(3))


@BCFW
def test_bcfw_refuses_a_point_of_other_data(options):
    point = run(make('bcfw', twin('chain-binary', 'hinge').problem), 2).dual_point()
    solver = make('bcfw', twin('chain-edges-only', 'hinge').problem, **options)
    with pytest.raises(ValueError, match='dual point'):
        solver.set_dual_point(point)


@BCFW
def test_a_warm_start_can_be_resumed(options):
    it = twin('chain', 'hinge', 'hamming', 0.3)
    point = run(make('bcfw', it.problem), 5).dual_point()
    whole = make('bcfw', it.problem, seed=4, **options)
    whole.set_dual_point(point)
    state = saved(whole)
    run(whole, 9)
    relay = make('bcfw', it.problem, seed=9, **options)
    relay.restore(state)
    assert everything(run(relay, 9)) == everything(whole)


@pytest.mark.parametrize('objective', ['hinge', 'log', 'softmax-margin'])
def test_sgd_begins_at_weights(objective):
    """The start is the first iterate; the average is of what comes after it."""
    it = twin('chain', objective, 'matrix', 1.0)
    start = it.to_core(it.best.w)
    solver = make('sgd', it.problem, seed=2, gamma0=0.01, t0=30.0)
    solver.set_start(start)
    np.testing.assert_allclose(dict(solver.iterates())['current'], start, rtol=0, atol=1e-15)
    reference = SubgradientDescent(it.plain, objective, 0.01, 30.0, it.best.w)
    for _ in range(10):
        assert solver.run_pass(go())
        for i in solver.state()['order']:
            reference.visit(i)
        iterates = dict(solver.iterates())
        np.testing.assert_allclose(it.from_core(iterates['current']), reference.w, rtol=0, atol=1e-9)
        np.testing.assert_allclose(it.from_core(iterates['average']), reference.average, rtol=0, atol=1e-9)
