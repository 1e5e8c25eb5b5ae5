"""Sentences without words. They are no examples, but have an output each: a dataset says where they stand.

empties : int64, ascending; for each of them, how many sentences with words stand before it. None: there are none.
"""

import numpy as np

from data_formats.datasets.tokens import indptr_of


def count_empties(dataset):
    """How many sentences without words there are."""
    empties = getattr(dataset, 'empties', None)
    return 0 if empties is None else len(empties)


def numbers_of(dataset):
    """int64 [n]: the number of each example in its file, from 1."""
    places = np.arange(dataset.n)
    empties = getattr(dataset, 'empties', None)
    return places + 1 if empties is None else places + 1 + np.searchsorted(empties, places, 'right')


def with_empties(items, empties, empty):
    """A list with an item for each sentence of the file, made from those for the ones with words."""
    found, at = [], 0
    for place in () if empties is None else empties.tolist():
        found += items[at:place]
        found.append(empty)
        at = place
    return found + items[at:]


def joined(blocks):
    """The `empties` of several datasets as one."""
    before = indptr_of([block.n for block in blocks])[:-1].tolist()
    parts = [at + block.empties for at, block in zip(before, blocks, strict=True) if block.empties is not None]
    return np.concatenate(parts) if parts else None
