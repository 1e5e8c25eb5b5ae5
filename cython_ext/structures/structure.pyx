"""Structure: the output space of every example, its part statistics and its oracles.

Example i has m_i = num_parts(i) parts. An output y is held as its *code*, code_length(i) integers (the labels of a
sequence, the heads of a tree); `parts` lists the statistics s(y) of a code sparsely, as part numbers with
counts. Scores theta are m_i doubles, and the score of y is <theta, s(y)>. Oracles see only theta: temperature
and loss augmentation are changes of theta.

What a structure offers is its class: Structure has the max oracle, RankedStructure also the K best outputs,
SummedStructure also the log-partition function with the mean statistics. All methods run without the GIL on
memory that the caller provides: `scratch` has scratch_size(k) doubles for a top-k call, scratch_size(1) for
the others. Forbidden parts score -inf.

An oracle may take minutes for one example. Those that can take long look at the flag that heed() was given and give up
when it is set. What they have written then is safe to look at and otherwise of no use: whoever called asks stopped()
and takes nothing of it.
"""

import contextlib

import numpy as np

from libc.stdint cimport int32_t, int64_t

cdef int32_t NEVER_SET = 0


def padded(values):
    """A copy with one element more, so that there is a first one even when it is empty."""
    values = np.asarray(values)
    return np.append(values, np.zeros(1, values.dtype))


