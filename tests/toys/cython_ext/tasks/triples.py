"""Some labels of n, three if not said otherwise: a choice among all sets of that size, which score what their labels
do."""

from itertools import combinations

import numpy as np

from cython_ext.structures.labels.multiclass import Multiclass
from cython_ext.tasks.registry import LINEAR, TaskInfo


class Subsets(Multiclass):
    """The sets of `chosen` of the labels as the labels of a Multiclass.

    table: int[C(labels, chosen), chosen], ascending; members: float64[C(labels, chosen), labels], 1 where a set has a
    label."""

    def __init__(self, dataset, chosen):
        labels = len(dataset.label_names)
        self.table = np.array(list(combinations(range(labels), chosen))).reshape(-1, chosen)
        self.members = np.zeros((len(self.table), labels))
        np.put_along_axis(self.members, self.table, 1.0, axis=1)
        number = {tuple(subset): k for k, subset in enumerate(self.table.tolist())}
        gold = [number.get(tuple(dataset.labels(i).tolist()), -1) for i in range(dataset.n)]
        super().__init__(np.array(gold, np.int32), len(number))


def build(dataset, chosen=3, tied=True):
    """(Structure, FeatureMap) of a LabelSetDataset. chosen: how many labels a set has; tied: sets share the weights of
    their labels; a model has their sums."""
    from cython_ext.features.tokens.output_features import OutputFeatures
    from cython_ext.features.tokens.sparse import SparseFeatures
    from cython_ext.features.tokens.sparse_rows import SparseRows

    structure = Subsets(dataset, chosen)
    rows = SparseRows(dataset.indptr, dataset.indices, dataset.values, len(dataset.attributes))
    places = rows, dataset.offsets, structure.n_labels, structure.stride
    if not tied:
        return structure, SparseFeatures(*places)
    return structure, OutputFeatures(*places, structure.members @ structure.members.T)


def wrong_members():
    """how many of the labels are wrong"""
    from cython_ext.losses.position_costs import LabelCosts

    class WrongMembers(LabelCosts):
        def __init__(self, structure):
            common = structure.members @ structure.members.T
            super().__init__(structure, common[0, 0] - common)

    return WrongMembers


INFO = TaskInfo(
    name='triples',
    summary='some labels of n',
    build=build,
    losses={'hamming': wrong_members},
    default_loss='hamming',
    refused={
        **dict.fromkeys(LINEAR, 'triples have linear features: use the linear kernel'),
        'feature_set': 'every attribute has a weight for every label: use --feature-set all',
    },
)
