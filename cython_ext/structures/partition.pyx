"""The K best outputs of a structure that has the max oracle alone, by partition (Lawler 1972; Murty 1968 for
assignments; the scheme of Yanover and Weiss's BMMF, with an exact oracle).

It is for codes that choose a value for each of some positions: the label of a node, the column of a row, the arc into a
word. The outputs
that are left after some have been found fall into sets: those that agree with one of the found before position
`first`, and differ there from all found that do so, too. The best one of every set is a candidate, and the best
candidate the next to be found; its set, without it, is parted by the first position at which an output differs from it.
To ask the oracle for the best of a set, the parts of values that are ruled out score -inf.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from cython_ext.structures.structure cimport Structure
from cython_ext.structures.structure import padded


cdef class Choices:
    """What values the codes of a structure choose from: one of 0, ..., values(i, p) - 1 at each position p, and an
    output has the part of each value that it chooses, and of no other value. A value that means that nothing is chosen
    needs a part, too; let it score 0."""

    cdef Py_ssize_t positions(self, Py_ssize_t i) noexcept nogil:
        """How many positions the codes of example i have."""
        return 0

    cdef Py_ssize_t values(self, Py_ssize_t i, Py_ssize_t p) noexcept nogil:
        """How many values position p has."""
        return 0

    cdef Py_ssize_t part(self, Py_ssize_t i, Py_ssize_t p, Py_ssize_t v) noexcept nogil:
        """The part that stands for value v at position p, -1 where no output has that value."""
        return -1

    cdef Py_ssize_t chosen(self, Py_ssize_t i, Py_ssize_t p, const int32_t *code) noexcept nogil:
        """The part of the value that a code chooses at position p; the value is code[p], unless a subclass says
        more."""
        return self.part(i, p, code[p])

    cdef void force(self, Py_ssize_t i, Py_ssize_t p, Py_ssize_t only, const double *theta,
                    double *scores) noexcept nogil:
        """Rules out, at position p, all values but that of one part."""
        cdef Py_ssize_t v, part
        for v in range(self.values(i, p)):
            part = self.part(i, p, v)
            if part >= 0:
                scores[part] = theta[part] if part == only else -INFINITY

    cdef void found(self, Py_ssize_t i, const double *scores, const int32_t *code, double *scratch) noexcept nogil:
        """Called before best_without, with the same scratch: `code` is the best output under these scores. The scratch
        is as structure.max has left it for the unaltered scores, but for what these two write."""

    cdef double best_without(self, Structure structure, Py_ssize_t i, Py_ssize_t p, const double *scores,
                             const int32_t *code, double *scratch, int32_t *best) noexcept nogil:
        """structure.max under these scores, which rule out more than those that `code` was found with: positions before
        p have no value but that of the code, and p does not have it. A structure that can go on from the code may do
        so."""
        return structure.max(i, scores, scratch, best)

    def topk_of(self, Structure structure not None, Py_ssize_t i, const double[::1] theta, Py_ssize_t k):
        """(values [r], codes [r, code_size]) of the r <= k best outputs, as RankedStructure.topk_oracle; for tests."""
        cdef double[::1] scratch = np.empty(scratch_size(structure, k) + structure.scratch_size(1) + 1)
        cdef double[::1] scores = padded(theta)
        cdef Py_ssize_t length = structure.code_length(i)
        values, codes = np.empty(k), np.empty(k * length + 1, np.int32)
        cdef double[::1] values_view = values
        cdef int32_t[::1] codes_view = codes
        cdef Py_ssize_t count = topk(structure, self, i, &scores[0], k, &scratch[0], &values_view[0], &codes_view[0])
        return values[:count], codes[:count * length].reshape(count, length)


cdef class LabelChoices(Choices):
    """structure: one whose codes are labels, and whose theta begins with a row of label scores for each position;
    n_labels, stride: of such a row."""

    def __init__(self, Structure structure not None, Py_ssize_t n_labels, Py_ssize_t stride):
        self.structure, self.n_labels, self.stride = structure, n_labels, stride

    cdef Py_ssize_t positions(self, Py_ssize_t i) noexcept nogil:
        return self.structure.code_length(i)

    cdef Py_ssize_t values(self, Py_ssize_t i, Py_ssize_t p) noexcept nogil:
        return self.n_labels

    cdef Py_ssize_t part(self, Py_ssize_t i, Py_ssize_t p, Py_ssize_t v) noexcept nogil:
        return p * self.stride + v


cdef Py_ssize_t scratch_size(Structure structure, Py_ssize_t k) noexcept nogil:
    """Doubles that topk needs in front of what the max oracle does."""
    if k == 1:
        return 0
    # scores; values of candidates; their first positions and codes, one more code
    return structure.max_size + k + (k + (k + 1) * structure.max_code + 1) // 2


cdef Py_ssize_t topk(Structure structure, Choices choices, Py_ssize_t i, const double *theta, Py_ssize_t k,
                     double *scratch, double *values, int32_t *codes) noexcept nogil:
    """As RankedStructure.topk, with as many calls of best_without as there are positions for each output that is found.
    scratch: scratch_size(structure, k) doubles, then those of the max oracle and of best_without."""
    cdef Py_ssize_t P = choices.positions(i), N = structure.code_length(i), count = 0, candidates = 0, first = 0, p, c
    cdef double *scores = scratch
    cdef double *value = scores + structure.max_size            # of the candidates, best first
    cdef int32_t *begin = <int32_t *> (value + k)               # their first positions
    cdef int32_t *candidate = begin + k
    cdef int32_t *code = candidate + k * N
    cdef double *own = scratch + scratch_size(structure, k)
    cdef const int32_t *last
    values[0] = structure.max(i, theta, own, codes)
    while True:
        last = codes + N * count
        count += 1
        if count == k or values[count - 1] == -INFINITY or structure.stopped():
            return count
        memcpy(scores, theta, structure.num_parts(i) * sizeof(double))
        for p in range(first):
            choices.force(i, p, choices.chosen(i, p, last), theta, scores)
        for c in range(count - 1):                              # behind `first` it agrees with none of them
            if agree(choices, i, first, codes + N * c, last):
                scores[choices.chosen(i, first, codes + N * c)] = -INFINITY
        choices.found(i, scores, last, own)
        for p in range(first, P):
            scores[choices.chosen(i, p, last)] = -INFINITY
            if any_left(choices, i, p, scores):
                candidates = keep(choices.best_without(structure, i, p, scores, last, own, code), <int32_t> p, code, N,
                                  k - count, candidates, value, begin, candidate)
            choices.force(i, p, choices.chosen(i, p, last), theta, scores)
        if candidates == 0:
            return count
        # the best value may be above the one before by rounding
        values[count], first = min(value[0], values[count - 1]), begin[0]
        memcpy(codes + N * count, candidate, N * sizeof(int32_t))
        candidates -= 1
        for c in range(candidates):
            value[c], begin[c] = value[c + 1], begin[c + 1]
            memcpy(candidate + N * c, candidate + N * (c + 1), N * sizeof(int32_t))


cdef bint any_left(Choices choices, Py_ssize_t i, Py_ssize_t p, const double *scores) noexcept nogil:
    """Whether position p has a value that is not ruled out."""
    cdef Py_ssize_t v, part
    for v in range(choices.values(i, p)):
        part = choices.part(i, p, v)
        if part >= 0 and scores[part] > -INFINITY:
            return True
    return False


cdef bint agree(Choices choices, Py_ssize_t i, Py_ssize_t first, const int32_t *code,
                const int32_t *other) noexcept nogil:
    """Whether two codes choose the same at the positions before `first`."""
    cdef Py_ssize_t p
    for p in range(first):
        if choices.chosen(i, p, code) != choices.chosen(i, p, other):
            return False
    return True


cdef Py_ssize_t keep(double score, int32_t first, const int32_t *code, Py_ssize_t N, Py_ssize_t most,
                     Py_ssize_t candidates, double *value, int32_t *begin, int32_t *candidate) noexcept nogil:
    """Puts an output among the `most` best candidates, behind those that score the same; how many there are."""
    cdef Py_ssize_t place = min(candidates, most), c
    while place > 0 and score > value[place - 1]:
        place -= 1
    if score == -INFINITY or place == most:
        return min(candidates, most)
    candidates = min(candidates + 1, most)
    for c in range(candidates - 1, place, -1):
        value[c], begin[c] = value[c - 1], begin[c - 1]
        memcpy(candidate + N * c, candidate + N * (c - 1), N * sizeof(int32_t))
    value[place], begin[place] = score, first
    memcpy(candidate + N * place, code, N * sizeof(int32_t))
    return candidates
