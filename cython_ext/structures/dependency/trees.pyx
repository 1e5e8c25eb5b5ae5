"""What heads are: trees or not, projective or not, with how many roots. The root is 0, words are 1..T."""

import numpy as np

from libc.stdint cimport int32_t, int64_t


def trees(heads, offsets):
    """Whether the heads of each sentence make a tree, bool[n]. heads: int[N]; sentence i has those from offsets[i] to
    offsets[i + 1] - 1."""
    return _of_each(heads, offsets, 0).astype(bool)


def projective_sentences(heads, offsets):
    """Whether the heads of each sentence make a tree without crossing arcs, bool[n]."""
    return _of_each(heads, offsets, 1).astype(bool)


def roots(heads, offsets):
    """How many words of each sentence hang from the root, int64[n]."""
    return _of_each(heads, offsets, 2)


def projective(heads):
    """Whether the heads of one sentence make a tree without crossing arcs."""
    return bool(projective_sentences(heads, [0, len(heads)])[0])


def _of_each(heads, offsets, int question):
    cdef const int32_t[::1] head_view = np.append(np.asarray(heads, np.int32), np.int32(0))
    cdef const int64_t[::1] offset_view = np.ascontiguousarray(offsets, np.int64)
    cdef int64_t[::1] out = np.zeros(len(offset_view) - 1, np.int64)
    cdef Py_ssize_t i, T
    cdef const int32_t *mine
    for i in range(len(out)):
        T, mine = offset_view[i + 1] - offset_view[i], &head_view[offset_view[i]]
        if question == 2:
            out[i] = roots_of(T, mine)
        else:
            out[i] = is_tree(T, mine) and not (question == 1 and crosses(T, mine))
    return np.asarray(out)
