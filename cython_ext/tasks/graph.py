"""Graphs as files give them: nodes and factors with features, of types that share their weights.

A type has weights for the attributes that occur with it in training, one for each joint state of its nodes, or a single
one for those that have a value for each joint state.
"""

from itertools import groupby, pairwise

import numpy as np

from cython_ext.structures.graph.layout import FactorType, GraphLayout, Shape, StateRows
from cython_ext.tasks.common import node_costs, zero_one
from cython_ext.tasks.registry import LINEAR, TaskInfo
from cython_ext.tasks.relaxations import arguments_of_relaxation, build_relaxed, log_values

WEIGHTS, ATTRIBUTES = 'weights', 'attributes'  # names of arrays, with the number of the type behind them
STATE_WEIGHTS, STATE_ATTRIBUTES = 'state_weights', 'state_attributes'  # of features with a value for each state


def attributes_of(dataset):
    """For each type, those of the nodes first, the attributes (ascending, int32) that occur with it in a
    GraphDataset."""
    return by_type(dataset, dataset.node_rows(), dataset.factor_rows())


def state_attributes_of(dataset):
    """The same of those that have a value for each joint state."""
    return by_type(dataset, dataset.node_states(), dataset.factor_states())


def by_type(dataset, of_nodes, of_factors):
    """For each type the attributes that its rows have."""
    found = []
    for kinds, count, (indptr, indices, *_) in (
        (dataset.node_type, len(dataset.node_types), of_nodes),
        (dataset.factor_type, len(dataset.factor_types), of_factors),
    ):
        of_entries = np.repeat(kinds, np.diff(indptr))
        found += [np.unique(indices[of_entries == kind]).astype(np.int32) for kind in range(count)]
    return found


def layout_of(dataset, attributes=None, state_attributes=None):
    """The GraphLayout of a GraphDataset. attributes, state_attributes: as of attributes_of and state_attributes_of, of
    the training data (None: of these)."""
    attributes = attributes_of(dataset) if attributes is None else attributes
    state_attributes = state_attributes_of(dataset) if state_attributes is None else state_attributes
    sizes = [len(names) for names in dataset.states]
    scopes = [*((kind,) for kind in range(len(sizes))), *dataset.scopes]
    buckets = [None] * len(sizes) + dataset.buckets
    types = [
        FactorType.full([sizes[kind] for kind in scope], len(of_type), state_attributes=len(of_states))
        if starts is None
        else FactorType.count(starts, len(of_type), state_attributes=len(of_states))
        for scope, starts, of_type, of_states in zip(scopes, buckets, attributes, state_attributes, strict=True)
    ]
    shapes, shape_of = shapes_of(dataset)
    return GraphLayout(
        types,
        shapes,
        shape_of,
        dataset.node_indptr[:-1] + dataset.factor_indptr[:-1],
        dataset.node_indptr,
        dataset.labels,
        *rows_by_example(dataset, attributes),
        state_rows=states_by_example(dataset, state_attributes) if any(map(len, state_attributes)) else None,
    )


def shapes_of(dataset):
    """(Shapes, int32[n] the shape of each example): graphs with the same types, scopes and groups are alike."""
    shapes, known = [], {}
    shape_of = np.empty(dataset.n, np.int32)
    for i in range(dataset.n):
        nodes, factors = (slice(*indptr[i : i + 2]) for indptr in (dataset.node_indptr, dataset.factor_indptr))
        scopes = dataset.scope_indptr[factors.start : factors.stop + 1]
        of_factors = dataset.factor_type[factors] + len(dataset.node_types)
        types = np.concatenate([dataset.node_type[nodes], of_factors]).astype(np.int32)
        scope = dataset.scope[scopes[0] : scopes[-1]]
        group = dataset.group[factors]
        key = nodes.stop - nodes.start, *(a.tobytes() for a in (types, scopes - scopes[0], scope, group))
        if key not in known:
            known[key] = len(shapes)
            ends = (scopes - scopes[0]).tolist()
            of_factors = [tuple(scope[a:b].tolist()) for a, b in pairwise(ends)]
            groups = groups_of(group, key[0])
            shapes.append(
                Shape(key[0], types, [*((v,) for v in range(key[0])), *of_factors], np.arange(len(types)), groups)
            )
        shape_of[i] = known[key]
    return shapes, shape_of


def groups_of(group, first):
    """The groups of a Shape. group: as of a GraphDataset, of one example; first: the number of its first factor."""
    found = []
    for number, several in groupby(group.tolist()):
        end = first + len(list(several))
        if number >= 0:
            found.append((first, end))
        first = end
    return found


