"""Factor graphs: what is read, what is written comes back, and datasets taken apart and put together."""

import io
import json
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_formats.errors import DataError
from data_formats.formats.registry import FORMATS
from tests.formats import strategies
from tests.formats.tools import graphs, read, stream, written

DATA = (
    '{"states": ["a", "b"], "nodes": [{"features": {"x": 0.5, "y": 3}, "label": "a"}, {"label": "b"}],'
    ' "factors": [{"nodes": [0, 1], "features": [1, 0.5]}]}\n'
    '{"nodes": [{"type": "p", "states": 3, "label": 2, "features": {"y": 1}}]}\n'
    '{"nodes": [{"type": "p", "label": 0, "features": {}}, {"label": "a"}, {"type": "p", "label": 1}],'
    ' "factors": [{"nodes": [2, 1, 0], "type": "t"}, {"nodes": [0, 2], "type": "e", "features": {"x": 1}}]}\n'
)


def factor_type(nodes, scope):
    return strategies.factor_type(nodes[v][0] for v in scope)


def plain(data, known=None):
    """A data set of the strategies as `graphs` gives it; known: the attributes that are kept."""

    def inputs(row):
        return {k: v for k, v in row.items() if known is None or k in known}

    return [
        (
            [(kind, strategies.STATES[kind], inputs(row), label) for kind, row, label in nodes],
            [(factor_type(nodes, scope), scope, inputs(row)) for scope, row in factors],
        )
        for nodes, factors in data
    ]


@given(strategies.graphs())
def test_round_trip(folder, data):
    dataset = read(folder, 'graph', strategies.graph(data))
    assert graphs(dataset) == plain(data)
    text = written('graph', dataset)
    again = read(folder, 'graph', text)
    assert graphs(again) == plain(data)
    assert written('graph', again) == text
    rows = [[row for _, row, _ in nodes] + [row for _, row in factors] for nodes, factors in data]
    seen = dict.fromkeys(k for row in chain.from_iterable(rows) for k in row)
    assert dataset.attributes.names() == list(seen), 'in order of first appearance'


@given(strategies.graphs(), strategies.graphs(labelled=False), st.integers(1, 200), st.sampled_from([1, 2]))
@settings(max_examples=50)
def test_a_stream_gives_what_reading_gives(folder, train, test, block, threads):
    known = read(folder, 'graph', strategies.graph(train))
    test = [
        (nodes, [factor for factor in several if factor_type(nodes, factor[0]) in known.factor_types])
        for nodes, several in test
        if all(kind in known.node_types for kind, *_ in nodes)
    ]
    text = strategies.graph(test)
    whole = graphs(read(folder, 'graph', text, known, threads=threads))
    blocks = list(stream(folder, 'graph', text, known, block))
    assert list(chain.from_iterable(graphs(b.dataset) for b in blocks)) == whole
    assert b''.join(b.rows for b in blocks) == text.encode()
    assert whole == plain(test, set(known.attributes.names()))


def test_subsets_and_concatenation(tmp_path, rng):
    dataset = read(tmp_path, 'graph', DATA)
    assert (dataset.n, dataset.tokens, dataset.nnz, dataset.largest_value) == (3, 6, 10, 3)
    assert dataset.complete and dataset.label_names.names() == ['a', 'b', '0', '1', '2']
    everything = graphs(dataset)
    for _ in range(20):
        chosen = rng.integers(0, dataset.n, size=rng.integers(0, 6))
        assert graphs(dataset.subset(chosen)) == [everything[i] for i in chosen]
    parts = [dataset.subset([i]) for i in range(dataset.n)]
    assert graphs(type(dataset).concatenate(parts)) == everything
    assert parts[1].nbytes()['scope'] < dataset.nbytes()['scope'] and parts[1].largest_value == 1
    without = [
        ([(kind, states, {}, label) for kind, states, _, label in nodes], [(*factor[:2], {}) for factor in several])
        for nodes, several in everything
    ]
    assert graphs(dataset.without_inputs()) == without


def test_bias_is_given_to_what_has_none(tmp_path):
    dataset = read(tmp_path, 'graph', DATA, bias=True)
    rows = [[node[2] for node in nodes] + [factor[2] for factor in several] for nodes, several in graphs(dataset)]
    assert rows == [
        [{'x': 0.5, 'y': 3.0, 'bias': 1.0}, {'bias': 1.0}, {'0': 1.0, '1': 0.5, 'bias': 1.0}],
        [{'y': 1.0, 'bias': 1.0}],
        [{'bias': 1.0}, {'bias': 1.0}, {'bias': 1.0}, {'bias': 1.0}, {'x': 1.0, 'bias': 1.0}],
    ]
    without = read(tmp_path, 'graph', '{"states": 2, "nodes": [{"label": 0, "features": {"x": 2}}]}\n', bias=True)
    assert without.attributes.names() == ['x', 'bias'] and without.indices.tolist() == [0, 1]
    assert without.values.tolist() == [2, 1]


def test_rare_attributes_are_counted_over_nodes_and_factors(tmp_path):
    dataset = read(tmp_path, 'graph', DATA, min_freq=2)
    assert dataset.attributes.names() == ['x', 'y', 'bias']
    assert [factor[2] for _, several in graphs(dataset) for factor in several] == [{}, {'bias': 1.0}, {'x': 1.0}]


