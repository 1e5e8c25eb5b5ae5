"""Every solver that works with kernels, on problems whose kernel has been written out as features."""

import functools
import itertools

import numpy as np
import pytest

from cython_ext.duals.natural import NaturalPoint
from cython_ext.duals.scores import ScoresPoint
from cython_ext.objectives.registry import Variant
from cython_ext.solvers.registry import solver_info
from cython_ext.tasks.fit import Wanted, with_kernels
from data_formats.errors import UsageError
from ssvm_cli.options.solver_choice import automatic, choose
from tests import optimum, variants
from tests.kernels import kernel_twin
from tests.solvers.runs import bounds, everything, go, make, run, saved
from tests.solvers.test_optimum import BY_PARTS, DENSE, MINIMISERS, REACH, VARIANTS, check_both_sides

KERNELS = {
    'poly': {'kind': 'poly', 'degree': 2, 'gamma': 0.5, 'coef0': 1.0},
    'rbf': {'kind': 'rbf', 'gamma': 0.3},
}
DATA = (
    'multiclass',
    'multiclass-binary',
    'chain',
    'chain-binary',
    'chain-empty',
    'chain-edges',
    'chain-edges-only',
    'chain-triples',
)
SOLVERS = [name for name in MINIMISERS if solver_info(name).kernels]
# As in test_optimum.py; kernel problems may be harder than the linear ones.
LIMITS = {**REACH, 'bcfw': (1e-5, 1500), 'fw': (2e-3, 5000)}

twin = functools.cache(lambda name, objective, kernel, *rest: kernel_twin(name, objective, KERNELS[kernel], *rest))


def rounding(it, method):
    """That of the weights alpha, and of the explicit features, whose inner products are not exactly the kernel."""
    return it.rounding(method.passes) + 1e-10 * it.best.primal


def everything_that_fits():
    for solver in SOLVERS:
        for objective, options in itertools.product(solver_info(solver).objectives, VARIANTS[solver]):
            for name, kernel in itertools.product(DATA, KERNELS):
                yield pytest.param(
                    solver, options, name, objective, kernel, id=f'{solver}-{options}-{name}-{objective}-{kernel}'
                )


@pytest.mark.parametrize(('solver', 'options', 'name', 'objective', 'kernel'), list(everything_that_fits()))
def test_bounds_close_in_on_the_optimum_of_the_features(solver, options, name, objective, kernel):
    """Every pass: dual <= optimum <= primal; in the end both sides are what the explicit features say."""
    tolerance, limit = LIMITS[solver]
    it = twin(name, objective, kernel)
    best, method = it.best, make(solver, it.problem, seed=3, **options)
    primal, dual = bounds(method)
    while not (primal - dual <= tolerance * primal or method.finished or method.passes == limit):
        assert method.run_pass(go())
        primal_now, dual_now = bounds(method)
        assert dual_now <= best.primal + rounding(it, method)
        assert primal_now >= best.dual - rounding(it, method)
        primal, dual = min(primal, primal_now), max(dual, dual_now)
    assert primal - dual <= tolerance * primal
    assert primal - best.primal <= tolerance * primal
    check_both_sides(it, method, solver in DENSE)


VARIANTS_OF_THE_HINGE = [Variant('slack'), Variant(slack_norm=2), Variant('slack', 2), Variant(hard_margin=True)]


@pytest.mark.parametrize('name', ['multiclass', 'chain'])
@pytest.mark.parametrize(
    ('solver', 'variant'),
    [
        pytest.param(solver, variant, id=f'{solver}-{"+".join(variant.names)}')
        for solver, variant in itertools.product(SOLVERS, VARIANTS_OF_THE_HINGE)
        if set(variant.names) <= set(solver_info(solver).variants)
    ],
)
def test_variants_of_the_hinge(solver, variant, name):
    it = kernel_twin(name, 'hinge', KERNELS['rbf'], variant=variant)
    best = variants.solve(it.truth, variant, it.problem.lam)
    method = make(solver, it.problem, seed=3)
    primal, dual = np.inf, 0.0
    tolerance, limit = LIMITS[solver]
    while not (primal - dual <= tolerance * primal or method.finished or method.passes == limit):
        assert method.run_pass(go())
        dual = max(dual, method.dual_value())
        primal = min([primal, *(it.problem.evaluate(w).primal for _, w in method.iterates())])
        assert dual <= best * (1 + 1e-8)
        assert primal >= best * (1 - 1e-8)
    assert primal - best <= tolerance * primal


