"""Where the sequences of alignments and their gold codes stand: arrays that alignment.pyx reads."""

from dataclasses import dataclass

import numpy as np

from cython_ext.structures.structure import padded

HEAD = 3  # numbers of a code before its steps


@dataclass
class Layout:
    """n examples with S sequences in all. Every array has one element more than is used, so that there is a first
    one."""

    offsets: np.ndarray  # int64 [n + 1], sequences of each example: the native, then its candidates
    starts: np.ndarray  # int64 [S + 1], letters of each sequence
    letters: np.ndarray  # uint8
    gold_candidates: np.ndarray  # int32 [n], which candidate is gold, -1 where none is known
    by_length: np.ndarray  # int32 [S - n], candidates of each example, the shortest first
    gold_starts: np.ndarray  # int64 [n + 1], gold codes in
    gold_codes: np.ndarray  # int32
    most_candidates: int
    longest: int  # letters of the longest candidate
    cells: int  # of the largest dynamic program
    most_pairs: int  # of letters that an alignment can have


def layout(offsets, starts, letters, gold, gold_begins, steps, step_indptr):
    """The Layout of arrays as data_formats/datasets/alignment.py has them."""
    offsets, starts = np.ascontiguousarray(offsets, np.int64), np.ascontiguousarray(starts, np.int64)
    lengths, counts = np.diff(starts), np.diff(offsets) - 1
    native = np.zeros(len(lengths), bool)
    native[offsets[:-1]] = True
    example = np.repeat(np.arange(len(counts)), counts + 1)
    order = np.lexsort((np.where(native, -1, lengths), example))
    order = order[~native[order]]
    longest = np.zeros(len(counts), np.int64)
    np.maximum.at(longest, example[order], lengths[order])
    own = lengths[offsets[:-1]]
    gold_starts, gold_codes = _gold(own + longest, gold, gold_begins, steps, step_indptr)
    return Layout(
        offsets=offsets,
        starts=starts,
        letters=padded(np.asarray(letters, np.uint8)),
        gold_candidates=padded(np.asarray(gold, np.int32)),
        by_length=padded(np.asarray(order - offsets[example[order]] - 1, np.int32)),
        gold_starts=gold_starts,
        gold_codes=gold_codes,
        most_candidates=int(counts.max(initial=0)),
        longest=int(longest.max(initial=0)),
        cells=int(((own + 1) * (longest + 1)).max(initial=0)),
        most_pairs=int(np.minimum(own, longest).max(initial=0)),
    )


def _gold(width, gold, gold_begins, steps, step_indptr):
    """(int64 [n + 1] where the codes begin, int32 codes) of gold outputs; width: int64 [n], the most steps."""
    begins = np.zeros(len(width) + 1, np.int64)
    np.cumsum(HEAD + width, out=begins[1:])
    codes = np.zeros(begins[-1] + 1, np.int32)
    codes[begins[:-1]] = gold
    for k in (0, 1):
        codes[begins[:-1] + 1 + k] = gold_begins[:, k]
    places = np.repeat(begins[:-1] + HEAD - step_indptr[:-1], np.diff(step_indptr)) + np.arange(len(steps))
    codes[places] = steps
    return begins, codes
