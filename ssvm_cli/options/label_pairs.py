"""--pairs: which pairs of labels have weights (multilabel)."""

import os

from cython_ext.structures.graph.elimination import MAX_TABLE_DOUBLES
from data_formats.errors import UsageError
from ssvm_cli.terminal.resources import total_memory

NAMES = ('all', 'tree', 'none')
MAX_FACTORS = 1 << 25  # of relaxations of all pairs: passes over more of them take long, and there are hundreds
MAX_PAIRS = 1 << 20  # of graphs that have oracles of their own
FACTOR_BYTES = 470  # that soft constraints need for each factor, as measured
PASS_SECONDS = 2.5e-7  # that a pass takes for each
GB = 2**30


def check_pairs(o):
    """Refuse a file that is not there, before any data are read."""
    if o.pairs not in NAMES and not os.path.exists(o.pairs):
        raise UsageError(f'--pairs {o.pairs}: no such file (expected {", ".join(NAMES)} or a file)')


def requested_pairs(o, dataset):
    """[[j, k], ...] of the labels of a LabelSetDataset, ascending; None where all pairs are asked for.

    Raises:
        DataError: FILE:LINE of what is malformed.
    """
    if o.pairs == 'all':
        return None
    if o.pairs == 'none':
        return []
    if o.pairs == 'tree':
        from cython_ext.structures.graph.label_pairs import chow_liu

        return chow_liu(dataset.label_indptr, dataset.label_ids, len(dataset.label_names)).tolist()
    from data_formats.classes.label_pairs import read_pairs

    return read_pairs(o.pairs, dataset.label_names.names())


def check_size(name, dataset, pairs, relaxation):
    """Raise UsageError where there are so many factors that training cannot end. name: of --pairs; pairs: as of
    requested_pairs; relaxation: of the problem, None where there is none unless it is necessary."""
    labels = len(dataset.label_names)
    count = labels * (labels - 1) // 2 if pairs is None else len(pairs)
    if count <= MAX_PAIRS and (relaxation == 'none' or (relaxation is None and 2 ** (labels + 1) <= MAX_TABLE_DOUBLES)):
        return
    factors, there = dataset.n * (labels + count), total_memory()
    needed = FACTOR_BYTES * factors
    if (pairs is None and factors > MAX_FACTORS) or (there is not None and needed > there):
        raise UsageError(
            f'--pairs {name}: {count:,} pairs of {labels:,} labels in {dataset.n:,} examples are {factors:,} factors, '
            f'which need about {needed / GB:.2g} GB and {PASS_SECONDS * factors:.2g} s for each of hundreds of passes '
            '(--pairs tree and --pairs none are exact and fast; --pairs FILE lists the pairs that matter)'
        )


def said_of_pairs(structure):
    """The pairs for people, '' where all have weights."""
    pairs = structure.get('pairs')
    if pairs is None:
        return ''
    return f', {len(pairs):,} pair{"s" if len(pairs) != 1 else ""} of labels' if pairs else ', no pairs of labels'