@pytest.mark.parametrize('solver', SOLVERS)
@pytest.mark.parametrize('kernel', KERNELS)
def test_other_losses_and_lambdas(solver, kernel):
    """Bounds are bounds, whatever the loss and lambda."""
    for objective, loss, lam in itertools.product(solver_info(solver).objectives, ('zero-one', 'hamming'), (0.03, 30)):
        if loss == 'zero-one' and solver in BY_PARTS:
            continue
        it = twin('chain', objective, kernel, loss, lam)
        method = make(solver, it.problem, seed=1)
        for _ in range(40):
            if method.finished:
                break
            assert method.run_pass(go())
            primal, dual = bounds(method)
            assert np.isfinite([primal, dual]).all()
            point = method.dual_point()
            if point is not None:  # the solver's own figure gathers rounding, and the model proves this one
                own, dual = dual, point.value(it.problem)
                # natural parameters are stored in single precision
                natural = isinstance(point, NaturalPoint)
                assert abs(own - dual) < 1e-4 * primal if natural else own == pytest.approx(dual, rel=1e-8)
            assert dual <= it.best.primal + rounding(it, method)
            assert primal >= it.best.dual - rounding(it, method)


@pytest.mark.parametrize('name', ['multiclass', 'chain-binary', 'chain-edges'])
@pytest.mark.parametrize('kernel', KERNELS)
@pytest.mark.parametrize('solver', SOLVERS)
def test_neither_cache_nor_threads_change_a_digit(solver, kernel, name):
    objective = solver_info(solver).objectives[0]
    how = [
        {'kernel_cache': 1000, 'threads': 1},
        {'kernel_cache': 0, 'threads': 3},
        {'kernel_cache': 3e-4, 'threads': 1},
    ]
    problems = [kernel_twin(name, objective, KERNELS[kernel], **one).problem for one in how]
    kept = [problem.features.basis.kept for problem in problems]
    assert kept[0] == problems[0].features.basis.size and kept[1] == 0 and kept[2] <= kept[0]
    first, *others = (run(make(solver, problem, seed=2), 12) for problem in problems)
    for other in others:
        assert everything(other) == everything(first)
        for (_, v), (_, w) in zip(first.iterates(), other.iterates(), strict=True):
            assert first.problem.evaluate(v).primal == other.problem.evaluate(w).primal


@pytest.mark.parametrize('solver', SOLVERS)
def test_a_restored_run_goes_on_as_it_was(solver):
    it = twin('chain', solver_info(solver).objectives[0], 'poly')
    whole = run(make(solver, it.problem, seed=5), 9)
    first = run(make(solver, it.problem, seed=5), 4)
    second = make(solver, it.problem, seed=5)
    second.restore(saved(first))
    assert everything(run(second, 5)) == everything(whole)


@pytest.mark.parametrize('name', DATA)
@pytest.mark.parametrize('kernel', KERNELS)
def test_weights_as_a_dual_point_find_their_tokens_again(name, kernel):
    it, rng = twin(name, 'hinge', kernel), np.random.default_rng(4)
    w = run(make('bcfw', it.problem), 3).w + 0.01 * rng.normal(size=it.problem.dim)
    w = it.problem.features.weights(it.problem.features.blocks(w))  # nothing in the padding
    point = ScoresPoint.of(it.problem, w, 0.3)
    assert point.blocks['support.weights'].dtype == np.float32
    wanted = it.problem.evaluate(w, True, temperature=0.3).dual
    assert point.value(it.problem) == pytest.approx(wanted, rel=1e-5)


def test_solvers_of_weights_are_refused_with_the_alternatives():
    for objective in ('hinge', 'log', 'softmax-margin'):
        able, wanted = with_kernels(objective), Wanted(objective=objective, kernel={'kind': 'rbf'})
        names = ', '.join(able) or 'none'
        for name in MINIMISERS:
            info = solver_info(name)
            if objective in info.objectives and not info.kernels:
                with pytest.raises(UsageError, match=f'{name} needs the weights themselves.*kernels: {names}'):
                    choose(name, wanted)
        for name in able:
            assert choose(name, wanted).name == name
    wanted = Wanted(objective='hinge', kernel={'kind': 'rbf'})
    assert automatic(wanted) == 'bcfw' == choose('auto', wanted).name


@pytest.mark.parametrize('name', ['multiclass', 'chain', 'chain-edges'])
@pytest.mark.parametrize('kernel', KERNELS)
@pytest.mark.parametrize('objective', ['log', 'softmax-margin'])
def test_the_softmax_dual_of_coefficients(name, kernel, objective):
    """P(w) and D of the softmax of its scores, whatever solver the coefficients come from."""
    it = twin(name, objective, kernel)
    rng = np.random.default_rng(6)
    for scale in (0.0, 0.1, 1.0):
        features = it.problem.features
        blocks = features.blocks(np.ones(features.dim))
        tokens = [name for name in blocks if name in ('support.indptr', 'support.indices', 'support.values')]
        random = {name: scale * rng.normal(size=blocks[name].shape) for name in blocks if name not in tokens}
        w = features.weights({**blocks, **random})
        found, explicit = it.problem.evaluate(w, softmax_dual=True), it.from_core(w)
        assert found.primal == pytest.approx(optimum.primal(it.plain, objective, explicit), rel=1e-10)
        alpha = optimum.posteriors(it.plain, objective, explicit)
        assert found.dual == pytest.approx(optimum.dual(it.plain, objective, alpha), rel=1e-9, abs=1e-9 * found.primal)