def rows_by_example(dataset, attributes):
    """The CSR triple of all nodes and factors, example by example, with the attributes numbered within each type; those
    that a type does not know are left out."""
    parts = dataset.node_rows(), dataset.factor_rows()
    indptr, indices, order = known_entries(dataset, attributes, parts)
    values = np.concatenate([np.ones(len(i)) if v is None else v for _, i, v in parts])
    return indptr, indices, values[order]


def states_by_example(dataset, attributes):
    """The same of features that have a value for each joint state: StateRows."""
    parts = dataset.node_states(), dataset.factor_states()
    indptr, indices, order = known_entries(dataset, attributes, parts)
    states, values = (np.concatenate([rows[k] for rows in parts])[order] for k in (2, 3))
    return StateRows(indptr, indices, states, values)


def known_entries(dataset, attributes, parts):
    """(indptr of all nodes and factors example by example, attributes numbered within each type, which entries of the
    rows of nodes and then of factors they are), those that a type does not know left out."""
    place = np.full((len(attributes), len(dataset.attributes) + 1), -1, np.int32)
    for kind, known in enumerate(attributes):
        place[kind, known] = np.arange(len(known))
    kinds = np.concatenate([dataset.node_type, dataset.factor_type + len(dataset.node_types)])
    counts = np.concatenate([np.diff(indptr) for indptr, *_ in parts])
    indices = place[np.repeat(kinds, counts), np.concatenate([indices for _, indices, *_ in parts])]
    row = np.repeat(row_order(dataset), counts)
    order = np.argsort(row, kind='stable')
    order = order[indices[order] >= 0]
    indptr = np.zeros(len(kinds) + 1, np.int64)
    np.cumsum(np.bincount(row[order], minlength=len(kinds)), out=indptr[1:])
    return indptr, indices[order], order


def row_order(dataset):
    """The row that each node, and then each factor, has where the nodes of an example come before its factors."""
    nodes, factors = np.diff(dataset.node_indptr), np.diff(dataset.factor_indptr)
    of_nodes = np.arange(dataset.node_indptr[-1]) + np.repeat(dataset.factor_indptr[:-1], nodes)
    of_factors = np.arange(dataset.factor_indptr[-1]) + np.repeat(dataset.node_indptr[1:], factors)
    return np.concatenate([of_nodes, of_factors])


class TypeNames:
    """What models call the weights: for each type t 'weights.t' float64[attributes, joint states] and 'attributes.t',
    and where it has features with a value for each joint state 'state_weights.t' float64[attributes] and
    'state_attributes.t'."""

    def __init__(self, attributes, state_attributes, types):
        self.attributes, self.state_attributes, self.types = attributes, state_attributes, types

    def join(self, arrays, of_states):
        found = {f'{WEIGHTS}.{t}': array for t, array in enumerate(arrays)}
        found |= {f'{ATTRIBUTES}.{t}': known for t, known in enumerate(self.attributes)}
        for t, (array, known) in enumerate(zip(of_states, self.state_attributes, strict=True)):
            if len(known):
                found |= {f'{STATE_WEIGHTS}.{t}': array, f'{STATE_ATTRIBUTES}.{t}': known}
        return found

    def split(self, blocks):
        arrays, of_states = [], []
        for t, kind in enumerate(self.types):
            known = blocks.get(f'{ATTRIBUTES}.{t}')
            if known is None or not np.array_equal(known, self.attributes[t]):
                raise ValueError('weights of other attributes')
            arrays.append(blocks[f'{WEIGHTS}.{t}'])
            if arrays[-1].shape != (kind.attributes, kind.width):
                raise ValueError('weights of other states')
            known = blocks.get(f'{STATE_ATTRIBUTES}.{t}', np.zeros(0, np.int32))
            if not np.array_equal(known, self.state_attributes[t]):
                raise ValueError('weights of other attributes with a value for each state')
            of_states.append(blocks.get(f'{STATE_WEIGHTS}.{t}', np.zeros(0)))
        return arrays, of_states


def build(dataset, attributes=None, state_attributes=None, **how):
    """(Structure, FeatureMap) of a GraphDataset. attributes, state_attributes: of each type, see layout_of; how: as of
    build_relaxed."""
    attributes = attributes_of(dataset) if attributes is None else attributes
    state_attributes = state_attributes_of(dataset) if state_attributes is None else state_attributes
    layout = layout_of(dataset, attributes, state_attributes)
    return build_relaxed(layout, TypeNames(attributes, state_attributes, layout.types), **how)


INFO = TaskInfo(
    name='graph',
    summary='states of the nodes of factor graphs',
    build=build,
    losses={'hamming': node_costs, 'zero-one': zero_one},
    default_loss='hamming',
    refused={
        **dict.fromkeys(LINEAR, 'graphs have linear features: use the linear kernel'),
        'feature_set': 'every attribute of a type has a weight for each joint state: use --feature-set all',
    },
    problem_arguments=arguments_of_relaxation,
    log_values=log_values,
)
