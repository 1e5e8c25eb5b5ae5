"""One label for each example."""

import numpy as np

from cython_ext.structures.labels.multiclass import Multiclass
from cython_ext.tasks.registry import TaskInfo


def build(dataset, feature_set='all', **how):
    """(Structure, FeatureMap) of a TokenDataset whose examples are single tokens."""
    from cython_ext.tasks.token_features import token_features

    structure = Multiclass(np.ascontiguousarray(dataset.labels, np.int32), len(dataset.label_names))
    return structure, token_features(dataset, structure.n_labels, structure.stride, False, feature_set, **how)


def label_costs():
    from cython_ext.losses.position_costs import LabelCosts

    return LabelCosts


INFO = TaskInfo(
    name='multiclass',
    summary='one label for each example',
    build=build,
    losses={'zero-one': label_costs, 'hamming': label_costs},
    default_loss='zero-one',
    cost_matrix=label_costs,
)
