"""Matchings: every solver to the optimum over all of them, the variants of the hinge, and what cannot be done."""

import functools

import numpy as np
import pytest

from cython_ext.features.calls import adjoint, gram_of, scores_of
from cython_ext.objectives.registry import Variant
from cython_ext.solvers.registry import solver_info
from cython_ext.tasks.build import build_problem
from cython_ext.tasks.fit import Wanted, check_fit
from tests import matchings, optimum, variants
from tests.oracles.test_contract import FINITE
from tests.solvers.problems import Twin
from tests.solvers.runs import bounds, make, run
from tests.solvers.test_optimum import MINIMISERS, REACH, check_both_sides, close_in

LAM = 0.3
SUMS = ('eg', 'eg-batch', 'excessive-gap', 'extragradient')  # solvers that need sums over all outputs for the hinge
SOLVERS = [name for name in MINIMISERS if 'hinge' in solver_info(name).objectives and name not in SUMS]
WAYS = [(name, {}) for name in SOLVERS] + [
    ('svrg', {'oracle': 'topk', 'K': 50}),
    ('svrg', {'oracle': 'max'}),
    ('sc-svrg', {'oracle': 'topk'}),
    ('sc-svrg', {'oracle': 'max'}),
    ('bcfw', {'acceleration': False}),
    ('one-slack', {'rounds': 0}),
]
CASES = [(*way, loss) for way in WAYS for loss in ('hamming', 'zero-one')]


@functools.cache
def examples():
    """Two with all links, two with some, one link alone; up to five rows and columns."""
    rng = np.random.default_rng(11)
    sizes = [(3, 3, 1.0), (2, 4, 1.0), (5, 5, 0.3), (4, 3, 0.5), (1, 1, 1.0)]
    return [matchings.random_example(rng, *size) for size in sizes]


class MatchingTwin(Twin):
    """w[k] belongs to truth.keys[k]: the attributes in their order."""

    def to_core(self, w):
        return self.problem.features.weights({'feature': w})

    def from_core(self, vector):
        return self.problem.features.blocks(vector)['feature']


@functools.cache
def twin(loss='hamming', variant=None):
    problem = build_problem(matchings.dataset_of(examples()), 'matching', 'hinge', loss, LAM, variant=variant)
    truth = matchings.MatchingEnumeration(examples(), loss)
    return MatchingTwin(problem, None, truth, optimum.Problem.of(truth, LAM), 'hinge')


@pytest.mark.parametrize(
    'case', CASES, ids=lambda case: '-'.join([case[0], *(f'{k}={v}' for k, v in case[1].items()), case[2]])
)
def test_bounds_close_in_on_the_optimum(case):
    solver, options, loss = case
    it = twin(loss)
    method = make(solver, it.problem, seed=3, **options)
    close_in(it, method, *REACH[solver])
    check_both_sides(it, method)


@pytest.mark.parametrize('loss', ['hamming', 'zero-one'])
def test_the_perceptron_reports_what_is_true(loss):
    it = twin(loss)
    method = run(make('perceptron', it.problem, seed=3), 5)
    primal, dual = bounds(method)
    assert dual <= it.best.primal <= primal
    check_both_sides(it, method)


VARIANTS = [Variant('slack', 1), Variant('margin', 2), Variant('slack', 2)]


@pytest.mark.parametrize('variant', VARIANTS, ids=lambda v: '+'.join(v.names))
@pytest.mark.parametrize('solver', ['n-slack', 'bcfw'])
def test_variants_of_the_hinge(solver, variant):
    it = twin('zero-one', variant)
    method, best = make(solver, it.problem, seed=3), variants.solve(it.truth, variant, LAM)
    primal, dual = bounds(method)
    while primal - dual > 1e-6 * primal and method.passes < 300:
        primal, dual = bounds(run(method, 1))
        assert dual <= best * (1 + 1e-9)
    assert best * (1 - 1e-9) <= primal <= best * (1 + 1e-6) + 1e-12


def test_slack_rescaling_has_no_oracle_for_wrong_links():
    with pytest.raises(ValueError, match='slack rescaling and squared slacks take the best output'):
        build_problem(matchings.dataset_of(examples()), 'matching', variant=Variant('slack', 1))


def test_a_hard_margin():
    """Two rows whose right links have an attribute of their own."""
    links = [(r, c, '1' if r == c else '0', {'same' if r == c else 'other': 1.0}) for r in range(2) for c in range(2)]
    problem = build_problem(matchings.dataset_of([links]), 'matching', variant=Variant(hard_margin=True))
    truth = matchings.MatchingEnumeration([links], 'zero-one')
    method = run(make('n-slack', problem), 100)
    assert bounds(method)[1] == pytest.approx(variants.solve(truth, Variant(hard_margin=True), 1.0), rel=1e-6)


@pytest.mark.parametrize('objective', ['log', 'softmax-margin'])
def test_logarithms_of_sums_are_refused(objective):
    with pytest.raises(ValueError, match=rf'{objective} needs the exp oracle .*, which matching lacks: use hinge'):
        build_problem(matchings.dataset_of(examples()), 'matching', objective)


@pytest.mark.parametrize('solver', SUMS)
def test_solvers_that_need_sums_are_refused_with_the_others(solver):
    expected = f'{solver} needs the exp oracle, which matching lacks .solvers for hinge that do without: '
    with pytest.raises(ValueError, match=expected + ', '.join(sorted(SOLVERS, key=MINIMISERS.index))):
        check_fit(solver_info(solver), Wanted.of(twin().problem))
    for other in (*SOLVERS, 'perceptron'):
        check_fit(solver_info(other), Wanted.of(twin().problem))


def test_svrg_with_sums_is_refused():
    with pytest.raises(ValueError, match=r'oracle=exp needs sums over outputs.*use oracle=topk or max'):
        make('svrg', twin().problem, oracle='exp')


@pytest.mark.parametrize('kind', FINITE)
def test_the_feature_map(kind):
    it, rng = twin(), np.random.default_rng(1)
    features, structure = it.problem.features, it.problem.structure
    w = it.to_core(kind(rng, it.truth.dim))
    for i, example in enumerate(it.truth.examples):
        scores = scores_of(features, i, w)
        for row in range(0, len(example.codes), 7):
            s = structure.statistics(i, np.array(example.codes[row], np.int32))
            assert scores @ s == pytest.approx(example.features[row] @ it.from_core(w), abs=1e-10)
            np.testing.assert_allclose(adjoint(features, i, s), example.features[row], atol=1e-12)
            np.testing.assert_allclose(
                gram_of(features, i, s), scores_of(features, i, adjoint(features, i, s)), atol=1e-12
            )
