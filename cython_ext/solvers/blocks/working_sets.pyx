"""The outputs that a solver has met for each example, with their weights: a sparse dual point.

Weights of an example are not negative, and sum to 1 where the objective says so. Sets grow by steps; there is no Python
object per output.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy

from cython_ext.duals.sparse import SparsePoint
from cython_ext.kernels.vectors.prefetch cimport prefetch_line
from cython_ext.common.arrays import aligned_zeros
from cython_ext.structures.structure cimport Structure

cdef enum:
    FIRST_OUTPUTS = 4           # that each set has room for at first, in one block of memory for all sets,
    SHORT_CODE = 16             # where codes are not longer than this on average
    CACHE_LINE = 64             # bytes
    FETCHED_LINES = 4           # of a set, at most,
    SETS_AHEAD = 8              # before it is read, where sets are read in order


cdef inline Py_ssize_t grown(Py_ssize_t capacity) noexcept nogil:
    """1, 2, 4, 8, 11, 14, ...: small, since a gram table is quadratic in it."""
    return 2 * capacity if capacity < 8 else capacity + 3


cdef class WorkingSets:
    """One set per example, each with the gold output at gold_weight. with_gram: also a table of inner products of
    each set's outputs, which the solver fills."""

    def __cinit__(self, Structure structure not None, bint with_gram=False, double gold_weight=1.0):
        cdef Py_ssize_t i, total = 0, numbers = 0
        cdef uint8_t[::1] blocks
        self.structure, self.n, self.with_gram = structure, structure.n, with_gram
        self.sets = <WorkingSet *> calloc(max(self.n, 1), sizeof(WorkingSet))
        if self.sets == NULL:
            raise MemoryError
        for i in range(self.n):
            numbers += structure.code_length(i)
        self.first = self.largest = FIRST_OUTPUTS if numbers <= SHORT_CODE * self.n else 1
        for i in range(self.n):
            total += self.bytes_of(i, self.first)
        blocks = aligned_zeros(total + 1, np.uint8)
        self.memory = blocks
        total = 0
        for i in range(self.n):
            self.sets[i].capacity = <int32_t> self.first
            self.divide(i, <char *> &blocks[total])
            total += self.bytes_of(i, self.first)
            self.append(i, structure.gold(i), 0.0, gold_weight)

    def __dealloc__(self):
        cdef Py_ssize_t i
        if self.sets != NULL:
            for i in range(self.n):             # the common block may be gone by now, if this was part of a cycle
                if self.sets[i].capacity > self.first:
                    free(self.sets[i].codes)
            free(self.sets)

    cdef Py_ssize_t bytes_of_codes(self, Py_ssize_t i, Py_ssize_t capacity) noexcept nogil:
        """How much memory the codes of `capacity` outputs take, with what aligns what comes behind them."""
        return (capacity * self.structure.code_length(i) * sizeof(int32_t) + 7) // 8 * 8

    cdef Py_ssize_t bytes_of(self, Py_ssize_t i, Py_ssize_t capacity) noexcept nogil:
        """How much memory a set takes that has room for `capacity` outputs."""
        return self.bytes_of_codes(i, capacity) + capacity * 24 + (cell(capacity, 0) * 8 if self.with_gram else 0)

    cdef void divide(self, Py_ssize_t i, char *block) noexcept nogil:
        """Makes a block of memory that of a set, of whose capacity it has the size."""
        cdef WorkingSet *s = self.sets + i
        s.codes = <int32_t *> block
        s.weight = <double *> (block + self.bytes_of_codes(i, s.capacity))
        s.delta = s.weight + s.capacity
        s.used = <int64_t *> (s.delta + s.capacity)
        s.gram = <double *> (s.used + s.capacity) if self.with_gram else NULL

    cdef bint reserve(self, Py_ssize_t i, Py_ssize_t capacity) noexcept nogil:
        """Room for `capacity` outputs in one block of memory; False when there is none."""
        cdef WorkingSet *s = self.sets + i
        cdef WorkingSet old = s[0]
        cdef Py_ssize_t length = self.structure.code_length(i)
        cdef char *block
        if capacity <= old.capacity:
            return True
        block = <char *> malloc(self.bytes_of(i, capacity))
        if block == NULL:
            return False
        s.capacity = <int32_t> capacity
        self.divide(i, block)
        if old.count:
            memcpy(s.codes, old.codes, old.count * length * sizeof(int32_t))
            memcpy(s.weight, old.weight, old.count * 8)
            memcpy(s.delta, old.delta, old.count * 8)
            memcpy(s.used, old.used, old.count * 8)
            if self.with_gram:
                memcpy(s.gram, old.gram, cell(old.count, 0) * 8)
        if old.capacity > self.first:
            free(old.codes)
        self.largest = max(self.largest, capacity)
        return True

    # Sets lie far apart, and a visit to a small one takes less time than waiting for it.

    cdef void announce(self, Py_ssize_t i) noexcept nogil:
        """Example i will be fetched soon."""
        prefetch_line(self.sets + i)

    cdef void fetch(self, Py_ssize_t i) noexcept nogil:
        """Example i will be visited soon: brings the beginning of its set into the cache."""
        cdef const char *block = <const char *> self.sets[i].codes
        cdef const char *end = <const char *> (self.sets[i].used + self.sets[i].capacity)
        cdef Py_ssize_t line
        if self.with_gram:
            end = <const char *> (self.sets[i].gram + cell(self.sets[i].count, 0))
        for line in range(FETCHED_LINES):
            if block + line * CACHE_LINE >= end:
                break
            prefetch_line(block + line * CACHE_LINE)

    cdef Py_ssize_t find(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        """Place of an output in the set of example i, -1 if it is not there."""
        cdef WorkingSet *s = self.sets + i
        cdef Py_ssize_t j, length = self.structure.code_length(i)
        for j in range(s.count):
            if memcmp(s.codes + j * length, code, length * sizeof(int32_t)) == 0:
                return j
        return -1

    cdef Py_ssize_t append(self, Py_ssize_t i, const int32_t *code, double delta, double weight) noexcept nogil:
        """Adds an output (its gram row is left to the caller) and returns its place, -1 when memory is out."""
        cdef WorkingSet *s = self.sets + i
        cdef Py_ssize_t j = s.count, length = self.structure.code_length(i)
        if j == s.capacity and not self.reserve(i, grown(j)):
            return -1
        memcpy(s.codes + j * length, code, length * sizeof(int32_t))
        s.weight[j], s.delta[j], s.used[j] = weight, delta, 0
        s.count += 1
        if self.with_gram and j == 0:
            s.gram[0] = 0.0
        return j

    cdef void remove(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        """Drops an output; the last one takes its place."""
        cdef WorkingSet *s = self.sets + i
        cdef Py_ssize_t last = s.count - 1, length = self.structure.code_length(i), k
        s.count -= 1
        if j == last:
            return
        memcpy(s.codes + j * length, s.codes + last * length, length * sizeof(int32_t))
        s.weight[j], s.delta[j], s.used[j] = s.weight[last], s.delta[last], s.used[last]
        if self.with_gram:
            for k in range(s.count):
                if k != j:
                    s.gram[cell(j, k)] = s.gram[cell(last, k)]
            s.gram[cell(j, j)] = s.gram[cell(last, last)]

    cdef void replace(self, Py_ssize_t i, Py_ssize_t j, const int32_t *code, double delta) noexcept nogil:
        """Another output, with weight 0, in the place of output j (sets without a gram table only)."""
        cdef WorkingSet *s = self.sets + i
        cdef Py_ssize_t length = self.structure.code_length(i)
        memcpy(s.codes + j * length, code, length * sizeof(int32_t))
        s.weight[j], s.delta[j], s.used[j] = 0.0, delta, 0

    cdef Py_ssize_t hold(self, Py_ssize_t i, const int32_t *code, double delta, Py_ssize_t most) noexcept nogil:
        """Place of an output in the set of example i. A new one is added with weight 0, and takes the place of the
        lightest one where there are `most` already (sets without a gram table only)."""
        cdef WorkingSet *s = self.sets + i
        cdef Py_ssize_t j, least = 0, place = self.find(i, code)
        if place < 0 and s.count < most:
            place = self.append(i, code, delta, 0.0)
        if place >= 0:
            return place
        for j in range(s.count):
            if s.weight[j] < s.weight[least]:
                least = j
        self.replace(i, least, code, delta)
        return least

    cdef void normalise(self, Py_ssize_t i) noexcept nogil:
        """Weights of example i that sum to 1."""
        cdef WorkingSet *s = self.sets + i
        cdef Py_ssize_t j
        cdef double total = 0.0
        for j in range(s.count):
            total += s.weight[j]
        for j in range(s.count):
            s.weight[j] /= total

    cdef double mean_loss(self, double ridge=0.0) noexcept nogil:
        """1/n sum_i (sum_y alpha_i(y) Delta - ridge/2 (sum_y alpha_i(y))^2)."""
        cdef Py_ssize_t i, j
        cdef double total = 0.0, one, mass
        for i in range(self.n):
            if i + SETS_AHEAD < self.n:
                prefetch_line(self.sets[i + SETS_AHEAD].weight)
            one = mass = 0.0
            for j in range(self.sets[i].count):
                one += self.sets[i].weight[j] * self.sets[i].delta[j]
                mass += self.sets[i].weight[j]
            total += one - 0.5 * ridge * mass * mass
        return total / self.n if self.n else 0.0

    def counts(self):
        """How many outputs each set has."""
        cdef Py_ssize_t i
        return [self.sets[i].count for i in range(self.n)]

    def dual_point(self):
        """The SparsePoint of the outputs with positive weight."""
        return SparsePoint(**self._pack(positive=True))

    def state(self):
        """Everything, for a checkpoint: a SparsePoint's arrays of all outputs, with used, delta and gram."""
        return self._pack(positive=False)

    def _pack(self, bint positive):
        cdef Py_ssize_t i, j, k, length, outputs = 0, numbers = 0, products = 0, o = 0, c = 0, g = 0
        cdef WorkingSet *s
        for i in range(self.n):
            s = self.sets + i
            length = self.structure.code_length(i)
            for j in range(s.count):
                if s.weight[j] > 0 or not positive:
                    outputs += 1
                    numbers += length
            products += cell(s.count, 0)
        indptr, code_indptr = np.zeros(self.n + 1, np.int64), np.zeros(outputs + 1, np.int64)
        weights, codes = np.zeros(outputs), np.zeros(numbers, np.int32)
        state = not positive
        gram = np.zeros(products if state and self.with_gram else 0)
        used, delta = np.zeros(outputs if state else 0, np.int64), np.zeros(outputs if state else 0)
        cdef int64_t[::1] indptr_v = indptr, code_indptr_v = code_indptr, used_v = used
        cdef double[::1] weights_v = weights, gram_v = gram, delta_v = delta
        cdef int32_t[::1] codes_v = codes
        for i in range(self.n):
            s = self.sets + i
            length = self.structure.code_length(i)
            for j in range(s.count):
                if s.weight[j] > 0 or not positive:
                    weights_v[o] = s.weight[j]
                    if length:
                        memcpy(&codes_v[c], s.codes + j * length, length * sizeof(int32_t))
                    if not positive:
                        used_v[o], delta_v[o] = s.used[j], s.delta[j]
                        if self.with_gram:
                            for k in range(j + 1):
                                gram_v[g] = s.gram[cell(j, k)]
                                g += 1
                    o, c = o + 1, c + length
                    code_indptr_v[o] = c
            indptr_v[i + 1] = o
        point = {'indptr': indptr, 'weights': weights, 'code_indptr': code_indptr, 'codes': codes}
        return {**point, 'used': used, 'delta': delta, 'gram': gram} if state else point

    def restore(self, state):
        """Back to a state()."""
        cdef int64_t[::1] indptr = state['indptr'], used = state['used'], code_indptr = state['code_indptr']
        cdef double[::1] weights = state['weights'], delta = state['delta'], gram = state['gram']
        cdef int32_t[::1] codes = state['codes']
        cdef Py_ssize_t i, j, o, place, g = 0
        cdef WorkingSet *s
        cdef int32_t nothing = 0
        if len(indptr) != self.n + 1:
            raise ValueError(f'a state of {len(indptr) - 1} examples (expected {self.n})')
        for i in range(self.n):
            s = self.sets + i
            s.count = 0
            # the same room as before: how much a set has decides nothing, but growth is cheaper than copies
            if not self.reserve(i, indptr[i + 1] - indptr[i]):
                raise MemoryError
            for o in range(indptr[i], indptr[i + 1]):
                place = self.append(i, &codes[code_indptr[o]] if code_indptr[o + 1] > code_indptr[o] else &nothing,
                                    delta[o], weights[o])
                s.used[place] = used[o]
            if self.with_gram:
                for j in range(cell(s.count, 0)):
                    s.gram[j] = gram[g + j]
                g += cell(s.count, 0)
