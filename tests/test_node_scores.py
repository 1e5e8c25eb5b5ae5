"""Scores of states of nodes, worked by hand."""

import json

import numpy as np
import pytest

from data_formats.datasets.tokens import ReadOptions
from data_formats.formats import graph
from data_formats.parsing import reading
from ssvm_cli.scores.graph import NodeScores


def graphs(tmp_path, *examples, types=None):
    """A GraphDataset of graphs without factors; an example is a list of (type, label or None)."""
    states = types or {'node': ['a', 'b', 'c']}
    lines = [
        {'nodes': [{'type': kind, 'states': states[kind], 'label': label} for kind, label in example]}
        for example in examples
    ]
    path = tmp_path / 'graphs.jsonl'
    path.write_text(''.join(json.dumps(line) + '\n' for line in lines))
    return reading.read(graph, path, ReadOptions(require_labels=False))


def scored(dataset, states):
    scores = NodeScores(dataset.node_types.names(), dataset.states)
    scores.compare(dataset, np.array(states, np.int32))
    return scores


@pytest.fixture
def by_hand(tmp_path):
    examples = [[('node', k) for k in labels] for labels in (['a', 'a', 'b'], ['a', None], [None], ['b'])]
    return scored(graphs(tmp_path, *examples), [0, 1, 1, 0, 2, 2, 2])


def test_by_hand(by_hand):
    """Nodes with a right state: a a b | a | b, found a b b | a | c."""
    got = by_hand.summary()
    assert got['nodes'] == by_hand.count == 5 and got['graphs'] == 3
    assert got['accuracy'] == 3 / 5 and got['graph_accuracy'] == 1 / 3
    assert got['states']['a'] == {
        'precision': 1, 'recall': 2 / 3, 'f1': 4 / 5, 'gold': 3, 'found': 2, 'right': 2, 'iou': 2 / 3,
    }  # fmt: skip
    assert got['states']['b'] == {
        'precision': 1 / 2, 'recall': 1 / 2, 'f1': 1 / 2, 'gold': 2, 'found': 2, 'right': 1, 'iou': 1 / 3,
    }  # fmt: skip
    assert got['states']['c']['iou'] == got['states']['c']['f1'] == 0
    assert got['mean_accuracy'] == pytest.approx((2 / 3 + 1 / 2) / 2), 'c does not occur'
    assert got['mean_iou'] == pytest.approx((2 / 3 + 1 / 3 + 0) / 3), 'c is found'
    assert got['macro_f1'] == pytest.approx((4 / 5 + 1 / 2 + 0) / 3)
    assert by_hand.row() == {'dev_accuracy': 3 / 5} and tuple(by_hand.row()) == by_hand.columns
    json.dumps(got)


def test_the_table(by_hand):
    table = by_hand.table().splitlines()
    assert table[:2] == [
        'accuracy 60.00 % (3 of 5 nodes), whole graphs 33.33 % of 3',
        'mean over states: accuracy 58.33 %, intersection over union 33.33 %',
    ]
    assert [line.split() for line in table[2:]] == [
        ['state', 'precision', 'recall', 'F1', 'gold', 'found', 'right', 'IoU'],
        ['a', '100.00', '66.67', '80.00', '3', '2', '2', '66.67'],
        ['b', '50.00', '50.00', '50.00', '2', '2', '1', '33.33'],
        ['c', '0.00', '0.00', '0.00', '0', '1', '0', '0.00'],
    ]


def test_states_of_several_types(tmp_path):
    types = {'pixel': ['a', 'b'], 'region': ['a', 'x', 'y']}
    dataset = graphs(tmp_path, [('region', 'x'), ('pixel', 'a')], [('pixel', 'b'), ('region', 'a')], types=types)
    scores = scored(dataset, [1, 1, 1, 0])
    got = scores.summary()
    assert list(got['states']) == ['region:a', 'region:x', 'region:y', 'pixel:a', 'pixel:b']
    assert [score['right'] for score in got['states'].values()] == [1, 1, 0, 0, 1]
    assert got['states']['pixel:b'] == {
        'precision': 1 / 2, 'recall': 1, 'f1': 2 / 3, 'gold': 1, 'found': 2, 'right': 1, 'iou': 1 / 2,
    }  # fmt: skip
    assert (got['accuracy'], got['graph_accuracy'], got['mean_accuracy']) == (3 / 4, 1 / 2, 3 / 4)
    assert got['mean_iou'] == pytest.approx((1 + 1 + 0 + 1 / 2) / 4), 'region:y neither occurs nor is found'
    scores.compare(dataset, np.array([1, 0, 1, 0], np.int32))
    assert scores.summary()['graphs'] == 4 and scores.accuracy() == 7 / 8


def test_nothing_to_compare_with(tmp_path):
    scores = scored(graphs(tmp_path, [('node', None)]), [1])
    assert scores.count == 0 and scores.summary()['mean_iou'] == 0 and scores.summary()['graphs'] == 0
