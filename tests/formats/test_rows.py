"""Sparse rows come out sorted, with repeated indices added up, however long they are."""

import itertools

import numpy as np
import pytest

from cython_ext.text.rows import keep_ids


def by_hand(indptr, indices, values, new):
    """The same rows as lists of (index, value)."""
    rows = []
    for start, end in itertools.pairwise(indptr):
        row = {}
        for i in range(start, end):
            if new[indices[i]] >= 0:
                row[new[indices[i]]] = row.get(new[indices[i]], 0.0) + (1.0 if values is None else values[i])
        rows.append(sorted(row.items()))
    return rows


@pytest.mark.parametrize('with_values', [False, True])
@pytest.mark.parametrize('kind', ['ascending', 'descending', 'distinct', 'repeated', 'dropped'])
def test_rows_are_sorted(kind, with_values):
    rng = np.random.default_rng(0)
    size = 200
    new = rng.permutation(size)
    if kind == 'ascending':
        new = np.arange(size)
    elif kind == 'descending':
        new = np.arange(size)[::-1]
    elif kind == 'repeated':
        new = new // 4
    elif kind == 'dropped':
        new[rng.random(size) < 0.5] = -1
    new = new.astype(np.int32)
    lengths = [*range(80), 150, 3, 0]
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.concatenate([np.sort(rng.choice(size, n, replace=False)) for n in lengths]).astype(np.int32)
    values = rng.integers(1, 9, len(indices)) / 4 if with_values else None
    to_indptr, to_indices, to_values = keep_ids(indptr, indices, values, new)
    if to_values is None:
        to_values = np.ones(len(to_indices))
    found = [
        list(zip(to_indices[a:b].tolist(), to_values[a:b].tolist(), strict=True))
        for a, b in itertools.pairwise(to_indptr)
    ]
    assert found == by_hand(indptr, indices, values, new)
