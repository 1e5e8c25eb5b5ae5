"""One label for each example."""

import numpy as np

from cython_ext.structures.labels.multiclass import Multiclass
from cython_ext.tasks.common import choice_strata, position_costs
from cython_ext.tasks.registry import TaskInfo


def build(dataset, feature_set='all', **how):
    """(Structure, FeatureMap) of a TokenDataset whose examples are single tokens."""
    from cython_ext.tasks.token_features import token_features

    structure = Multiclass(np.ascontiguousarray(dataset.labels, np.int32), len(dataset.label_names))
    return structure, token_features(dataset, structure.n_labels, structure.stride, False, feature_set, **how)


INFO = TaskInfo(
    name='multiclass',
    summary='one label for each example',
    build=build,
    losses={'zero-one': position_costs, 'hamming': position_costs},
    default_loss='zero-one',
    cost_matrix=position_costs,
    strata=dict.fromkeys(('zero-one', 'hamming', 'costs'), choice_strata),
    decomposable=('zero-one', 'hamming'),
)
