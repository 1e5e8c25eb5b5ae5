"""Sets of labels: a binary node for each label, which the input speaks to, and a weight for each pair of labels that
are in the set together (Meshi, Srebro and Hazan 2015, section 6):

    <w, phi(x, y)> = sum_k y_k <w_k, x> + sum_{j < k} w_jk y_j y_k
"""

from itertools import combinations

import numpy as np

from cython_ext.structures.graph_layout import FactorType, GraphLayout, Shape
from cython_ext.structures.registry import StructureInfo
from cython_ext.structures.relaxations import RHO, build_relaxed, hamming, zero_one, zero_one_strata

STATE, PAIR = 'state', 'pair'


def layout_of(dataset):
    """The GraphLayout of a LabelSetDataset."""
    labels = len(dataset.label_names)
    pairs = list(combinations(range(labels), 2))
    node = FactorType((2,), np.array([-1, 0], np.int32), len(dataset.attributes))
    pair = FactorType((2, 2), np.array([-1, -1, -1, 0], np.int32), constant=True)
    shape = Shape(
        labels,
        np.arange(labels + len(pairs), dtype=np.int32),
        [*((k,) for k in range(labels)), *pairs],
        np.zeros(labels + len(pairs), np.int64),
    )
    right = np.zeros((dataset.n, labels), np.int32)
    right[np.repeat(np.arange(dataset.n), np.diff(dataset.label_indptr)), dataset.label_ids] = 1
    return GraphLayout(
        [node] * labels + [pair] * len(pairs),
        [shape],
        np.zeros(dataset.n, np.int32),
        np.arange(dataset.n, dtype=np.int64),
        labels * np.arange(dataset.n + 1, dtype=np.int64),
        right.ravel(),
        dataset.indptr,
        dataset.indices,
        dataset.values,
    )


class LabelNames:
    """What models call the weights: 'state' float64[attributes, K], 'pair' float64[K (K - 1) / 2], (0, 1), (0, 2),
    ..."""

    def __init__(self, attributes, labels):
        self.attributes, self.labels = attributes, labels

    def join(self, arrays):
        states = [array.ravel() for array in arrays[: self.labels]]
        pairs = [array.ravel() for array in arrays[self.labels :]]
        return {
            STATE: np.stack(states, axis=1) if states else np.zeros((self.attributes, 0)),
            PAIR: np.concatenate([np.zeros(0), *pairs]),
        }

    def split(self, blocks):
        pairs = self.labels * (self.labels - 1) // 2
        if np.shape(blocks[STATE]) != (self.attributes, self.labels) or np.shape(blocks[PAIR]) != (pairs,):
            raise ValueError(f'weights of other attributes or labels (expected {self.attributes} and {self.labels})')
        return [*np.asarray(blocks[STATE]).T, *np.asarray(blocks[PAIR])]


def build(
    dataset, feature_set='all', relaxation='none', rho=RHO, lam=1.0, merge=False, basis=None, similarity=None, **how
):
    """(Structure, FeatureMap) of a LabelSetDataset. relaxation: see relaxations.py; rho: of soft; lam: lambda; how:
    as of build_relaxed."""
    if basis is not None or similarity is not None:
        raise ValueError('sets of labels have linear features: use the linear kernel')
    if feature_set != 'all':
        raise ValueError('every attribute has a weight for every label: use --feature-set all')
    naming = LabelNames(len(dataset.attributes), len(dataset.label_names))
    return build_relaxed(layout_of(dataset), naming, relaxation, rho, lam, **how)


INFO = StructureInfo(
    'multilabel',
    'a set of labels for each example, with a weight for each pair of labels',
    build,
    {'hamming': hamming, 'zero-one': zero_one},
    'hamming',
    None,
    {'zero-one': zero_one_strata},
    ('hamming',),
)
