"""Every output of a tiny example, written out in pure Python: the ground truth of the tests.

Nothing here imports the compiled core. A structure is one generator that yields, for an `Example`, each output y as its
code (what predict would print, as label numbers), its part statistics s(y) and its joint features phi(x, y), both as
counters over readable keys:

    parts       ('label', t, y)          label y at position t
                ('step', p, q)           label p followed by q, counted over the positions (tied)
                ('step', t, p, q)        the same at positions t - 1 and t, when transitions have input features
    features    ('state', a, y)          sum of the values of attribute a at the positions labelled y
                ('transition', p, q)     number of steps from p to q
                ('edge', e, p, q)        sum of the values of edge attribute e at the steps from p to q

A further structure is one more generator and one more row of STRUCTURES; the rest works on the counters alone.
Dependency trees are in tests/sentences.py.
"""

import itertools
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tests import sentences


class Example(NamedTuple):
    """One example as plain lists: per position, pairs (attribute, value); `edges[t]` belongs to the step into t.

    transitions: whether a pair of labels has a weight of its own, whatever the input.
    """

    tokens: list
    edges: list | None
    gold: tuple
    transitions: bool = True


class Output(NamedTuple):
    """One output: its code, and the counters of its parts and of its joint features."""

    code: tuple
    parts: Counter
    features: Counter


def example_of(dataset, i):
    """Example i of a TokenDataset (or of anything with the same arrays) as plain lists."""

    def rows(indptr, indices, values, t):
        span = range(int(indptr[t]), int(indptr[t + 1]))
        return [(int(indices[k]), 1.0 if values is None else float(values[k])) for k in span]

    positions = range(int(dataset.offsets[i]), int(dataset.offsets[i + 1]))
    tokens = [rows(dataset.indptr, dataset.indices, dataset.values, t) for t in positions]
    edges = None
    if dataset.edge_indptr is not None:
        edges = [rows(dataset.edge_indptr, dataset.edge_indices, dataset.edge_values, t) for t in positions]
    gold = tuple(int(dataset.labels[t]) for t in positions)
    return Example(tokens, edges, gold, getattr(dataset, 'transitions', True))


def multiclass(example, n_labels):
    """One label per example."""
    (token,) = example.tokens
    for y in range(n_labels):
        features = Counter()
        for a, value in token:
            features['state', a, y] += value
        yield Output((y,), Counter({('label', 0, y): 1}), features)


def chain(example, n_labels):
    """A label per position, first-order transitions, optionally with input features of their own."""
    for code in itertools.product(range(n_labels), repeat=len(example.tokens)):
        parts, features = Counter(), Counter()
        for t, y in enumerate(code):
            parts['label', t, y] += 1
            for a, value in example.tokens[t]:
                features['state', a, y] += value
            if t == 0:
                continue
            p = code[t - 1]
            if example.transitions:
                features['transition', p, y] += 1
            parts[('step', p, y) if example.edges is None else ('step', t, p, y)] += 1
            for e, value in example.edges[t] if example.edges is not None else ():
                features['edge', e, p, y] += value
        yield Output(code, parts, features)


STRUCTURES = {'multiclass': multiclass, 'chain': chain}


def listed(task, dataset, n_labels, **how):
    """(right code, list of all outputs) of every example; how: of the trees, for the task dependency."""
    examples = range(len(dataset.offsets) - 1)
    if task == 'dependency':
        found = [sentences.sentence_of(dataset, i, **how) for i in examples]
        return [(x.gold, [Output(*output) for output in sentences.outputs(x)]) for x in found]
    found = [example_of(dataset, i) for i in examples]
    return [(x.gold, list(STRUCTURES[task](x, n_labels))) for x in found]


def task_loss(loss, gold, code, task='chain'):
    """Delta(gold, code): 'zero-one', 'hamming' (the count of wrong positions) or a cost matrix [right, predicted]. A
    position of a dependency tree is a word with its head and its relation."""
    if task == 'dependency':
        gold, code = (list(zip(y[: len(y) // 2], y[len(y) // 2 :], strict=True)) for y in (gold, code))
    if isinstance(loss, str):
        wrong = sum(g != y for g, y in zip(gold, code, strict=True))
        return {'zero-one': float(wrong > 0), 'hamming': float(wrong)}[loss]
    return float(sum(loss[g][y] for g, y in zip(gold, code, strict=True)))


@dataclass
class Enumerated:
    """All outputs of one example as arrays.

    codes: list of tuples, one per output; gold: row of the right output (None when its labels are unknown)
    parts [Y, m] with the keys of its columns in `part_keys`; features [Y, d] over the index of the whole data set;
    losses [Y].
    """

    codes: list
    gold: int | None
    part_keys: list
    parts: np.ndarray
    features: np.ndarray
    losses: np.ndarray | None

    @property
    def differences(self):
        """psi_i(y) = phi(x_i, y_i) - phi(x_i, y) for every y, [Y, d]."""
        return self.features[self.gold] - self.features


class Enumeration:
    """A whole tiny data set, every output of every example.

    feature_set 'all' gives a weight to every feature of any output; with 'observed' only those pairs of attribute and
    label, pairs of labels and features of arcs have one that occur in right outputs, while edge features all do. An arc
    feature with relations has a weight for each of them where some right output has the feature.
    `keys` names the d coordinates of a weight vector, `examples` holds an Enumerated per example.
    """

    def __init__(self, task, dataset, n_labels, loss='hamming', feature_set='all', **how):
        data = listed(task, dataset, n_labels, **how)
        self.task, self.loss = task, loss
        self.keys = sorted(set().union(*(output.features for _, outputs in data for output in outputs)))
        right = (output for gold, outputs in data for output in outputs if output.code == gold)
        observed = set().union(*(output.features for output in right))
        related = {key[1] for key in observed if key[0] == 'arc' and key[2] >= 0}
        if task == 'dependency':
            self.keys = [key for key in self.keys if key[2] < 0 or key[1] in related]
        if feature_set == 'observed':
            self.keys = [k for k in self.keys if k in observed or k[0] == 'edge' or (k[0] == 'arc' and k[2] >= 0)]
        self.column = {key: k for k, key in enumerate(self.keys)}
        self.examples = [self._arrays(gold, outputs) for gold, outputs in data]

    def _arrays(self, right, outputs):
        codes = [output.code for output in outputs]
        gold = codes.index(right) if right in codes else None
        part_keys = sorted(set().union(*(output.parts for output in outputs)))
        losses = None
        if gold is not None:
            losses = np.array([task_loss(self.loss, right, code, self.task) for code in codes])
        parts = matrix([output.parts for output in outputs], {key: k for k, key in enumerate(part_keys)})
        features = matrix([output.features for output in outputs], self.column)
        return Enumerated(codes, gold, part_keys, parts, features, losses)

    @property
    def dim(self):
        return len(self.keys)


def matrix(counters, column):
    """Rows of counters as a dense matrix; keys without a column are left out."""
    dense = np.zeros((len(counters), len(column)))
    for row, counter in zip(dense, counters, strict=True):
        for key, value in counter.items():
            if key in column:
                row[column[key]] = value
    return dense
