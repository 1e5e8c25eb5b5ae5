"""StateRows of datasets, of features that have a value for each joint state: taken apart and put together."""

import numpy as np

from cython_ext.structures.graph.layout import StateRows
from data_formats.datasets.tokens import indptr_of, ranges_of


def states_of(rows, chosen):
    """The StateRows of the given rows."""
    counts = rows.indptr[chosen + 1] - rows.indptr[chosen]
    entries = ranges_of(rows.indptr[chosen], counts)
    return StateRows(indptr_of(counts), rows.indices[entries], rows.states[entries], rows.values[entries])


def joined_states(parts):
    """One StateRows from several."""
    counts = np.concatenate([np.diff(rows.indptr) for rows in parts])
    return StateRows(indptr_of(counts), *(np.concatenate(each) for each in list(zip(*parts, strict=True))[1:]))


def kept_states(rows, new):
    """The StateRows with every attribute k renumbered to new[k], ascending, or dropped where that is -1."""
    kept = new[rows.indices] >= 0
    before = np.concatenate([[0], np.cumsum(kept)])
    return StateRows(before[rows.indptr], new[rows.indices[kept]], rows.states[kept], rows.values[kept])


def rows_with(rows, attributes):
    """In how many of the StateRows each attribute is, int64[attributes]."""
    row = np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))
    return np.bincount(np.unique(row * max(attributes, 1) + rows.indices) % max(attributes, 1), minlength=attributes)
