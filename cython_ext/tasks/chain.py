"""A label for each position of a sequence."""

import numpy as np

from cython_ext.structures.labels.chain import Chain
from cython_ext.tasks.common import zero_one
from cython_ext.tasks.registry import TaskInfo


def build(dataset, feature_set='all', order=1, **how):
    """(Structure, FeatureMap) of a TokenDataset. order: 1, or 2 for triplets of labels too. Raises ValueError where how
    these are asked for does not go together."""
    from cython_ext.structures.labels.chain2 import SecondOrderChain
    from cython_ext.tasks.token_features import token_features

    if order not in (1, 2):
        raise ValueError(f'chains have no order {order} (expected 1 or 2)')
    kind = SecondOrderChain if order == 2 else Chain
    structure = kind(
        np.ascontiguousarray(dataset.labels, np.int32),
        np.ascontiguousarray(dataset.offsets, np.int64),
        len(dataset.label_names),
        dataset.edge_indptr is None,
    )
    return structure, token_features(dataset, structure.n_labels, structure.stride, order, feature_set, **how)


def wrong_labels():
    from cython_ext.losses.position_costs import WrongLabels

    return WrongLabels


def position_costs():
    from cython_ext.losses.position_costs import PositionCosts

    return PositionCosts


INFO = TaskInfo(
    name='chain',
    summary='a label for each position of a sequence, pairs of neighbours, triplets too with order 2',
    build=build,
    losses={'hamming': wrong_labels, 'zero-one': zero_one},
    default_loss='hamming',
    cost_matrix=position_costs,
)
