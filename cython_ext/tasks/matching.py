"""Links of rows with columns, each with one at most."""

import numpy as np

from cython_ext.structures.matching.layout import layout
from cython_ext.structures.matching.matching import Matching
from cython_ext.tasks.common import zero_one
from cython_ext.tasks.registry import LINEAR, TaskInfo


def build(dataset):
    """(Structure, FeatureMap) of a MatchingDataset."""
    from cython_ext.features.parts.rows import PartRows
    from cython_ext.features.tokens.sparse_rows import SparseRows

    structure = Matching(
        layout(dataset.offsets, dataset.link_rows, dataset.link_columns, dataset.sure, dataset.possible)
    )
    rows = SparseRows(dataset.indptr, dataset.indices, dataset.values, len(dataset.attributes))
    return structure, PartRows(rows, dataset.offsets, np.diff(structure.layout.first_row))


def wrong_links():
    from cython_ext.losses.matching import WrongLinks

    return WrongLinks


INFO = TaskInfo(
    name='matching',
    summary='links of rows with columns, each with one at most',
    build=build,
    losses={'hamming': wrong_links, 'zero-one': zero_one},
    default_loss='hamming',
    refused={
        **dict.fromkeys(LINEAR, 'links have one weight for each attribute: use the linear kernel'),
        'feature_set': 'every attribute has a weight in matchings: use --feature-set all',
    },
)
