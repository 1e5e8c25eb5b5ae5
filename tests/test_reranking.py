"""NDCG and average precision against their definitions, and what is counted of groups."""

import itertools
import math

import numpy as np
import pytest

from ssvm_cli.scores.candidates import DEPTHS, RerankingScores, average_precision, ndcg
from tests.candidates import dataset_of


def plain_dcg(grades, k):
    return sum((2 ** max(grade, 0) - 1) / math.log2(rank + 1) for rank, grade in enumerate(grades[:k], 1))


def test_ndcg_is_what_its_definition_says():
    for grades in itertools.permutations([3, 2, 0, 1, -1, 2]):
        wanted = [plain_dcg(grades, k) / plain_dcg(sorted(grades)[::-1], k) for k in DEPTHS]
        assert ndcg(np.array(grades, float)).tolist() == pytest.approx(wanted, rel=1e-12)


def test_no_grade_is_too_large():
    assert ndcg(np.array([5000.0, 4000.0])).tolist() == [1, 1, 1]
    assert ndcg(np.array([4000.0, 5000.0])).tolist() == pytest.approx([0, 1 / math.log2(3), 1 / math.log2(3)])


def test_average_precision_is_what_its_definition_says():
    assert average_precision(np.array([True, False, True])) == pytest.approx((1 + 2 / 3) / 2)
    assert average_precision(np.array([False, False, True, True])) == pytest.approx((1 / 3 + 2 / 4) / 2)


def test_parts_of_a_file_add_up():
    groups = [
        [(2.0, {}), (0.0, {}), (1.0, {})],
        [(1.0, {}), (1.0, {})],
        [(0.0, {}), (4.0, {})],
        [(0.0, {}), (-1.0, {})],
    ]
    chosen, scores = [0, 1, 0, 1], [0.5, 0.1, 0.9, 0.2, 0.3, 2.0, 1.0, 0.0, 0.0]
    whole, parts = RerankingScores(True), RerankingScores(True)
    whole.compare(dataset_of(groups, graded=True), (np.array(chosen), np.array(scores)))
    at = 0
    for group, choice in zip(groups, chosen, strict=True):
        mine = np.array(scores[at : at + len(group)])
        parts.compare(dataset_of([group], graded=True), (np.array([choice]), mine))
        at += len(group)
    assert whole.summary() == pytest.approx(parts.summary())
    assert whole.summary()['groups'] == 4 and whole.summary()['tied'] == 1 and whole.summary()['ranked'] == 3
    assert whole.summary()['accuracy'] == 0.5 and whole.summary()['loss'] == (0 + 0 + 4 + 1) / 4
