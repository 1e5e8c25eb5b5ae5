"""The links of matchings sorted by their rows, with their gold codes: arrays that matching.pyx reads."""

from dataclasses import dataclass

import numpy as np

from cython_ext.structures.structure import padded


@dataclass
class Layout:
    """n examples with L links and R rows in all; rows and columns without a link are left out, the others numbered in
    their order. Every array that may be empty has one element more than is used, so that there is a first one."""

    offsets: np.ndarray  # int64 [n + 1], links of each example
    first_row: np.ndarray  # int64 [n + 1], rows of each example
    begin: np.ndarray  # int64 [R + 1], sorted links of each row
    order: np.ndarray  # int64 [L], the sorted links as the data have them
    column: np.ndarray  # int32 [L + 1], of each sorted link, numbered within its example
    part: np.ndarray  # int32 [L + 1], of each sorted link: its place among those of the example in the data
    columns: np.ndarray  # int32 [n + 1], how many each example has
    gold_codes: np.ndarray  # int32 [R + 1], code of each row in the gold output: the first of its links that are right
    costs: np.ndarray  # float64 [L + R + 1], what each part costs (losses/matching.pyx), example by example

    def links(self, i, code):
        """int64: the links of an output, in the order of rows, as places among those of example i in the data."""
        begin = self.begin[self.first_row[i] : self.first_row[i + 1] + 1]
        return self.part[(begin[:-1] + code)[code < np.diff(begin)]]


def layout(offsets, rows, columns, sure, possible):
    """The Layout of links: int64 [n + 1] those of each example, int32 [L] their rows and columns, bool [L] which are
    right, and which are not but cost nothing."""
    offsets = np.ascontiguousarray(offsets, np.int64)
    example = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((columns, rows, example))
    new_row = starts(example[order], np.asarray(rows)[order])
    row_of = np.cumsum(new_row) - 1
    begin = np.append(np.flatnonzero(new_row), len(order))
    first_row = np.searchsorted(example[order][new_row], np.arange(len(offsets)))
    numbers, counts = numbered(example, np.asarray(columns), len(offsets) - 1)
    gold = np.diff(begin)  # no link
    chosen = np.flatnonzero(np.asarray(sure)[order])[::-1]  # so that the first one stays
    gold[row_of[chosen]] = chosen - begin[row_of[chosen]]
    return Layout(
        offsets=offsets,
        first_row=first_row.astype(np.int64),
        begin=begin.astype(np.int64),
        order=order,
        column=padded(numbers[order].astype(np.int32)),
        part=padded((order - offsets[example[order]]).astype(np.int32)),
        columns=padded(counts.astype(np.int32)),
        gold_codes=padded(gold.astype(np.int32)),
        costs=padded(_costs(offsets, first_row, example[order], row_of, order, gold < np.diff(begin), sure, possible)),
    )


def starts(*keys):
    """bool [L]: where one of the keys (int [L]) differs from the element before."""
    new = np.ones(len(keys[0]), bool)
    new[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    return new


def numbered(example, columns, n):
    """(int [L] the columns numbered from 0 within each example, int [n] how many there are)."""
    order = np.lexsort((columns, example))
    new = starts(example[order], columns[order])
    counts = np.bincount(example[order][new], minlength=n)
    numbers = np.empty(len(columns), np.int64)
    numbers[order] = np.cumsum(new) - 1
    return numbers - (np.cumsum(counts) - counts)[example], counts


def _costs(offsets, first_row, example, row_of, order, linked, sure, possible):
    """The number of wrong links that each part stands for. A gold link that is missing is counted in its row, at every
    other part of it; a link that is not right is counted at its own part, unless it is possible."""
    at = offsets + first_row  # where the parts of each example begin
    costs = np.zeros(at[-1])
    missing, added = linked[row_of].astype(float), ~np.asarray(possible, bool)[order]
    costs[at[example] + order - offsets[example]] = np.where(np.asarray(sure, bool)[order], 0.0, missing + added)
    rows = np.arange(len(linked))
    owner = np.searchsorted(first_row, rows, side='right') - 1
    costs[at[owner] + np.diff(offsets)[owner] + rows - first_row[owner]] = linked
    return costs
