"""Where the weights of the arcs of all sentences stand, kept for many passes over them.

The features of an arc are found once. Most arcs of a sentence share them, so its weights are numbered anew: `row` says
where they stand in a weight vector, `place` which of them an arc has. A pass over a sentence then fetches each weight
once into a small table, where all sums over arcs are made (kernels/dependency/arcs.h), or brings what was added there
back.

Weights alone come in pairs (see ArcTable.locate), and both of a pair are in the same block of up to 16, of which a
sentence's weights are numbered together, so that one number is enough for two.
"""

import numpy as np

from libc.stdint cimport int64_t, uint32_t, uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from cython_ext.kernels.dependency cimport arcs
from cython_ext.kernels.vectors cimport vector
from cython_ext.features.arcs.key_table cimport ones
from cython_ext.kernels.vectors.prefetch cimport prefetch_line
from cython_ext.common.arrays import aligned_zeros

cdef extern from * nogil:
    """
    #include <sched.h>
    #include <stdint.h>
    static int ssvm_take(uint8_t *busy) { return !__atomic_test_and_set(busy, __ATOMIC_ACQUIRE); }
    static void ssvm_give_back(uint8_t *busy) { __atomic_clear(busy, __ATOMIC_RELEASE); }
    """
    bint take "ssvm_take"(uint8_t *busy) noexcept
    void give_back "ssvm_give_back"(uint8_t *busy) noexcept
    int sched_yield() noexcept

cdef enum:
    AHEAD = 16                  # places whose memory is asked for before they are numbered
    MORE = 1 << 16              # numbers for which memory is asked for beyond those needed


