"""The pairs of labels with the most mutual information, against plain counting and all trees."""

import numpy as np
import pytest

from cython_ext.structures.graph import label_pairs
from tests import label_sets


def found(data):
    pairs = label_pairs.chow_liu(data.label_indptr, data.label_ids, len(data.label_names))
    assert pairs.dtype == np.int32
    return [tuple(pair) for pair in pairs.tolist()]


@pytest.mark.parametrize('labels', [2, 3, 5, 9, 30])
def test_the_tree_is_that_of_kruskal(labels):
    for seed in range(4):
        data = label_sets.random_sets(25, labels, 3, seed)
        assert found(data) == label_sets.kruskal(label_sets.table(data))


def test_no_tree_has_more_information():
    data = label_sets.random_sets(20, 5, 3, seed=7)
    right = label_sets.table(data)
    values = [sum(label_sets.information(right, *pair) for pair in tree) for tree in label_sets.trees(5)]
    assert len(values) == 5**3
    assert sum(label_sets.information(right, *pair) for pair in found(data)) == pytest.approx(max(values), abs=1e-12)


def test_information_is_that_of_the_counts():
    data = label_sets.random_sets(31, 6, 3, seed=1)
    values = label_pairs.mutual_information(data.label_indptr, data.label_ids, 6)
    right = label_sets.table(data)
    for j in range(6):
        for k in range(6):
            if j != k:
                assert values[j, k] == pytest.approx(label_sets.information(right, j, k), abs=1e-13)


def test_ties_are_broken_by_the_order_of_labels():
    """Labels that are all alike, all but one that says the opposite, and labels that never meet."""
    columns = np.array([[1, 1, 0, 1], [0, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]])
    right = np.column_stack([columns, columns])
    indptr, ids = label_sets.csr(right)
    pairs = label_pairs.chow_liu(indptr, ids, 8).tolist()
    assert pairs == [[0, k] for k in range(1, 8)] == [list(pair) for pair in label_sets.kruskal(right)]
    right = np.eye(6, dtype=int)
    assert label_pairs.chow_liu(*label_sets.csr(right), 6).tolist() == [[0, k] for k in range(1, 6)]


def test_sets_are_counted_in_parts(monkeypatch):
    data = label_sets.random_sets(23, 4, 3, seed=3)
    right = label_sets.table(data)
    for rows in (1, 4 * 7, 1 << 24):
        monkeypatch.setattr(label_pairs, 'NUMBERS_AT_ONCE', rows)
        np.testing.assert_array_equal(
            label_pairs.counts_together(data.label_indptr, data.label_ids, 4), right.T @ right
        )


def test_few_labels():
    assert label_pairs.all_pairs(3).tolist() == [[0, 1], [0, 2], [1, 2]]
    for labels in (0, 1):
        assert label_pairs.all_pairs(labels).shape == (0, 2)
        assert label_pairs.chow_liu(np.zeros(3, np.int64), np.zeros(0, np.int32), labels).shape == (0, 2)
