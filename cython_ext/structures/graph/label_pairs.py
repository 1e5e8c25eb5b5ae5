"""Which pairs of labels have weights: int32[P, 2], the smaller number first, ascending."""

import numpy as np

NUMBERS_AT_ONCE = 1 << 24  # numbers of the table of examples and labels that are looked at together


def all_pairs(labels):
    """Every pair of so many labels."""
    return np.stack(np.triu_indices(labels, 1), axis=1).astype(np.int32)


def counts_together(indptr, ids, labels):
    """int64[labels, labels]: in how many of the sets ids[indptr[i]:indptr[i + 1]] two labels are together, with their
    own counts on the diagonal."""
    counts = np.zeros((labels, labels))
    step = max(1, NUMBERS_AT_ONCE // max(1, labels))
    for first in range(0, len(indptr) - 1, step):
        bounds = indptr[first : first + step + 1]
        table = np.zeros((len(bounds) - 1, labels), np.float32)
        table[np.repeat(np.arange(len(table)), np.diff(bounds)), ids[bounds[0] : bounds[-1]]] = 1
        counts += table.T @ table  # whole numbers, exact as far as NUMBERS_AT_ONCE
    return counts.astype(np.int64)


def mutual_information(indptr, ids, labels):
    """float64[labels, labels], in nats, of each two labels of some sets, with one more set of each of the four kinds:
    with both labels, either, none."""
    n = len(indptr) - 1
    whole = np.arange(n + 5)
    weighed = whole * np.log(np.maximum(whole, 1))  # x log x; from a table, so that equal counts give equal numbers
    both = counts_together(indptr, ids, labels)
    single = np.diag(both)
    only = single[:, None] - both  # the first label without the second
    neither = n - single[:, None] - only.T
    joint = (weighed[both + 1] + weighed[neither + 1]) + (weighed[only + 1] + weighed[only.T + 1])
    alone = weighed[single + 2] + weighed[n - single + 2]
    return (joint - (alone[:, None] + alone[None, :]) + weighed[n + 4]) / (n + 4)


def spanning_tree(values):
    """The pairs of the tree over all labels with the largest sum of values (float64[labels, labels], symmetric). Of
    equal ones, values that differ by no more than rounding, the pair that comes first is taken first."""
    labels = len(values)
    if labels < 2:
        return np.zeros((0, 2), np.int32)
    values = np.round(values, 12)
    number = np.arange(labels)
    rank = np.minimum(number[:, None], number) * labels + np.maximum(number[:, None], number)  # of a pair among all
    best, pair, out = values[0].copy(), rank[0].copy(), number > 0  # the best pair that joins a label to the tree
    found = []
    for _ in range(labels - 1):
        tops = np.flatnonzero(out & (best == best[out].max()))
        label = tops[pair[tops].argmin()]
        found.append(divmod(int(pair[label]), labels))
        out[label] = False
        nearer = (values[label] > best) | ((values[label] == best) & (rank[label] < pair))
        best, pair = np.where(nearer, values[label], best), np.where(nearer, rank[label], pair)
    return np.array(sorted(found), np.int32)


def chow_liu(indptr, ids, labels):
    """The pairs of the tree with the most mutual information, that of the likeliest tree-shaped distribution of some
    sets (Chow and Liu 1968)."""
    return spanning_tree(mutual_information(indptr, ids, labels))
