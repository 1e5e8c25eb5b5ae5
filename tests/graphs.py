"""Tiny factor graphs, and all their labelings: enumerated exactly, relaxed to the local marginal polytope, and with
soft constraints. No kernel is asked."""

import itertools
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from cython_ext.structures.graph.layout import FactorType, GraphLayout, Shape, StateRows
from tests.enumeration import Enumerated, matrix

# states of each node, and the scopes of factors of several nodes
GRAPHS = {
    'node': ((3,), ()),
    'apart': ((2, 3), ()),
    'tree': ((2, 3, 1, 2, 4), ((0, 1), (3, 1), (1, 2), (4, 3))),
    'loop': ((2, 3, 2, 3), ((0, 1), (1, 2), (2, 3), (3, 0))),
    'complete': ((2, 2, 2, 2, 2), tuple(itertools.combinations(range(5), 2))),
    'twice': ((2, 2), ((0, 1), (1, 0))),
    'high order': ((2, 3, 2, 2), ((0, 1, 2), (2, 3), (3, 1, 0), (1, 3))),
    'grid': ((2,) * 8, ((0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7), (0, 4), (1, 5), (2, 6), (3, 7))),
}
# the same with global factors: ('tree', scopes), ('count', scope, first counts of buckets)
GLOBAL = {
    'chain': ((2, 3, 2, 3), (('tree', ((0, 1), (1, 2), (2, 3))), (0, 2))),
    'star': ((3, 2, 2, 2), ((1, 0), ('tree', ((2, 0), (0, 1), (3, 0))), (2, 1), ('tree', ((2, 3), (3, 1))))),
    'rows': ((2,) * 6, (*tuple(('tree', ((a, a + 1), (a + 1, a + 2))) for a in (0, 3)), (0, 3), (1, 4), (2, 5))),
    'only chain': ((2,) * 7, (('tree', tuple(itertools.pairwise(range(7)))),)),
    'only tree': ((2, 3, 2, 3), (('tree', ((0, 1), (1, 2), (3, 1))),)),
    'counted': ((2, 2, 2, 2), (('count', (3, 0, 1, 2), (0, 1, 3)),)),
    'counts apart': ((2, 3, 2, 2, 2, 2), (('count', (0, 2, 5), (0, 1, 2, 3)), ('count', (4, 3), (0, 2)))),
    'both': ((2, 2, 2, 2), (('count', (0, 1, 2, 3), (0, 1, 2, 3, 4)), ('tree', ((0, 1), (1, 2), (2, 3))), (3, 0))),
}
COUNTED = ('counted', 'counts apart')  # those that have an exact oracle


def laid_out(name):
    """(states, scopes of factors of several nodes, groups of them, {number of a count: its buckets}) of a graph;
    numbers of factors begin with those of the nodes."""
    states, items = GRAPHS[name] if name in GRAPHS else GLOBAL[name]
    scopes, groups, counts = [], [], {}
    for item in items:
        first = len(states) + len(scopes)
        if item[0] == 'tree':
            scopes += item[1]
            groups.append((first, first + len(item[1])))
        elif item[0] == 'count':
            scopes.append(item[1])
            counts[first] = item[2]
        else:
            scopes.append(item)
    return states, scopes, groups, counts