cdef class Structure:
    """The max oracle. `exact` is False where the oracle solves a relaxation."""

    exact = True
    oracles = ('max',)

    def __cinit__(self):
        self.stop = &NEVER_SET

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        """m_i, the length of theta and of s(y)."""
        return 0

    cdef Py_ssize_t _code_length(self, Py_ssize_t i) noexcept nogil:
        """Length of the code of an output of example i."""
        return 0

    cdef const int32_t *gold(self, Py_ssize_t i) noexcept nogil:
        """The code of the gold output y_i."""
        return NULL

    cdef Py_ssize_t _parts(self, Py_ssize_t i, const int32_t *code, int32_t *ids, double *counts) noexcept nogil:
        """Sparse s(y): fills ids and counts (a part may be listed twice), returns how many, at most max_parts."""
        return 0

    cdef Py_ssize_t scratch_size(self, Py_ssize_t k) noexcept nogil:
        """Doubles of scratch that the oracles need for any example; k of topk, 1 for the others."""
        return 0

    cdef double max(self, Py_ssize_t i, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        """max_y <theta, s(y)>; writes the maximiser's code. Ties are broken the same way every time."""
        return 0.0

    cdef bint valid(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        """Whether a code is one of an output of example i: what is read from a file may not be."""
        return False

    def part_indptr(self):
        """int64[n + 1]: where the parts of each example stand in a vector over those of all."""
        cdef Py_ssize_t i
        cdef int64_t[::1] indptr = np.zeros(self.n + 1, np.int64)
        for i in range(self.n):
            indptr[i + 1] = indptr[i] + self.num_parts(i)
        return np.asarray(indptr)

    def label_rows(self):
        """(K, row length) where a code is one of K labels for each position, and theta begins with a row of their
        scores for each; None elsewhere. Costs and marginals of positions are about these."""
        return None

    def neighbours(self):
        """Where runs of examples begin that share memory, int64 with n at the end, so that it is worth visiting them
        one after the other; None where there are none."""
        return None

    def proved(self):
        """How many of the outputs that the max oracle gave last are known to be the best; None where it is exact, or
        nothing is known."""
        return None

    def slack(self):
        """float64[n]: by how much the last log-partition of each example may be too large for the mean that came with
        it, as a relaxation's that is not solved to the end; None where they belong together."""
        return None

    def by_example(self, values):
        """float64: sums of numbers of the n examples over those that make one of the file, where it is parted."""
        return values

    def heed(self, stop):
        """From here on oracles give up when stop[0], int32[1], is set. None: whatever happens they go on to the end."""
        cdef const int32_t[::1] flag
        if stop is None:
            self.stop, self.stop_flag = &NEVER_SET, None
            return
        flag = self.stop_flag = stop
        self.stop = &flag[0]

    @contextlib.contextmanager
    def heeding(self, stop):
        """heed() within a block."""
        before = self.stop_flag
        self.heed(stop)
        try:
            yield
        finally:
            self.heed(before)

    def check(self):
        """Raises InexactError where an oracle has given an output that need not be the best."""

    # The same for Python: tests, and commands that look at one example.

    def size(self, Py_ssize_t i):
        return self.num_parts(i)

    def code_size(self, Py_ssize_t i):
        return self.code_length(i)

    def gold_code(self, Py_ssize_t i):
        self._check(i)
        cdef Py_ssize_t length = self.code_length(i)
        return np.asarray(<int32_t[:length]> <int32_t *> self.gold(i)).copy() if length else np.empty(0, np.int32)

    def statistics(self, Py_ssize_t i, int32_t[::1] code):
        """Dense s(y), float64[m_i]."""
        self._check(i, code=code)
        ids, counts = np.empty(self.max_parts + 1, np.int32), np.empty(self.max_parts + 1)
        cdef int32_t[::1] ids_view = ids, codes = padded(code)
        cdef double[::1] counts_view = counts
        cdef Py_ssize_t count = self.parts(i, &codes[0], &ids_view[0], &counts_view[0])
        out = np.zeros(self.num_parts(i))
        np.add.at(out, ids[:count], counts[:count])
        return out

    def is_output(self, Py_ssize_t i, const int32_t[::1] code):
        """valid() for Python."""
        self._check(i, code=code)
        cdef int32_t[::1] codes = padded(code)
        return bool(self.valid(i, &codes[0]))

    def max_oracle(self, Py_ssize_t i, const double[::1] theta):
        """(value, code) of the best output under theta, float64[m_i]."""
        self._check(i, theta)
        cdef double[::1] scratch = np.empty(self.scratch_size(1) + 1), scores = padded(theta)
        cdef int32_t[::1] code = np.empty(self.code_length(i) + 1, np.int32)
        cdef double value
        with nogil:
            value = self.max(i, &scores[0], &scratch[0], &code[0])
        return value, np.asarray(code)[:self.code_length(i)]

    def _check(self, Py_ssize_t i, theta=None, code=None):
        if not 0 <= i < self.n:
            raise IndexError(f'example {i} of {self.n}')
        if theta is not None and len(theta) != self.num_parts(i):
            raise ValueError(f'example {i} has {self.num_parts(i)} parts, not {len(theta)}')
        if code is not None and len(code) != self.code_length(i):
            raise ValueError(f'example {i} has codes of length {self.code_length(i)}, not {len(code)}')


cdef class RankedStructure(Structure):
    """Also the K best outputs."""

    oracles = ('max', 'topk')

    cdef Py_ssize_t topk(self, Py_ssize_t i, const double *theta, Py_ssize_t k, double *scratch, double *values,
                         int32_t *codes) noexcept nogil:
        """The k best distinct outputs, best first: values[r] and code r at codes[r * code_length(i)]. Returns how many
        there are, fewer than k when there are not so many outputs with a score above -inf (at least one)."""
        return 0

    def topk_oracle(self, Py_ssize_t i, const double[::1] theta, Py_ssize_t k):
        """(values [r], codes [r, code_size]) of the r <= k best outputs, best first."""
        self._check(i, theta)
        if k < 1:
            raise ValueError(f'k is {k} (expected at least 1)')
        cdef double[::1] scratch = np.empty(self.scratch_size(k) + 1), scores = padded(theta)
        cdef Py_ssize_t length = self.code_length(i)
        values, codes = np.empty(k), np.empty(k * length + 1, np.int32)
        cdef double[::1] values_view = values
        cdef int32_t[::1] codes_view = codes
        cdef Py_ssize_t count
        with nogil:
            count = self.topk(i, &scores[0], k, &scratch[0], &values_view[0], &codes_view[0])
        return values[:count], codes[:count * length].reshape(count, length)


cdef class SummedStructure(RankedStructure):
    """Also sums over all outputs."""

    oracles = ('max', 'topk', 'exp')

    cdef double log_partition(self, Py_ssize_t i, const double *theta, double *scratch, double *mean) noexcept nogil:
        """log sum_y exp<theta, s(y)>; writes E[s(y)] under p(y) ~ exp<theta, s(y)> to mean, m_i doubles.
        -inf (and mean 0) when every output is forbidden."""
        return 0.0

    cdef void subtract_offsets(self, Py_ssize_t i, double *theta) noexcept nogil:
        """Takes off theta what all outputs have in common, as far as that is easy, so that no score is above 0 for want
        of it: distributions stay the same, and scores that only grow stay comparable."""

    def exp_oracle(self, Py_ssize_t i, const double[::1] theta):
        """(log-partition, mean statistics float64[m_i])."""
        if 'exp' not in self.oracles:
            raise NotImplementedError('sums over all outputs are not offered')
        self._check(i, theta)
        cdef double[::1] scratch = np.empty(self.scratch_size(1) + 1), scores = padded(theta)
        mean = np.empty(self.num_parts(i) + 1)
        cdef double[::1] mean_view = mean
        cdef double value
        with nogil:
            value = self.log_partition(i, &scores[0], &scratch[0], &mean_view[0])
        return value, mean[:self.num_parts(i)]
