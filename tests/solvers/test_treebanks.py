"""Every solver on dependency trees, to the independent optimum of the problem written out in full."""

import itertools

import numpy as np
import pytest

from cython_ext.features.calls import adjoint
from cython_ext.objectives.registry import Variant
from cython_ext.solvers.registry import solver_info
from tests import optimum, variants
from tests.solvers.runs import bounds, everything, go, make, run, saved
from tests.solvers.test_optimum import DENSE, MINIMISERS, REACH, check_both_sides, close_in
from tests.solvers.treebanks import tree_twin, treebank_problem

# Each solver on trees of both kinds; those that ask for other oracles with other losses also there.
NAMES = ('projective-relations', 'spanning')
CASES = [
    (solver, objective, name, 'hamming')
    for solver in MINIMISERS
    for objective, name in itertools.product(solver_info(solver).objectives, NAMES)
]
CASES += [(solver, 'hinge', 'projective', 'zero-one') for solver in ('bcfw', 'n-slack', 'svrg')]
CASES += [
    (solver, objective, 'spanning-relations', 'hamming') for solver, objective in (('bcfw', 'hinge'), ('eg', 'log'))
]
CASES += [(solver, 'hinge', 'projective-multi', 'hamming') for solver in ('bcfw', 'eg')]
LAM_TIMES_N = 30.0  # arcs have some 30 features, where the labels of other tests have one or two


@pytest.mark.parametrize('case', CASES, ids='-'.join)
def test_bounds_close_in_on_the_optimum(case):
    solver, objective, name, loss = case
    tolerance, limit = REACH[solver]
    it = tree_twin(name, objective, loss, LAM_TIMES_N)
    method = make(solver, it.problem, seed=3)
    close_in(it, method, tolerance, limit)
    check_both_sides(it, method, solver in DENSE)


@pytest.mark.parametrize('variant', [Variant('slack'), Variant(slack_norm=2), Variant(hard_margin=True)], ids=str)
def test_variants_of_the_hinge_with_zero_one_loss(variant):
    lam = 1.0 if variant.hard_margin else 0.5
    truth = tree_twin('projective', 'hinge', 'zero-one', LAM_TIMES_N).truth
    problem = treebank_problem('projective', 'hinge', 'zero-one', lam, variant=variant)
    method = make('n-slack' if variant.hard_margin else 'bcfw', problem)
    best, dual, ended = variants.solve(truth, variant, lam), -np.inf, False
    while not ended:
        assert method.run_pass(go())
        primal, dual = bounds(method)
        assert dual <= best * (1 + 1e-9) and primal >= best * (1 - 1e-9)
        ended = primal - dual <= 1e-4 * best or method.passes == 300 or method.finished
    assert dual == pytest.approx(best, rel=2e-4)
    if not variant.hard_margin:
        assert primal == pytest.approx(best, rel=2e-4)


@pytest.mark.parametrize('variant', [Variant('slack'), Variant(slack_norm=2)], ids=str)
def test_variants_with_attachment_loss_are_refused(variant):
    with pytest.raises(ValueError, match=r'slack rescaling and squared slacks take.*such as zero-one'):
        treebank_problem('projective', variant=variant)


@pytest.mark.parametrize('objective', ['hinge', 'log'])
def test_hashed_features_have_an_optimum_too(objective):
    """Joint features as the map adds them up; collisions make them another problem than that of the dictionary."""
    it = tree_twin('projective-relations', objective, 'hamming', LAM_TIMES_N)
    problem = treebank_problem('projective-relations', objective, 'hamming', it.plain.lam, hash_bits=8)
    psi = []
    for i, example in enumerate(it.truth.examples):
        phi = []
        for code in example.codes:
            phi.append(adjoint(problem.features, i, problem.structure.statistics(i, np.array(code, np.int32))))
        psi.append(phi[example.gold] - np.array(phi))
    best = optimum.solve(optimum.Problem(psi, it.plain.delta, it.plain.lam), objective)
    method = run(make('bcfw' if objective == 'hinge' else 'eg', problem), 100)
    primal, dual = bounds(method)
    assert dual <= best.primal * (1 + 1e-12) and primal >= best.primal * (1 - 1e-12)
    assert primal - dual <= 1e-3 * primal


@pytest.mark.parametrize(('solver', 'objective'), [('bcfw', 'hinge'), ('eg', 'log'), ('sc-svrg', 'hinge')])
def test_a_resumed_run_equals_an_uninterrupted_one(solver, objective):
    problem = treebank_problem('projective-multi', objective, lam=0.3)
    first = run(make(solver, problem, seed=2), 3)
    second = make(solver, problem, seed=2)
    second.restore(saved(first))
    assert everything(run(first, 3)) == everything(run(second, 3))


def test_the_perceptron_tells_the_truth():
    it = tree_twin('projective-multi', 'hinge', 'hamming', LAM_TIMES_N)
    method = make('perceptron', it.problem)
    for _ in range(5):
        assert method.run_pass(go())
        primal, dual = bounds(method)
        assert dual <= it.best.primal + it.rounding(method.passes) and primal >= it.best.dual - it.rounding()
        check_both_sides(it, method)


def test_counts_is_refused():
    with pytest.raises(ValueError, match='counts is for labels, sequences of labels and trees of a grammar'):
        make('counts', treebank_problem('projective'))


@pytest.mark.parametrize('name', ['projective-relations', 'spanning-relations'])
def test_predictions_are_those_of_the_list(name):
    """The best tree, the three best ones, log-partition functions and marginals, under random weights."""
    it = tree_twin(name)
    w = np.random.default_rng(8).normal(size=len(it.truth.keys)) / 4
    vector = it.to_core(w)
    codes, scores = it.decoder.predict(vector)
    best, partitions, means = it.decoder.nbest(vector, 3), it.decoder.log_partitions(vector), it.decoder.means(vector)
    for i, example in enumerate(it.truth.examples):
        totals = example.features @ w
        order = np.argsort(-totals)[:3]
        begin, end = it.decoder.code_indptr[i : i + 2]
        assert tuple(codes[begin:end].tolist()) == example.codes[order[0]]
        assert [tuple(code) for code in best[i][0].tolist()] == [example.codes[k] for k in order]
        np.testing.assert_allclose(best[i][1], totals[order], rtol=0, atol=1e-10)
        assert scores[i] == best[i][1][0]
        assert partitions[i] == pytest.approx(optimum.log_sum_exp(totals), abs=1e-10)
        np.testing.assert_allclose(means[i][it.columns(i)], optimum.softmax(totals) @ example.parts, atol=1e-10)