def layout(names, seed=0, attributes=3, tied=False, per_state=0):
    """The GraphLayout of an example of each of some GRAPHS. tied: nodes, and factors, with the same numbers of states
    (or the same buckets) have one type; otherwise each has its own, one in three with a constant feature, one in four
    with free columns. per_state: how many features of each type, constant ones apart, have a value for each joint
    state, with one weight; Potts factors are among them."""
    rng, types, kinds, shapes, rows = np.random.default_rng(seed), [], {}, [], 0
    starts, right = [], []
    for name in names:
        states, scopes, groups, counts = laid_out(name)
        scopes, of_factors, places = [*((v,) for v in range(len(states))), *scopes], [], []
        for f, scope in enumerate(scopes):
            sizes = ('count', *counts[f]) if f in counts else tuple(states[v] for v in scope)
            if not tied or sizes not in kinds:
                kinds[sizes] = len(types)
                of_count = FactorType.count(counts[f], attributes) if f in counts else None
                types.append(of_count or random_type(rng, sizes, attributes, tied))
            of_factors.append(kinds[sizes])
            places.append(f)
        shapes.append(Shape(len(states), np.array(of_factors, np.int32), scopes, np.array(places, np.int64), groups))
        starts.append(rows)
        rows += len(scopes)
        right.append([int(rng.integers(count)) for count in states])
    types = [replace(kind, state_attributes=0 if kind.constant else per_state) for kind in types]
    dense = np.where(rng.random((rows, attributes)) < 0.7, rng.normal(size=(rows, attributes)), 0)
    indptr = np.concatenate([[0], np.cumsum((dense != 0).sum(axis=1))])
    return GraphLayout(
        types,
        shapes,
        np.arange(len(names), dtype=np.int32),
        np.array(starts, np.int64),
        np.concatenate([[0], np.cumsum([len(y) for y in right])]),
        np.array([state for y in right for state in y], np.int32),
        indptr,
        np.nonzero(dense)[1].astype(np.int32),
        dense[dense != 0],
        state_rows=state_rows(types, shapes, per_state) if per_state else None,
    )


def state_rows(types, shapes, per_state):
    """Random StateRows of the examples of some shapes; of the first attribute, where all nodes of a factor have the
    same states, those of a Potts factor."""
    rng = np.random.default_rng(len(shapes))
    counts, entries = [], []
    for shape in shapes:
        for kind in (types[t] for t in shape.types):
            tables = np.where(rng.random((per_state, kind.size)) < 0.7, rng.normal(size=(per_state, kind.size)), 0)
            if len(kind.states) > 1 and len(set(kind.states)) == 1:
                same = [len(set(joint)) == 1 for joint in itertools.product(*map(range, kind.states))]
                tables[0] = rng.normal() * np.array(same)
            found = [] if kind.constant else [(s, a, tables[a, s]) for s, a in np.argwhere(tables.T != 0).tolist()]
            counts.append(len(found))
            entries += found
    states, indices, values = (np.array(column) for column in zip(*entries, strict=True))
    return StateRows(np.concatenate([[0], np.cumsum(counts)]), indices, states, values)


def random_type(rng, sizes, attributes, plain):
    constant = not plain and rng.random() < 0.3
    kind = FactorType.full(sizes, 1 if constant else attributes, constant)
    if not plain and rng.random() < 0.25:  # joint states that share a column, and some without one
        columns = rng.integers(-1, 2, size=kind.size).astype(np.int32)
        columns[0] = 0
        return FactorType(sizes, columns, kind.attributes, constant)
    return kind


