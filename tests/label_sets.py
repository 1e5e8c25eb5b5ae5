"""Tiny sets of labels, and all spanning trees over a few labels. No kernel is asked."""

import itertools
import math

import numpy as np

from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.multilabel import LabelSetDataset


def random_sets(n, labels, attributes, seed, binary=False):
    """A LabelSetDataset; labels hang together, and some sets are empty."""
    rng = np.random.default_rng([n, labels, seed])
    dense = np.where(rng.random((n, attributes)) < 0.6, rng.normal(size=(n, attributes)).round(2), 0)
    dense = (dense != 0).astype(float) if binary else dense
    common = rng.normal(size=n)
    right = rng.normal(size=(n, labels)) + common[:, None] + dense @ rng.normal(size=(attributes, labels)) > 0.8
    right[0], right[1] = True, False
    return LabelSetDataset(
        *csr(dense),
        None if binary else dense[dense != 0],
        *csr(right),
        Vocabulary(b'a%d' % a for a in range(attributes)),
        Vocabulary(b'l%d' % k for k in range(labels)),
    )


def csr(dense):
    """(indptr, indices) of what is not 0."""
    indptr = np.concatenate([[0], np.cumsum((dense != 0).sum(axis=1))])
    return indptr, np.nonzero(dense)[1].astype(np.int32)


def table(dataset):
    """[n, labels] of 0 and 1."""
    out = np.zeros((dataset.n, len(dataset.label_names)), int)
    for i in range(dataset.n):
        out[i, dataset.labels(i)] = 1
    return out


def inputs(dataset):
    """[n, attributes]."""
    out = np.zeros((dataset.n, len(dataset.attributes)))
    for i in range(dataset.n):
        where = slice(dataset.indptr[i], dataset.indptr[i + 1])
        out[i, dataset.indices[where]] = 1 if dataset.values is None else dataset.values[where]
    return out


def information(right, j, k):
    """The mutual information of two columns of a table, one more row of each of the four kinds counted."""
    counts = {(a, b): 1 for a in (0, 1) for b in (0, 1)}
    for row in right:
        counts[row[j], row[k]] += 1
    n = len(right) + 4
    first = {a: counts[a, 0] + counts[a, 1] for a in (0, 1)}
    second = {b: counts[0, b] + counts[1, b] for b in (0, 1)}
    return sum(c / n * math.log(c * n / (first[a] * second[b])) for (a, b), c in counts.items())


def kruskal(right):
    """The pairs of the tree with the most information; of equal pairs the first ones."""
    labels = right.shape[1]
    pairs = list(itertools.combinations(range(labels), 2))
    group, found = list(range(labels)), []
    for j, k in sorted(pairs, key=lambda pair: (-round(information(right, *pair), 12), pair)):
        if group[j] != group[k]:
            found.append((j, k))
            group = [group[j] if g == group[k] else g for g in group]
    return sorted(found)


def trees(labels):
    """Every spanning tree over so many labels, lists of pairs."""
    pairs = list(itertools.combinations(range(labels), 2))
    for chosen in itertools.combinations(pairs, labels - 1):
        reached = {0}
        for _ in chosen:
            reached |= {v for pair in chosen if reached & set(pair) for v in pair}
        if len(reached) == labels:
            yield list(chosen)