cdef class KeptArcs:
    """first_arcs: int64[n + 1] of each sentence; width: of a row of weights, 1 for pairs of weights alone; hashed: how
    these pairs are told; limit: bytes of places and rows."""

    def __init__(self, first_arcs, Py_ssize_t width, bint hashed, int64_t limit):
        cdef const int64_t[::1] view = first_arcs
        self.first_arcs, self.first_arc = first_arcs, &view[0]
        self.width, self.hashed, self.limit = width, hashed, limit
        begin, first_row = np.zeros(first_arcs[len(first_arcs) - 1] + 1, np.int64), np.zeros(len(first_arcs), np.int64)
        cdef int64_t[::1] begin_view = begin, row_view = first_row
        self.memory = begin, first_row
        self.begin, self.first_row = &begin_view[0], &row_view[0]

    def __dealloc__(self):
        free(self.place)
        free(self.row)

    # ------------------------------------------------------------------------------------------------- to keep them

    cdef bint put(self, Py_ssize_t arc, const uint32_t *place, Py_ssize_t count) noexcept nogil:
        """Notes places of an arc in the weight vector, after those of the arcs before it. False: no room for them."""
        cdef Py_ssize_t k
        if not reserve(&self.place, &self.place_room, self.places + count, self.limit - self.row_room * 4):
            return False
        for k in range(count):
            self.place[self.places + k] = place[k] if self.width == 1 else place[k] << 4
        self.places += count
        self.begin[arc + 1] = self.places
        return True

    cdef bint end_sentence(self, Py_ssize_t i, int64_t *mark, uint32_t block) noexcept nogil:
        """Numbers the weights of sentence i. mark: zeros, and again when this is done, for every weight; block: bits of
        a weight that tell it from the others of its block where weights are hashed, otherwise a block begins with the
        first weight of a pair."""
        cdef int64_t arc, k, at, blocks = 0, total = 0, first = self.first_row[i], begin, end
        cdef uint32_t low, high, base, bits, used
        for arc in range(self.first_arc[i], self.first_arc[i + 1]):         # a word has no arc to itself
            self.begin[arc + 1] = max(self.begin[arc], self.begin[arc + 1])
        begin, end = self.begin[self.first_arc[i]], self.begin[self.first_arc[i + 1]]
        if not reserve(&self.row, &self.row_room, first + 2 * (end - begin), self.limit - self.place_room * 4):
            return False
        for k in range(begin, end):                                         # which weights of each block are used
            if k + AHEAD < end:
                prefetch_line(mark + (self.place[k + AHEAD] >> 4 & ~block))
            self.pair(self.place[k], &low, &high)
            base = low & ~block
            used, bits = <uint32_t> mark[base], 1 << (low - base) | 1 << (high - base)
            if used == 0:
                self.row[first + blocks] = base
                blocks += 1
            if bits & ~used:
                mark[base] = used | bits
                total += ones(bits & ~used)
        at = first + total
        for k in range(first + blocks - 1, first - 1, -1):                  # blocks become weights, from the last one
            base = self.row[k]
            bits = <uint32_t> mark[base]
            at -= ones(bits)
            mark[base] = (at - first) << 16 | bits
            spread(base, bits, self.row + at)
        for k in range(begin, end):
            self.pair(self.place[k], &low, &high)
            base = low & ~block
            used = <uint32_t> (mark[base] & 0xFFFF)
            self.place[k] = <uint32_t> (mark[base] >> 16) + ones(used & ((1 << (low - base)) - 1))
            if self.width == 1:
                bits = (1 << (high - base)) - (1 << (low - base))           # from one of the pair to the other
                self.place[k] = self.place[k] << 4 | ones(used & bits)
        for k in range(first, first + total):
            mark[self.row[k] & ~block] = 0
        self.first_row[i + 1] = first + total
        self.most = max(self.most, total)
        return True

    def settle(self):
        """What is kept, is: makes the tables. Those of threads take memory when they are used first."""
        cdef double[::1] table = aligned_zeros(self.most * self.width + 1)
        cdef double[::1] tables = aligned_zeros(TABLES * self.most * self.width + 1)
        self.memory = *self.memory, table, tables
        self.table, self.tables = &table[0], &tables[0]

    cdef inline void pair(self, uint32_t place, uint32_t *low, uint32_t *high) noexcept nogil:
        """The weights of a place as ArcTable has it, in ascending order; the same twice, where there is one."""
        cdef uint32_t first = place >> 4, second = first ^ (place & 15) if self.hashed else first + (place & 15)
        low[0], high[0] = min(first, second), max(first, second)

    # ---------------------------------------------------------------------------------------------- one arc of a vector

    cdef uint32_t where(self, Py_ssize_t i, uint32_t place) noexcept nogil:
        """The place as ArcTable has it, or with its two weights in the other order."""
        cdef const uint32_t *row = self.row + self.first_row[i]
        cdef uint32_t first
        if self.width > 1:
            return row[place]
        first, place = row[place >> 4], row[(place >> 4) + (place & 15)]
        return first << 4 | (first ^ place if self.hashed else place - first)

    # ------------------------------------------------------------------------------------------------ a whole sentence

    cdef void scores(self, Py_ssize_t i, const double *w, Py_ssize_t stride, double *theta) noexcept nogil:
        """Adds the scores of rows to those of weights alone, which are the first of each arc and come first."""
        cdef Py_ssize_t t = 0
        while not take(&self.busy[t]):
            t = (t + 1) % TABLES
            if t == 0:
                sched_yield()
        cdef double *table = self.tables + t * self.most * self.width
        arcs.load(self.rows_of(i), self.row + self.first_row[i], self.width, w, table)
        self.sum(i, table, stride, theta)
        give_back(&self.busy[t])

    cdef void sum(self, Py_ssize_t i, const double *table, Py_ssize_t stride, double *theta) noexcept nogil:
        cdef Py_ssize_t count = self.first_arc[i + 1] - self.first_arc[i]
        if self.width == 1:
            arcs.scores(count, self.begin + self.first_arc[i], self.place, table, stride, theta)
        else:
            arcs.row_scores(count, self.begin + self.first_arc[i], self.place, table, stride, theta)

    # The table that is held, for one thread at a time.

    cdef void clear(self, Py_ssize_t i) noexcept nogil:
        memset(self.table, 0, self.rows_of(i) * self.width * sizeof(double))

    cdef void add(self, Py_ssize_t i, const double *a, Py_ssize_t stride) noexcept nogil:
        """Adds a vector over the parts of sentence i."""
        cdef Py_ssize_t count = self.first_arc[i + 1] - self.first_arc[i]
        if self.width == 1:
            arcs.add(count, self.begin + self.first_arc[i], self.place, stride, a, self.table)
        else:
            arcs.add_rows(count, self.begin + self.first_arc[i], self.place, stride, a, self.table)

    cdef void add_part(self, Py_ssize_t i, Py_ssize_t arc, Py_ssize_t which, double a) noexcept nogil:
        """Adds a to one arc with one relation."""
        cdef int64_t k, begin = self.begin[self.first_arc[i] + arc], end = self.begin[self.first_arc[i] + arc + 1]
        if self.width == 1:
            arcs.add_one(end - begin, self.place + begin, a, self.table)
        else:
            for k in range(begin, end):
                self.table[self.place[k] * self.width + which] += a

    cdef void held_scores(self, Py_ssize_t i, Py_ssize_t stride, double *theta) noexcept nogil:
        """As scores, under the weights that are held."""
        self.sum(i, self.table, stride, theta)

    cdef double norm2(self, Py_ssize_t i) noexcept nogil:
        """The squared norm of what is held."""
        return vector.dot(self.rows_of(i) * self.width, self.table, self.table)

    cdef void store(self, Py_ssize_t i, double scale, double *w) noexcept nogil:
        """Adds scale times what is held to a weight vector."""
        arcs.store(self.rows_of(i), self.row + self.first_row[i], self.width, scale, self.table, w)

    cdef Py_ssize_t rows_of(self, Py_ssize_t i) noexcept nogil:
        return self.first_row[i + 1] - self.first_row[i]


cdef bint reserve(uint32_t **list, int64_t *room, int64_t wanted, int64_t limit) noexcept nogil:
    """Makes room for so many numbers; False where these would take more bytes than the limit, or there is no memory."""
    cdef int64_t larger
    cdef uint32_t *more
    if wanted <= room[0]:
        return True
    larger = wanted + wanted // 4 + MORE
    if larger * <int64_t> sizeof(uint32_t) > limit:
        return False
    more = <uint32_t *> realloc(list[0], larger * sizeof(uint32_t))
    if more == NULL:
        return False
    list[0], room[0] = more, larger
    return True


cdef void spread(uint32_t base, uint32_t bits, uint32_t *out) noexcept nogil:
    """The weights of a block that are used."""
    cdef uint32_t k, count = 0
    for k in range(16):
        if bits >> k & 1:
            out[count] = base + k
            count += 1
