"""Tiny factor graphs, and all their labelings: enumerated exactly, relaxed to the local marginal polytope, and with
soft constraints. No kernel is asked."""

import itertools
from collections import Counter
from types import SimpleNamespace

import numpy as np

from cython_ext.structures.graph_layout import FactorType, GraphLayout, Shape
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


def layout(names, seed=0, attributes=3, tied=False):
    """The GraphLayout of an example of each of some GRAPHS. tied: nodes, and factors, with the same numbers of states
    have one type; otherwise each has its own, one in three with a constant feature, one in four with free columns."""
    rng, types, kinds, shapes, rows = np.random.default_rng(seed), [], {}, [], 0
    starts, right = [], []
    for name in names:
        states, scopes = GRAPHS[name]
        scopes, of_factors, places = [*((v,) for v in range(len(states))), *scopes], [], []
        for f, scope in enumerate(scopes):
            sizes = tuple(states[v] for v in scope)
            if not tied or sizes not in kinds:
                kinds[sizes] = len(types)
                types.append(random_type(rng, sizes, attributes, tied))
            of_factors.append(kinds[sizes])
            places.append(f)
        shapes.append(Shape(len(states), np.array(of_factors, np.int32), scopes, np.array(places, np.int64)))
        starts.append(rows)
        rows += len(scopes)
        right.append([int(rng.integers(count)) for count in states])
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
    )


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
    attribute, column), parts ('label', node, state) and ('joint', factor, states)."""

    def __init__(self, layout):
        self.layout = layout
        self.keys = [
            (t, a, c) for t, kind in enumerate(layout.types) for a in range(kind.attributes) for c in range(kind.width)
        ]
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
        if column < 0:
            return found
        if kind.constant:
            return Counter({(int(shape.types[f]), 0, column): 1.0})
        row = int(self.layout.row_start[i] + shape.rows[f])
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
        scope = shape.scopes[f]
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


def soft(truth, lam, rho, multipliers=None, smoothing=0.0):
    """(the Enumeration of the blocks of the soft-constraint problem, its lambda, what its objective is to be multiplied
    by): every factor is an example, with features of its own and sqrt(lam / rho) times the agreement indicators
    (Meshi et al. 2015, (6)). multipliers: what delta is pulled to; smoothing: gamma, for which every wrong joint state
    has a feature of its own."""
    layout, unit = truth.layout, np.sqrt(lam / rho)
    place, blocks = {}, []
    for i in range(layout.n):
        shape = layout.shapes[layout.shape_of[i]]
        for f in range(shape.nodes, len(shape.types)):
            states = layout.types[shape.types[f]].states
            for k, node in enumerate(shape.scopes[f]):
                for state in range(states[k]):
                    place[i, f, node, state] = len(place)
    states_of = [layout.types[kind].size for s in layout.shape_of for kind in layout.shapes[s].types]
    for i in range(layout.n):
        shape, right = layout.shapes[layout.shape_of[i]], truth.right(i)
        for f, kind in enumerate(shape.types):
            states = layout.types[kind].states
            codes = list(itertools.product(*map(range, states)))
            agreement = np.zeros((len(codes), len(place)))
            for r, code in enumerate(codes):
                for node, state in zip(shape.scopes[f], code, strict=True):
                    if f >= shape.nodes:
                        agreement[r, place[i, f, node, state]] -= 1
                        continue
                    for c in range(shape.nodes, len(shape.types)):
                        if node in shape.scopes[c]:
                            agreement[r, place[i, c, node, state]] += 1
            own = truth.dense([truth.features_of(i, f, r) for r in range(len(codes))])
            gold = codes.index(tuple(right[node] for node in shape.scopes[f]))
            losses = (np.arange(len(codes)) != gold).astype(float) if f < shape.nodes else np.zeros(len(codes))
            if multipliers is not None:
                losses = losses + agreement @ multipliers - agreement[gold] @ multipliers
            keys = [('label', 0, a) for a in range(len(codes))]
            extra = np.zeros((len(codes), sum(states_of) if smoothing else 0))
            if smoothing:
                first, wrong = sum(states_of[: len(blocks)]), np.arange(len(codes)) != gold
                extra[wrong, first + np.flatnonzero(wrong)] = np.sqrt(smoothing * lam * layout.n)
            features = np.hstack([own, unit * agreement, extra])
            numbers = [(r,) for r in range(len(codes))]
            blocks.append(Enumerated(numbers, gold, keys, np.eye(len(codes)), features, losses))
    times = len(blocks) / layout.n
    return SimpleNamespace(examples=blocks, place=place), lam / times, times