class GraphEnumeration:
    """All labelings of a layout's examples; as tests.enumeration.Enumeration. Joint features are named (type,
    attribute, column) or (type, attribute, 'per state'), parts ('label', node, state) and ('joint', factor, states)."""

    def __init__(self, layout):
        self.layout = layout
        self.keys = []
        for t, kind in enumerate(layout.types):
            self.keys += [(t, a, c) for a in range(kind.attributes) for c in range(kind.width)]
            self.keys += [(t, a, 'per state') for a in range(kind.state_attributes)]
        self.column = {key: k for k, key in enumerate(self.keys)}
        self.examples = [self._example(i) for i in range(layout.n)]

    @property
    def dim(self):
        return len(self.keys)

    def features_of(self, i, f, joint):
        """The joint features of one factor with the number of a joint state."""
        shape = self.layout.shapes[self.layout.shape_of[i]]
        kind = self.layout.types[shape.types[f]]
        column, found = int(kind.columns[joint]), Counter()
        if kind.constant:
            return Counter({(int(shape.types[f]), 0, column): 1.0} if column >= 0 else {})
        row = int(self.layout.row_start[i] + shape.rows[f])
        if kind.state_attributes:
            indptr, indices, states, values = self.layout.state_rows
            for p in range(indptr[row], indptr[row + 1]):
                if states[p] == joint:
                    found[int(shape.types[f]), int(indices[p]), 'per state'] = float(values[p])
        if column < 0:
            return found
        for p in range(self.layout.indptr[row], self.layout.indptr[row + 1]):
            found[int(shape.types[f]), int(self.layout.indices[p]), column] = float(self.layout.values[p])
        return found

    def right(self, i):
        return tuple(self.layout.labels[self.layout.label_indptr[i] : self.layout.label_indptr[i + 1]].tolist())

    def states(self, i):
        shape = self.layout.shapes[self.layout.shape_of[i]]
        return [self.layout.types[kind].size for kind in shape.types[: shape.nodes]]

    def joint(self, i, f, code):
        """The number of the joint state that a labeling gives to a factor."""
        shape = self.layout.shapes[self.layout.shape_of[i]]
        scope, kind = shape.scopes[f], self.layout.types[shape.types[f]]
        if kind.buckets is not None:
            return max(k for k, first in enumerate(kind.buckets) if first <= sum(code[v] for v in scope))
        return int(np.ravel_multi_index([code[v] for v in scope], self.layout.types[shape.types[f]].states))

    def part_keys(self, i):
        shape = self.layout.shapes[self.layout.shape_of[i]]
        return [(f, a) for f, kind in enumerate(shape.types) for a in range(self.layout.types[kind].size)]

    def _example(self, i):
        shape = self.layout.shapes[self.layout.shape_of[i]]
        codes = list(itertools.product(*map(range, self.states(i))))
        parts, features = [], []
        for code in codes:
            joints = [(f, self.joint(i, f, code)) for f in range(len(shape.types))]
            parts.append(Counter(joints))
            features.append(added(self.features_of(i, *joint) for joint in joints))
        keys, right = self.part_keys(i), self.right(i)
        losses = np.array([float(sum(a != b for a, b in zip(code, right, strict=True))) for code in codes])
        parts = matrix(parts, {key: k for k, key in enumerate(keys)})
        named = [('label', f, a) if f < shape.nodes else ('joint', f, a) for f, a in keys]
        return Enumerated(codes, codes.index(right), named, parts, self.dense(features), losses)

    def dense(self, features):
        return matrix(features, self.column)


def added(counters):
    """The sum of counters, negative counts too."""
    total = Counter()
    for counter in counters:
        total.update(counter)
    return total


def relaxed(truth):
    """The GraphEnumeration of pairs of binary nodes with the half-integral points of the local polytope for outputs:
    among them are all its vertices (as of any such polytope), so that their convex hull is the polytope."""
    examples = []
    for i, exact in enumerate(truth.examples):
        shape = truth.layout.shapes[truth.layout.shape_of[i]]
        points = []
        for nodes in itertools.product((0.0, 0.5, 1.0), repeat=shape.nodes):
            of_pairs = [pair_tables(nodes[a], nodes[b]) for a, b in shape.scopes[shape.nodes :]]
            for tables in itertools.product(*of_pairs):
                points.append(np.concatenate([*([1 - x, x] for x in nodes), *tables]))
        points = np.array(points)
        of_parts = matrix([truth.features_of(i, *key) for key in truth.part_keys(i)], truth.column)
        right = exact.parts[exact.gold]
        of_nodes = 2 * shape.nodes
        losses = points[:, :of_nodes] @ (1 - right[:of_nodes])
        gold = int(np.abs(points - right).sum(axis=1).argmin())
        examples.append(
            Enumerated([tuple(p) for p in points], gold, exact.part_keys, points, points @ of_parts, losses)
        )
    return SimpleNamespace(examples=examples, keys=truth.keys)


def pair_tables(a, b):
    """The extreme tables [00, 01, 10, 11] of a pair whose nodes are 1 with these chances."""
    low, high = max(0.0, a + b - 1), min(a, b)
    return [np.array([1 - a - b + x, b - x, a - x, x]) for x in sorted({low, high})]