def test_attributes_of_value_zero_are_left_out(tmp_path):
    text = '{"states": 2, "nodes": [{"label": 0, "features": [0, 1, -0.0]}, {"label": 0, "features": {"z": 0}}]}\n'
    dataset = read(tmp_path, 'graph', text)
    assert dataset.attributes.names() == ['1'] and dataset.indptr.tolist() == [0, 1, 1]


def test_types_may_be_known_from_earlier_lines(tmp_path):
    text = '{"states": 2, "nodes": [{"label": 0}]}\n{"nodes": [{"label": "1"}]}\n'
    assert read(tmp_path, 'graph', text).labels.tolist() == [0, 1]


NODES = ', '.join(['{"label": 0}'] * 6000)
LONG = f'{{"states": 10, "nodes": [{NODES}], "factors": [{{"nodes": {[*range(6000)]}}}]}}'


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('[' * 100_000 + ']' * 100_000, ':1: objects or lists that are nested too deeply (expected a graph)'),
        (LONG, ':1: the nodes of factor 0 have too many joint states (expected 10000 at most)'),
        ('{"nodes": [' + '1' * 5000 + ']}', ':1: a whole number with too many digits (expected finite numbers)'),
        ('{"nodes": [' + '1' * 5000 + '.0]}', ':1: the number ' + '1' * 40 + ' (expected finite numbers)'),
    ],
)
def test_hostile_lines(tmp_path, text, message):
    with pytest.raises(DataError) as error:
        read(tmp_path, 'graph', text + '\n')
    assert str(error.value).endswith(message)


def test_predictions(tmp_path):
    known = read(tmp_path, 'graph', DATA)
    text = (
        '# a comment\n{"nodes": [{}, {"type": "p", "label": 1}], "id": 1.50, "prediction": 7}\r\n\n'
        '{"nodes": [{"type": "p"}], "\\ud800": "\\u00e9"}\n'
    )
    lines, headed = [], io.BytesIO()
    for block in stream(tmp_path, 'graph', text, known, block=1):
        out = io.BytesIO()
        states = np.ones(block.dataset.tokens, np.int32)
        FORMATS['graph'].write_predictions(block, states, out)
        lines += out.getvalue().splitlines()
        more, headers = [{'score': 0.5}] * block.dataset.n, ['# 1 0.5'] * block.dataset.n
        FORMATS['graph'].write_predictions(block, states, headed, more, headers)
    expected = [
        {'nodes': [{}, {'type': 'p', 'label': 1}], 'id': 1.5, 'prediction': ['b', '1']},
        {'nodes': [{'type': 'p'}], '\ud800': 'é', 'prediction': ['1']},
    ]
    assert [json.loads(line) for line in lines] == expected
    assert b'\xc3' not in lines[1], 'what is no text is escaped'
    shown = headed.getvalue().splitlines()
    assert shown[::2] == [b'# 1 0.5'] * 2
    assert [json.loads(line) for line in shown[1::2]] == [example | {'score': 0.5} for example in expected]
    again = read(tmp_path, 'graph', headed.getvalue(), known)
    assert graphs(again) == graphs(read(tmp_path, 'graph', text, known)), 'predictions are files of the format too'


def test_nbest(tmp_path):
    known = read(tmp_path, 'graph', DATA)
    text = '{"nodes": [{}, {"type": "p"}]}\n{"nodes": [{"features": [1]}]}\n'
    (block,) = stream(tmp_path, 'graph', text, known)
    candidates = [[(np.array([1, 2]), 2.5, None), (np.array([0, 2]), -1.0, None)], [([0], 1 / 3, 0.25)]]
    out = io.BytesIO()
    FORMATS['graph'].write_nbest(block, candidates, out)
    assert out.getvalue() == (
        b'# 1 2.5\n{"nodes": [{}, {"type": "p"}], "prediction": ["b", "2"]}\n\n'
        b'# 2 -1\n{"nodes": [{}, {"type": "p"}], "prediction": ["a", "2"]}\n\n'
        b'# 1 0.3333333333 0.25\n{"nodes": [{"features": [1]}], "prediction": ["a"]}\n\n'
    )


@pytest.mark.parametrize('states', [['a', 'b'], 2])
def test_states_are_written_once_where_all_nodes_have_them(tmp_path, states):
    text = json.dumps({'states': states, 'nodes': [{'label': 'b' if states != 2 else '1'}, {'type': 'p', 'label': 0}]})
    dataset = read(tmp_path, 'graph', text.replace('0', '"a"' if states != 2 else '0'))
    example = json.loads(written('graph', dataset))
    assert example['states'] == states and all('states' not in node for node in example['nodes'])


def test_what_is_known_may_come_from_json(tmp_path):
    """As in a model, where there are no tuples."""
    known = read(tmp_path, 'graph', DATA)
    listed = replace(known, states=list(map(list, known.states)), scopes=list(map(list, known.scopes)))
    again = read(tmp_path, 'graph', DATA, listed)
    assert graphs(again) == graphs(known) and written('graph', again) == written('graph', known)
