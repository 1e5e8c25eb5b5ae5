"""Global factors of graphs in JSON lines: what is read, what is written comes back, and models that hold their
types."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cython_ext.tasks.graph import layout_of
from data_formats.models.model import Model
from tests.formats.tools import read, row, written

ONE = {'bias': 1.0}


def line(*factors, nodes=5):
    return json.dumps({'states': 2, 'nodes': [{'label': k % 2} for k in range(nodes)], 'factors': factors}) + '\n'


def factors(dataset):
    """For each graph its factors: (type, group, nodes, {attribute: value})."""
    names, out = dataset.attributes.names(), []
    for i in range(dataset.n):
        out.append([])
        for f in range(*dataset.factor_indptr[i : i + 2]):
            scope = dataset.scope[dataset.scope_indptr[f] : dataset.scope_indptr[f + 1]].tolist()
            kind = dataset.factor_types.names()[dataset.factor_type[f]]
            out[-1].append((kind, int(dataset.group[f]), scope, row(*dataset.factor_rows(), names, f)))
    return out


def test_chains_and_trees_are_their_pairs(tmp_path):
    text = (
        line(
            {'nodes': [0, 4]},
            {'oracle': 'chain', 'nodes': [3, 1, 2], 'type': 'next', 'features': [0.5]},
            {'oracle': 'tree', 'edges': [[0, 1], [0, 2], [4, 0]], 'features': [{'x': 1}, [2, 3], {}]},
            {'oracle': 'chain', 'nodes': [1, 0]},
        )
        + line({'oracle': 'tree', 'edges': [[0, 1]]})
        + line()
    )
    dataset = read(tmp_path, 'graph', text)
    assert factors(dataset) == [
        [
            ('factor2', -1, [0, 4], ONE),
            ('next', 1, [3, 1], {'0': 0.5}),
            ('next', 1, [1, 2], {'0': 0.5}),
            ('factor2', 2, [0, 1], {'x': 1.0}),
            ('factor2', 2, [0, 2], {'0': 2.0, '1': 3.0}),
            ('factor2', 2, [4, 0], {}),
            ('factor2', 3, [1, 0], ONE),
        ],
        [('factor2', 0, [0, 1], ONE)],
        [],
    ]
    assert dataset.global_factors == 4
    layout = layout_of(dataset)
    assert [shape.groups for shape in layout.shapes] == [[(6, 8), (8, 11), (11, 12)], [(5, 6)], []]
    again = [json.loads(row) for row in written('graph', dataset).splitlines()]
    assert [example.get('factors') for example in again] == [
        [
            {'nodes': [0, 4]},
            {'oracle': 'chain', 'nodes': [3, 1, 2], 'type': 'next', 'features': {'0': 0.5}},
            {'oracle': 'tree', 'edges': [[0, 1], [0, 2], [4, 0]], 'features': [{'x': 1}, {'0': 2, '1': 3}, {}]},
            {'oracle': 'chain', 'nodes': [1, 0]},
        ],
        [{'oracle': 'chain', 'nodes': [0, 1]}],
        None,
    ]


def test_counts_have_buckets(tmp_path):
    text = line(
        {'oracle': 'cardinality', 'nodes': [4, 0, 2]},
        {'oracle': 'cardinality', 'nodes': [0, 1], 'type': 'size', 'buckets': [1, 3], 'features': [2]},
        {'oracle': 'cardinality', 'nodes': [0, 1, 2, 3], 'type': 'size'},
    )
    dataset = read(tmp_path, 'graph', text)
    assert factors(dataset) == [
        [('cardinality3', -1, [4, 0, 2], ONE), ('size', -1, [0, 1], {'0': 2.0}), ('size', -1, [0, 1, 2, 3], ONE)]
    ]
    assert dataset.scopes == [(), ()] and dataset.buckets == [(0, 1, 2, 3), (0, 1, 3)] and dataset.global_factors == 3
    types = layout_of(dataset).types
    assert [kind.buckets for kind in types] == [None, (0, 1, 2, 3), (0, 1, 3)] and [kind.size for kind in types] == [
        2,
        4,
        3,
    ]
    (example,) = map(json.loads, written('graph', dataset).splitlines())
    assert example['factors'] == [
        {'oracle': 'cardinality', 'nodes': [4, 0, 2]},
        {'oracle': 'cardinality', 'nodes': [0, 1], 'type': 'size', 'buckets': [1, 3], 'features': {'0': 2}},
        {'oracle': 'cardinality', 'nodes': [0, 1, 2, 3], 'type': 'size', 'buckets': [1, 3]},
    ]


def inputs():
    return st.dictionaries(st.sampled_from('xyz'), st.sampled_from([0.5, -1.0, 2.0]), max_size=2) | st.just(ONE)


@st.composite
def several(draw):
    """Some factors over five binary nodes."""
    out = []
    for kind in draw(st.lists(st.sampled_from(['pair', 'chain', 'tree', 'count']), max_size=5)):
        nodes = draw(st.permutations(range(5)))[: draw(st.integers(2, 5))]
        if kind == 'pair':
            out.append({'nodes': nodes[:2], 'features': draw(inputs())})
        elif kind == 'count':
            buckets = sorted(draw(st.sets(st.integers(1, 6), min_size=1)))
            how = {'type': f'size {buckets}', 'buckets': buckets} if draw(st.booleans()) else {}
            out.append({'oracle': 'cardinality', 'nodes': nodes, 'features': draw(inputs()), **how})
        else:
            count = len(nodes) - 1
            features = draw(inputs() | st.lists(inputs(), min_size=count, max_size=count))
            edges = [[nodes[draw(st.integers(0, k))], nodes[k + 1]] for k in range(count)]
            how = (
                {'nodes': nodes}
                if kind == 'chain'
                else {'edges': [edge[:: draw(st.sampled_from([1, -1]))] for edge in edges]}
            )
            out.append({'oracle': kind, 'features': features, **how})
    return out


@given(st.lists(several(), min_size=1, max_size=3))
def test_round_trip(folder, data):
    dataset = read(folder, 'graph', ''.join(line(*each) for each in data))
    text = written('graph', dataset)
    again = read(folder, 'graph', text)
    assert factors(again) == factors(dataset)
    assert (again.scopes, again.buckets) == (dataset.scopes, dataset.buckets)
    assert written('graph', again) == text
    assert dataset.global_factors == sum('oracle' in factor for each in data for factor in each)
    chosen = dataset.subset(range(dataset.n)[::-1])
    assert factors(chosen) == factors(dataset)[::-1]
    assert factors(type(dataset).concatenate([chosen, dataset])) == factors(chosen) + factors(dataset)


def test_models_hold_buckets():
    """As lists, and none in models of graphs without counts."""
    header = {'task': 'graph', 'data': {'states': [['a', 'b']], 'scopes': [[0, 0], []], 'buckets': [None, [0, 2]]}}
    assert Model(header=header, weights={}, label_names=None, attributes=None).buckets == [None, [0, 2]]
    del header['data']['buckets']
    assert Model(header=header, weights={}, label_names=None, attributes=None).buckets == [None, None]


@pytest.mark.parametrize('nodes', [2, 3000])
def test_long_chains_and_large_counts(tmp_path, nodes):
    everything = list(range(nodes))
    text = line({'oracle': 'chain', 'nodes': everything}, {'oracle': 'cardinality', 'nodes': everything}, nodes=nodes)
    dataset = read(tmp_path, 'graph', text)
    assert len(dataset.factor_type) == nodes and dataset.buckets[1] == tuple(range(nodes + 1))
    assert np.array_equal(dataset.group, [0] * (nodes - 1) + [-1])