def blocks(layout, shape):
    """For each block of a shape (its factors, its nodes, whether it is a global factor)."""
    found, f = [], 0
    while f < len(shape.types):
        end = next((end for first, end in shape.groups if first == f), f + 1)
        nodes = sorted({v for scope in shape.scopes[f:end] for v in scope}, key=sum(shape.scopes[f:end], ()).index)
        found.append((range(f, end), nodes, end > f + 1 or layout.types[shape.types[f]].buckets is not None))
        f = end
    return found


def soft(truth, lam, rho, multipliers=None, smoothing=0.0):
    """(the Enumeration of the blocks of the soft-constraint problem, its lambda, what its objective is to be multiplied
    by): every block is an example, with features of its own and sqrt(lam / rho) times the agreement indicators
    (Meshi et al. 2015, (6)). multipliers: what delta is pulled to; smoothing: gamma, for which every wrong joint state
    has a feature of its own."""
    layout, unit = truth.layout, np.sqrt(lam / rho)
    place, found = {}, []
    blocks_by_example = [blocks(layout, layout.shapes[s]) for s in layout.shape_of]
    for i, several in enumerate(blocks_by_example):
        for c, (_, nodes, _) in enumerate(several):
            for node in nodes if len(nodes) > 1 else []:
                for state in range(truth.states(i)[node]):
                    place[i, c, node, state] = len(place)
    own_states = [layout.types[kind].size for s in layout.shape_of for kind in layout.shapes[s].types]
    for i, several in enumerate(blocks_by_example):
        right, states = truth.right(i), truth.states(i)
        for b, (factors, nodes, whole) in enumerate(several):
            codes = list(itertools.product(*(range(states[v]) for v in nodes)))
            agreement = np.zeros((len(codes), len(place)))
            for row, code in zip(agreement, codes, strict=True):
                for node, state in zip(nodes, code, strict=True):
                    if len(nodes) > 1:
                        row[place[i, b, node, state]] -= 1
                        continue
                    for c, (_, others, _) in enumerate(several):
                        if len(others) > 1 and node in others:
                            row[place[i, c, node, state]] += 1
            labelings = [dict(zip(nodes, code, strict=True)) for code in codes]
            joints = [[(f, truth.joint(i, f, labeling)) for f in factors] for labeling in labelings]
            own = truth.dense([added(truth.features_of(i, *joint) for joint in each) for each in joints])
            gold = codes.index(tuple(right[node] for node in nodes))
            losses = (np.arange(len(codes)) != gold).astype(float) if len(nodes) == 1 else np.zeros(len(codes))
            if multipliers is not None:
                losses = losses + agreement @ multipliers - agreement[gold] @ multipliers
            keys, parts = [('label', 0, a) for a in range(len(codes))], np.eye(len(codes))
            if whole:
                keys = [('label', k, a) for k, v in enumerate(nodes) for a in range(states[v])]
                keys += [('joint', f, a) for f in factors for a in range(layout.types[layout.shapes[i].types[f]].size)]
                column = {key: k for k, key in enumerate(keys)}
                of_nodes = [[('label', k, a) for k, a in enumerate(code)] for code in codes]
                both = [Counter(a + [('joint', *joint) for joint in b]) for a, b in zip(of_nodes, joints, strict=True)]
                parts = matrix(both, column)
            extra = np.zeros((len(codes), sum(own_states) if smoothing else 0))
            if smoothing:
                first, wrong = sum(own_states[: len(found)]), np.arange(len(codes)) != gold
                extra[wrong, first + np.flatnonzero(wrong)] = np.sqrt(smoothing * lam * layout.n)
            features = np.hstack([own, unit * agreement, extra])
            numbers = codes if whole else [(r,) for r in range(len(codes))]
            found.append(Enumerated(numbers, gold, keys, parts, features, losses))
    times = len(found) / layout.n
    return SimpleNamespace(examples=found, place=place), lam / times, times
