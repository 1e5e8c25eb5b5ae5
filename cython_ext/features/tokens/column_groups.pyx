"""Attributes that always occur together share one column.

Columns of ones that are equal have equal weights at the optimum, and in every iterate of a method that starts at 0
and looks at inner products only. k of them are therefore replaced by a single column of value sqrt(k): the scores of
w_j = v / sqrt(k) and the norm stay the same. In text most attributes that occur once stand on a token with
others of that kind, so the weight vector gets shorter by a quarter or more. Other weights (those of a hand-edited
model) cannot be written in this form, so only training does it.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

MAX_SHARE_OF_GROUPS = 0.9                 # groups / columns above which nothing is gained


cdef class ColumnGroups:
    """group: int32[columns], the column that stands for each; sizes: int32[groups]."""

    cdef readonly object group, sizes

    def __init__(self, group, sizes):
        self.group, self.sizes = group, sizes

    def expand(self, rows):
        """Weights [columns, K] from those of the groups [groups, K]."""
        out = np.asarray(rows[self.group], np.float64)
        out /= np.sqrt(self.sizes)[self.group, None]
        return out

    def reduce(self, rows):
        """The weights [groups, K] that give the same scores as rows [columns, K]; exact where equal columns have equal
        weights, otherwise of smaller norm."""
        out = np.zeros((len(self.sizes), rows.shape[1]))
        np.add.at(out, self.group, rows)
        return out / np.sqrt(self.sizes)[:, None]

    def entries(self, const int64_t[::1] indptr, const int32_t[::1] index):
        """The CSR triple (indptr, index, value) of the groups, from that of the columns."""
        cdef const int32_t[::1] group = self.group
        cdef Py_ssize_t n = len(indptr) - 1, r, count = 0
        cdef int64_t[::1] last = np.full(len(self.sizes), -1, np.int64)     # row in which a group was seen last
        cdef int64_t p
        cdef int32_t g
        starts, columns = np.zeros(n + 1, np.int64), np.empty(indptr[n], np.int32)
        cdef int64_t[::1] starts_view = starts
        cdef int32_t[::1] columns_view = columns
        with nogil:
            for r in range(n):
                for p in range(indptr[r], indptr[r + 1]):
                    g = group[index[p]]
                    if last[g] != r:
                        last[g] = r
                        columns_view[count] = g
                        count += 1
                starts_view[r + 1] = count
        columns = columns[:count].copy()
        values = np.sqrt(self.sizes)[columns]
        return starts, columns, values


def column_groups(const int64_t[::1] indptr, const int32_t[::1] index, Py_ssize_t columns):
    """The ColumnGroups of a CSR matrix of ones, or None where few columns are equal.

    Partition refinement: all columns begin in one group, and every row splits the groups of which it has some columns
    but not all. Groups are numbered by their first column, so that rows stay ascending.
    """
    group, sizes = np.zeros(columns, np.int32), np.zeros(columns + 1, np.int32)
    cdef int32_t[::1] at = group, size = sizes
    cdef int32_t[::1] here = np.zeros(columns + 1, np.int32), target = np.zeros(columns + 1, np.int32)
    cdef int64_t[::1] row = np.full(columns + 1, -1, np.int64)          # the last row that has some of a group
    cdef Py_ssize_t r, n = len(indptr) - 1, groups = 1
    cdef int64_t p
    cdef int32_t g
    if columns == 0:
        return None
    size[0] = <int32_t> columns
    with nogil:
        for r in range(n):
            for p in range(indptr[r], indptr[r + 1]):
                g = at[index[p]]
                if row[g] != r:
                    row[g], here[g], target[g] = r, 0, -1
                here[g] += 1
            for p in range(indptr[r], indptr[r + 1]):
                g = at[index[p]]
                if target[g] < 0 and here[g] == size[g]:
                    target[g] = g
                elif target[g] < 0:
                    target[g] = <int32_t> groups
                    groups += 1
                if target[g] != g:
                    at[index[p]] = target[g]
                    size[g] -= 1
                    size[target[g]] += 1
    if groups > MAX_SHARE_OF_GROUPS * columns:
        return None
    return renumbered(group, groups)


def renumbered(group, groups):
    """ColumnGroups whose groups are in the order of their first columns."""
    _, first, group = np.unique(group, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(groups, np.int32)
    place[order] = np.arange(groups, dtype=np.int32)
    group = place[group]
    return ColumnGroups(group, np.bincount(group).astype(np.int32))
