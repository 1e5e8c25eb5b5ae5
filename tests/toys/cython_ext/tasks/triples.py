"""Three labels of n: a choice among all triples, which score what their labels do."""

from itertools import combinations
from math import comb

import numpy as np

from cython_ext.structures.labels.multiclass import Multiclass
from cython_ext.tasks.registry import TaskInfo


def triples(labels):
    """int[C(labels, 3), 3], ascending."""
    return np.array(list(combinations(range(labels), 3))).reshape(-1, 3)


def members(labels):
    """float64[C(labels, 3), labels]: 1 where a triple has a label."""
    chosen = np.zeros((comb(labels, 3), labels))
    np.put_along_axis(chosen, triples(labels), 1.0, axis=1)
    return chosen


def build(dataset, feature_set='all', tied=True, merge=False, basis=None, similarity=None):
    """(Structure, FeatureMap) of a LabelSetDataset. tied: triples share the weights of their labels; a model has their
    sums."""
    from cython_ext.features.tokens.output_features import OutputFeatures
    from cython_ext.features.tokens.sparse import SparseFeatures
    from cython_ext.features.tokens.sparse_rows import SparseRows

    if basis is not None or similarity is not None or feature_set != 'all':
        raise ValueError('triples have linear features: use the linear kernel')
    labels = len(dataset.label_names)
    number = {tuple(triple): k for k, triple in enumerate(triples(labels).tolist())}
    gold = np.array([number.get(tuple(dataset.labels(i).tolist()), -1) for i in range(dataset.n)], np.int32)
    structure = Multiclass(gold, len(number))
    rows = SparseRows(dataset.indptr, dataset.indices, dataset.values, len(dataset.attributes))
    places = rows, dataset.offsets, structure.n_labels, structure.stride
    if not tied:
        return structure, SparseFeatures(*places)
    chosen = members(labels)
    return structure, OutputFeatures(*places, chosen @ chosen.T)


def wrong_members():
    """how many of the three are wrong"""
    from cython_ext.losses.position_costs import LabelCosts

    class WrongMembers(LabelCosts):
        def __init__(self, structure):
            labels = next(k for k in range(3, 100) if comb(k, 3) == structure.n_labels)
            chosen = members(labels)
            super().__init__(structure, 3 - chosen @ chosen.T)

    return WrongMembers


INFO = TaskInfo(
    name='triples',
    summary='three labels of n',
    build=build,
    losses={'hamming': wrong_members},
    default_loss='hamming',
)
