"""Predictions by dual decomposition beside all labelings of small graphs."""

import functools

import numpy as np
import pytest

from cython_ext.relaxations.dual_decomposition import DualDecomposition
from cython_ext.structures.graph.factor_graphs import FactorGraphs
from tests import graphs

NAMES = tuple(graphs.GRAPHS)
TREES = ('node', 'apart', 'tree')


@functools.cache
def made():
    layout = graphs.layout(NAMES, seed=3)
    return DualDecomposition(FactorGraphs(layout)), graphs.GraphEnumeration(layout)


def random_graphs(name, count=100):
    """(scores of all labelings, the value and the labeling that were found, the bound) for random scores of parts."""
    structure, truth = made()
    i, rng = NAMES.index(name), np.random.default_rng(0)
    for _ in range(count):
        theta = rng.normal(size=truth.examples[i].parts.shape[1])
        value, code = structure.max_oracle(i, theta)
        yield (
            truth.examples[i].parts @ theta,
            value,
            truth.examples[i].codes.index(tuple(code.tolist())),
            structure.bounds[i],
        )


@pytest.mark.parametrize('name', NAMES)
def test_bound_best_score_and_score_found_are_in_order(name):
    proved = 0
    for scores, value, row, bound in random_graphs(name):
        assert value == pytest.approx(scores[row], rel=1e-12)
        assert value <= scores.max() + 1e-9 <= bound + 2e-9
        if value >= bound - 1e-9:
            proved += 1
            assert row == scores.argmax()
    assert proved > 50


@pytest.mark.parametrize('name', TREES)
def test_labelings_of_trees_are_the_best_ones(name):
    for scores, value, row, bound in random_graphs(name):
        assert row == scores.argmax()
        assert bound == pytest.approx(value, rel=1e-9)


def test_what_is_proved_is_counted():
    structure, truth = made()
    assert DualDecomposition(structure.graphs).proved() == 0
    rng, found = np.random.default_rng(1), []
    for i, example in enumerate(truth.examples):
        value, _ = structure.max_oracle(i, rng.normal(size=example.parts.shape[1]))
        found.append(value >= structure.bounds[i] - 1e-10 * abs(structure.bounds[i]))
        assert structure.scores[i] == value
    assert structure.proved() == sum(found)


def test_equal_scores_are_proved_too():
    structure, truth = made()
    for i, example in enumerate(truth.examples):
        value, code = structure.max_oracle(i, np.zeros(example.parts.shape[1]))
        assert value == structure.bounds[i] == 0 and not code.any()
