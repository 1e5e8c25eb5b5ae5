"""Candidates: which one is right, what they cost, the strata of the losses; the contract suite does the oracles."""

import numpy as np
import pytest

from cython_ext.features.calls import scores_of
from cython_ext.features.capabilities import Radius
from cython_ext.losses.candidates import GivenCosts, WrongCandidates
from cython_ext.objectives.registry import Variant
from cython_ext.structures.candidates import Candidates
from cython_ext.tasks.build import build_problem
from tests.candidates import CandidateEnumeration, dataset_of, random_examples
from tests.variants import terms

COUNTS = (3, 1, 6, 2, 9)


def test_the_right_candidate_is_the_first_with_the_smallest_loss():
    losses = [[2.0, 1.0, 1.0, 3.0], [0.0], [5.0, 4.5]]
    data = dataset_of([[(loss, {0: 1.0}) for loss in example] for example in losses])
    structure = Candidates(data.offsets, data.costs)
    assert [structure.gold_code(i).tolist() for i in range(3)] == [[1], [0], [1]]
    assert data.costs.tolist() == [1, 0, 0, 2, 0, 0.5, 0]
    assert data.decided.tolist() == [True, False, True] and data.without_zero() == 2


def test_grades_are_losses_from_the_best_one():
    data = dataset_of([[(grade, {0: 1.0}) for grade in (0.0, 3.0, 1.0)]], graded=True)
    assert data.costs.tolist() == [3, 0, 2] and data.without_zero() == 0
    assert Candidates(data.offsets, data.costs).gold_code(0).tolist() == [1]


@pytest.mark.parametrize(('name', 'make'), [('given', GivenCosts), ('zero-one', WrongCandidates)])
def test_expected_losses(name, make):
    examples, rng = random_examples(COUNTS, seed=1), np.random.default_rng(2)
    data = dataset_of(examples)
    structure = Candidates(data.offsets, data.costs)
    loss = make(structure)
    for i, truth in enumerate(CandidateEnumeration(examples, name).examples):
        mean = np.zeros(structure.size(i))
        mean[: len(truth.codes)] = rng.dirichlet(np.ones(len(truth.codes)))
        assert loss.expected_of(i, mean) == pytest.approx(mean[: len(truth.codes)] @ truth.losses, rel=1e-14)


@pytest.mark.parametrize(
    'variant', [Variant('slack', 1), Variant('margin', 2), Variant('slack', 2)], ids=lambda v: '+'.join(v.names)
)
@pytest.mark.parametrize('loss', ['given', 'zero-one'])
@pytest.mark.parametrize('size', [0.0, 1.0, 100.0])
def test_the_loss_of_every_example_in_variants_of_the_hinge(variant, loss, size):
    examples = random_examples(COUNTS, seed=3)
    problem = build_problem(dataset_of(examples), 'candidates', 'hinge', loss, 0.3, variant=variant)
    truth = CandidateEnumeration(examples, loss)
    w, wanted = size * np.random.default_rng(1).normal(size=truth.dim), []
    for example in truth.examples:
        b, c = terms(example.losses, variant)
        margin = (b - c * (example.differences @ w)).max()
        wanted.append(margin if variant.slack_norm == 1 else margin**2 / 2)
    np.testing.assert_allclose(problem.evaluate(w).loss_values, wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ('costs', 'message'),
    [
        ([0, 1, 0], 'one for each candidate'),
        ([0, -1, 0, 1], 'not negative'),
        ([0, np.inf, 0, 1], 'finite'),
        ([0, 1, 1, 1], 'zero for the right candidate'),
    ],
)
def test_costs_that_are_none_are_refused(costs, message):
    structure = Candidates(np.array([0, 2, 4]), np.array([0, 1, 0, 2.0]))
    with pytest.raises(ValueError, match=message):
        GivenCosts(structure, np.array(costs, float))


def test_the_spread_is_the_largest_distance_from_the_right_candidate():
    examples = random_examples(COUNTS, seed=5)
    problem = build_problem(dataset_of(examples), 'candidates')
    for i, example in enumerate(CandidateEnumeration(examples).examples):
        ids = np.array([example.gold], np.int32)
        found = problem.features.helper(Radius).radius2(i, ids, np.ones(1), 1.0)
        assert found == pytest.approx((example.differences**2).sum(axis=1).max(), rel=1e-13, abs=1e-13)


def test_all_scores_are_those_of_the_examples():
    examples = random_examples(COUNTS, seed=6)
    features = build_problem(dataset_of(examples), 'candidates').features
    w = np.random.default_rng(0).normal(size=features.dim)
    one_by_one = [scores_of(features, i, w)[:count] for i, count in enumerate(COUNTS)]
    assert features.row_scores(w).tolist() == np.concatenate(one_by_one).tolist()


@pytest.mark.parametrize(
    ('how', 'message'),
    [
        ({'feature_set': 'observed'}, 'use --feature-set all'),
        ({'loss': 'hamming'}, 'candidates has no task loss hamming'),
        ({'loss': np.zeros((2, 2))}, 'takes no cost matrix'),
        ({'similarity': np.eye(2)}, 'linear kernel'),
    ],
)
def test_what_does_not_fit_is_refused(how, message):
    with pytest.raises(ValueError, match=message):
        build_problem(dataset_of(random_examples((2, 2))), 'candidates', **how)
