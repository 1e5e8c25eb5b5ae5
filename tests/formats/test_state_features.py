"""Features of graphs with a value for each state: what is read, and what is written comes back."""

import itertools
import json
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.strategies import texts, values
from tests.formats.tools import graphs, read, state_features, stream, written

STATES = {'node': ('a', 'b', 'c'), 'p': ('a', 'b', 'c'), 'q': ('x', 'y')}
DATA = (
    '{"states": ["a", "b"], "nodes": [{"per_state": {"x": [0.5, -3]}, "label": "a"}, {"label": "b"}],'
    ' "factors": [{"nodes": [0, 1], "per_state": {"same": 2, "x": [[0, 1], [4, 0]]}, "features": {"y": 1}},'
    ' {"oracle": "cardinality", "nodes": [1, 0], "buckets": [2], "per_state": {"many": [0, 1]}}]}\n'
    '{"nodes": [{"label": "a", "per_state": {"x": [0, 0]}}, {"label": "b", "features": {}}, {"label": "b"}], "factors":'
    ' [{"oracle": "chain", "nodes": [2, 0, 1], "per_state": [{"same": 1}, {"x": [[0, 0], [0, 7]]}]},'
    ' {"oracle": "tree", "edges": [[0, 1], [0, 2]], "per_state": {"same": 3}, "features": {"y": 2}}]}\n'
)


def tables(draw, sizes, same):
    """The tables of a node or factor: nested lists, and what they are as {(name, joint state): value}."""
    given, found = {}, {}
    for name in draw(st.lists(texts, max_size=3, unique=True)):
        table = np.array(draw(st.lists(values, min_size=int(np.prod(sizes)), max_size=int(np.prod(sizes)))))
        given[name] = table.reshape(sizes).tolist()
        if same and draw(st.booleans()):
            given[name] = draw(values)
            table = given[name] * np.array([len(set(joint)) == 1 for joint in itertools.product(*map(range, sizes))])
        found |= {(name, k): float(x) for k, x in enumerate(table.tolist()) if x}
    return given, found


@st.composite
def data(draw):
    """(text, state features of its graphs as the tools give them)."""
    lines, expected = [], []
    for _ in range(draw(st.integers(1, 3))):
        types = draw(st.lists(st.sampled_from(sorted(STATES)), min_size=1, max_size=4))
        made = [tables(draw, [len(STATES[kind])], False) for kind in types]
        nodes = [
            {'type': kind, 'states': STATES[kind], 'label': STATES[kind][0], 'per_state': given}
            for kind, (given, _) in zip(types, made, strict=True)
        ]
        factors, of_factors = [], []
        several = st.lists(st.integers(0, len(types) - 1), min_size=2, max_size=3, unique=True)
        for scope in draw(st.lists(several, max_size=3)) if len(types) > 1 else []:
            names = [STATES[types[v]] for v in scope]
            given, found = tables(draw, [len(each) for each in names], len(set(names)) == 1)
            factors.append({'nodes': scope, 'type': ' '.join(types[v] for v in scope), 'per_state': given})
            of_factors.append(found)
        lines.append(json.dumps({'nodes': nodes, 'factors': factors}) + '\n')
        expected.append([[found for _, found in made], of_factors])
    return ''.join(lines), expected


@given(data())
def test_round_trip(folder, made):
    text, expected = made
    dataset = read(folder, 'graph', text)
    assert state_features(dataset) == expected
    assert all(not row for nodes, factors in graphs(dataset) for *_, row in [node[:3] for node in nodes] + factors)
    again = read(folder, 'graph', written('graph', dataset))
    assert state_features(again) == expected and graphs(again) == graphs(dataset)
    assert written('graph', again) == written('graph', dataset)


@given(data(), st.integers(1, 200))
@settings(max_examples=50)
def test_a_stream_gives_what_reading_gives(folder, made, block):
    known = read(folder, 'graph', made[0])
    blocks = stream(folder, 'graph', made[0], known, block)
    assert list(chain.from_iterable(state_features(each.dataset) for each in blocks)) == made[1]


def test_what_is_read(tmp_path):
    dataset = read(tmp_path, 'graph', DATA)
    same, x = {('same', 0): 2.0, ('same', 3): 2.0}, {('x', 1): 1.0, ('x', 2): 4.0}
    pairs = [{('same', 0): 1.0, ('same', 3): 1.0}, {('x', 3): 7.0}]
    more = {('same', 0): 3.0, ('same', 3): 3.0}
    assert state_features(dataset) == [
        [[{('x', 0): 0.5, ('x', 1): -3.0}, {}], [same | x, {('many', 1): 1.0}]],
        [[{}, {}, {}], [*pairs, more, more]],
    ]
    rows = [[node[2] for node in nodes] + [factor[2] for factor in several] for nodes, several in graphs(dataset)]
    assert rows == [[{}, {'bias': 1}, {'y': 1}, {}], [{}, {}, {'bias': 1}, {}, {}, {'y': 2}, {'y': 2}]]
    assert dataset.largest_value == 7 and dataset.nnz == 5 + 2 + 4 + 1 + 2 + 1 + 2 + 2
    again = read(tmp_path, 'graph', written('graph', dataset))
    assert state_features(again) == state_features(dataset) and graphs(again) == graphs(dataset)


def test_values_by_the_names_of_states(tmp_path):
    text = (
        '{"states": ["a", "b"], "nodes": [{"per_state": {"x": {"b": 2}, "y": {}}, "label": "a"}, {"label": "b"}],'
        ' "factors": [{"nodes": [0, 1], "per_state": {"z": [{"b": 5}, [1, 0]]}},'
        ' {"oracle": "cardinality", "nodes": [0, 1], "buckets": [2], "per_state": {"z": {"2": 3}}}]}\n'
    )
    found = state_features(read(tmp_path, 'graph', text))
    assert found == [[[{('x', 1): 2.0}, {}], [{('z', 1): 5.0, ('z', 2): 1.0}, {('z', 1): 3.0}]]]


def test_subsets_and_concatenation(tmp_path, rng):
    dataset = read(tmp_path, 'graph', DATA)
    everything = state_features(dataset)
    for chosen in ([], [1], [0], [1, 0, 1]):
        assert state_features(dataset.subset(chosen)) == [everything[i] for i in chosen]
    parts = [dataset.subset([i]) for i in (1, 0)]
    assert state_features(type(dataset).concatenate(parts)) == everything[::-1]
    assert not any(chain.from_iterable(chain.from_iterable(state_features(dataset.without_inputs()))))


def test_rare_attributes_are_counted_once_a_row(tmp_path):
    dataset = read(tmp_path, 'graph', DATA, min_freq=3)
    assert dataset.attributes.names() == ['x', 'y', 'same']
    assert {name for found in state_features(dataset) for row in chain(*found) for name, _ in row} == {'x', 'same'}


@pytest.mark.parametrize('scale', ['max', 'std'])
def test_scale(tmp_path, scale):
    dataset = read(tmp_path, 'graph', DATA, scale=scale)
    rows = [row for found in state_features(dataset) for row in chain(*found)]
    x = [value for row in rows for (name, _), value in row.items() if name == 'x']
    by = 7 if scale == 'max' else np.sqrt(np.mean(np.square([0.5, -3, 1, 4, 7])))
    np.testing.assert_allclose(x, np.array([0.5, -3, 1, 4, 7]) / by)
