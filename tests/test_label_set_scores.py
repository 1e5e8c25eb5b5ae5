"""Scores of sets of labels, worked by hand and against plain sets."""

import json

import numpy as np
import pytest

from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.multilabel import LabelSetDataset
from data_formats.datasets.tokens import indptr_of
from ssvm_cli.scores.multilabel import LabelSetScores


def dataset_of(sets, names, unknown=()):
    """A LabelSetDataset without inputs of some sets of ids."""
    indptr, ids = indptr_of([len(labels) for labels in sets]), np.array([k for s in sets for k in sorted(s)], np.int32)
    nothing = np.zeros(len(sets) + 1, np.int64), np.zeros(0, np.int32), None
    return LabelSetDataset(*nothing, indptr, ids, Vocabulary(), Vocabulary(names), dict(unknown))


def scored(gold, found, names='abc', unknown=()):
    scores = LabelSetScores(names)
    scores.compare(dataset_of(gold, list(names), unknown), [np.array(sorted(s), np.int32) for s in found])
    return scores


def test_by_hand():
    """a: 2 right of 2, b: 0 of 1 with 1 found, c: 1 of 2."""
    scores = scored([{0}, {0, 1, 2}, {2}, set()], [{0}, {0, 2}, {1}, set()])
    got = scores.summary()
    assert got['examples'] == scores.count == 4
    assert (got['hamming'], got['hamming_loss']) == (3 / 4, 3 / 12)
    assert got['subset_accuracy'] == 2 / 4
    assert got['micro'] == {'precision': 3 / 4, 'recall': 3 / 5, 'f1': 6 / 9, 'gold': 5, 'found': 4, 'right': 3}
    assert got['micro_f1'] == 6 / 9
    assert got['macro_f1'] == pytest.approx((1 + 0 + 2 / 3) / 3)
    assert got['example_f1'] == pytest.approx((1 + 4 / 5 + 0 + 1) / 4)
    assert got['labels']['c'] == {'precision': 1, 'recall': 1 / 2, 'f1': 2 / 3, 'gold': 2, 'found': 1, 'right': 1}
    assert scores.row() == {'dev_accuracy': 2 / 4, 'dev_f1': 6 / 9}
    assert tuple(scores.row()) == scores.columns
    json.dumps(got)


def test_the_table():
    table = scored([{0}, {0, 1, 2}, {2}, set()], [{0}, {0, 2}, {1}, set()]).table().splitlines()
    assert table[:2] == [
        'subset accuracy 50.00 % (2 of 4 examples), wrong labels 25.00 %, 0.75 an example',
        'F1 micro 66.67 %, macro 55.56 %, mean of the examples 70.00 %',
    ]
    assert [line.split() for line in table[2:]] == [
        ['label', 'precision', 'recall', 'F1', 'gold', 'found', 'right'],
        ['a', '100.00', '100.00', '100.00', '2', '2', '2'],
        ['b', '0.00', '0.00', '0.00', '1', '1', '0'],
        ['c', '100.00', '50.00', '66.67', '2', '1', '1'],
        ['all', 'labels', '75.00', '60.00', '66.67', '5', '4', '3'],
    ]


def test_labels_that_the_model_does_not_know_are_never_found():
    scores = scored([{0}, {1}], [{0}, {1}], 'ab', {1: ['x', 'y']})
    scores.compare(dataset_of([set(), set()], ['a', 'b'], {0: ['y']}), [[], [0]])
    got = scores.summary()
    assert (got['hamming'], got['hamming_loss'], got['subset_accuracy']) == (4 / 4, 4 / 16, 1 / 4)
    assert got['labels']['y'] == {'precision': 0, 'recall': 0, 'f1': 0, 'gold': 2, 'found': 0, 'right': 0}
    assert got['micro_f1'] == 4 / 8 and got['macro_f1'] == pytest.approx((2 / 3 + 1) / 4)


def test_nothing_to_compare_with():
    scores = scored([set(), set()], [{0}, set()])
    assert scores.count == 0 and scores.summary()['macro_f1'] == 0
    empty = LabelSetScores([])
    assert empty.summary()['micro_f1'] == empty.summary()['hamming_loss'] == 0


def test_against_plain_sets(rng):
    for _ in range(20):
        size = int(rng.integers(1, 6))
        names = 'abcdef'[:size]
        draw = lambda n, size=size: [set(np.flatnonzero(rng.random(size) < 0.4).tolist()) for _ in range(n)]  # noqa: E731
        scores, pairs = LabelSetScores(names), []
        for n in rng.integers(0, 5, size=3).tolist():
            gold, found = draw(n), draw(n)
            scores.compare(dataset_of(gold, list(names)), [np.array(sorted(s), np.int32) for s in found])
            pairs += zip(gold, found, strict=True)

        def f1(pairs):
            total = sum(len(a) + len(b) for a, b in pairs)
            return 2 * sum(len(a & b) for a, b in pairs) / total if total else 0.0

        got, n = scores.summary(), max(1, len(pairs))
        assert got['hamming'] == pytest.approx(sum(len(a ^ b) for a, b in pairs) / n)
        assert got['hamming_loss'] == pytest.approx(got['hamming'] / size)
        assert got['subset_accuracy'] == pytest.approx(sum(a == b for a, b in pairs) / n)
        assert got['micro_f1'] == pytest.approx(f1(pairs))
        assert got['macro_f1'] == pytest.approx(
            np.mean([f1([(a & {k}, b & {k}) for a, b in pairs]) for k in range(size)])
        )
        assert got['example_f1'] == pytest.approx(sum(f1([(a, b)]) if a | b else 1 for a, b in pairs) / n)
