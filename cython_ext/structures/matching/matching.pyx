"""Matchings of rows and columns: a row is linked with one column at most, and a column with one row.

Example i has links that an output may have, each from a row to a column; rows and columns are those that occur in them.
Part p is the p-th link as the data list them, and behind the links each row has one part more, for the row without a
link: an output has one part of each row. Its code is, for each row, the number of its link among those of the row, from
0 in the order of their columns, or how many these are where it has none.

The best matching is an assignment (kernels/matching/assignment.h). The K best are found by partition, where the best
output of a part of a set goes on from the best one of the whole set, by a single path. Sums over all matchings are
permanents, which nobody knows how to compute (#P-hard, Valiant 1979): there is no exp oracle.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from cython_ext.kernels.matching cimport assignment as kernel
from cython_ext.structures cimport partition
from cython_ext.structures.partition cimport Choices
from cython_ext.structures.structure cimport RankedStructure, Structure


cdef class Matching(RankedStructure):
    """layout: a matching_layout.Layout."""

    def __init__(self, layout not None):
        cdef const int64_t[::1] offsets = layout.offsets, first_row = layout.first_row, begin = layout.begin
        cdef const int32_t[::1] column = layout.column, part = layout.part, columns = layout.columns
        cdef const int32_t[::1] gold_codes = layout.gold_codes
        self.layout = layout
        self.offsets, self.first_row, self.begin = &offsets[0], &first_row[0], &begin[0]
        self.column, self.part, self.columns, self.gold_codes = &column[0], &part[0], &columns[0], &gold_codes[0]
        self.n = len(layout.offsets) - 1
        rows = np.diff(layout.first_row)
        self.max_code = self.max_parts = int(rows.max(initial=0))
        self.max_size = int((np.diff(layout.offsets) + rows).max(initial=0))
        self.most_columns = int(layout.columns.max())
        self.choices = RowChoices(self)

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        return self.links(i) + self.code_length(i)

    cdef Py_ssize_t _code_length(self, Py_ssize_t i) noexcept nogil:
        """The number of rows."""
        return <Py_ssize_t> (self.first_row[i + 1] - self.first_row[i])

    cdef const int32_t *gold(self, Py_ssize_t i) noexcept nogil:
        return self.gold_codes + self.first_row[i]

    cdef Py_ssize_t links_of(self, Py_ssize_t i, Py_ssize_t r) noexcept nogil:
        """How many links row r has."""
        cdef const int64_t *begin = self.begin + self.first_row[i] + r
        return <Py_ssize_t> (begin[1] - begin[0])

    cdef Py_ssize_t part_of(self, Py_ssize_t i, Py_ssize_t r, Py_ssize_t v) noexcept nogil:
        """The part of row r with link v, or without a link."""
        if v < self.links_of(i, r):
            return self.part[self.begin[self.first_row[i] + r] + v]
        return self.links(i) + r

    cdef Py_ssize_t _parts(self, Py_ssize_t i, const int32_t *code, int32_t *ids, double *counts) noexcept nogil:
        cdef Py_ssize_t r, rows = self.code_length(i)
        for r in range(rows):
            ids[r] = <int32_t> self.part_of(i, r, code[r])
            counts[r] = 1.0
        return rows

    cdef bint valid(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        cdef const int64_t *begin = self.begin + self.first_row[i]
        cdef Py_ssize_t r, s
        for r in range(self.code_length(i)):
            if not 0 <= code[r] <= self.links_of(i, r):
                return False
            if code[r] == self.links_of(i, r):
                continue
            for s in range(r):
                if code[s] < self.links_of(i, s) and self.column[begin[s] + code[s]] == self.column[begin[r] + code[r]]:
                    return False
        return True

    cdef Py_ssize_t scratch_size(self, Py_ssize_t k) noexcept nogil:
        # of an assignment; its potentials and its code are kept for others that begin with it
        cdef Py_ssize_t kept = self.max_code + self.most_columns + (self.max_code + 1) // 2 if k > 1 else 0
        return partition.scratch_size(self, k) + kept + kernel.assignment_size(self.max_code, self.most_columns)

    cdef Py_ssize_t links(self, Py_ssize_t i) noexcept nogil:
        return <Py_ssize_t> (self.offsets[i + 1] - self.offsets[i])

    cdef double max(self, Py_ssize_t i, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        return kernel.assign(self.code_length(i), self.columns[i], self.begin + self.first_row[i],
                             self.column, self.part, theta, theta + self.links(i), scratch, code)

    cdef double max_again(self, Py_ssize_t i, Py_ssize_t r, const double *theta, const double *potentials,
                          const int32_t *known, double *scratch, int32_t *code) noexcept nogil:
        """max where it was `known`, before row r was forbidden what it has there."""
        return kernel.assign_again(self.code_length(i), self.columns[i], self.begin + self.first_row[i], self.column,
                                   self.part, theta, theta + self.links(i), r, potentials, known, scratch, code)

    cdef Py_ssize_t topk(self, Py_ssize_t i, const double *theta, Py_ssize_t k, double *scratch, double *values,
                         int32_t *codes) noexcept nogil:
        return partition.topk(self, self.choices, i, theta, k, scratch, values, codes)


cdef class RowChoices(Choices):
    """A position is a row, a value one of its links, or none."""

    def __init__(self, Matching structure not None):
        self.structure = structure

    cdef Py_ssize_t positions(self, Py_ssize_t i) noexcept nogil:
        return self.structure.code_length(i)

    cdef Py_ssize_t values(self, Py_ssize_t i, Py_ssize_t p) noexcept nogil:
        return self.structure.links_of(i, p) + 1

    cdef Py_ssize_t part(self, Py_ssize_t i, Py_ssize_t p, Py_ssize_t v) noexcept nogil:
        return self.structure.part_of(i, p, v)

    cdef void found(self, Py_ssize_t i, const double *scores, const int32_t *code, double *scratch) noexcept nogil:
        """Solves it again for the potentials, which belong to every best output."""
        cdef Py_ssize_t potentials = self.structure.code_length(i) + self.structure.columns[i]
        cdef int32_t *again = <int32_t *> (scratch + potentials)
        cdef double *work = scratch + potentials + (self.structure.code_length(i) + 1) // 2
        self.structure.max(i, scores, work, again)
        memcpy(scratch, work, potentials * sizeof(double))

    cdef double best_without(self, Structure structure, Py_ssize_t i, Py_ssize_t p, const double *scores,
                             const int32_t *code, double *scratch, int32_t *best) noexcept nogil:
        cdef Py_ssize_t rows = self.structure.code_length(i)
        cdef Py_ssize_t kept = rows + self.structure.columns[i] + (rows + 1) // 2
        return self.structure.max_again(i, p, scores, scratch, code, scratch + kept, best)
