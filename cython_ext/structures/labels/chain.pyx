"""First-order chains: a label for each position of a sequence.

theta is T rows of `stride` label scores followed by transition scores (from, to): one stride x stride block that
all positions share (tied), or one block for each position 1..T-1 where transitions have input features. An
output's code is its T labels. Rows are padded to whole vectors; the padding is never read as a label.
"""

import numpy as np

from libc.math cimport INFINITY, exp, isnan, log
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset

from cython_ext.kernels.labels cimport chain as kernel
from cython_ext.kernels.vectors cimport vector
from cython_ext.structures.choice import padded
from cython_ext.structures.structure cimport SummedStructure


cdef void lower(Py_ssize_t rows, Py_ssize_t K, Py_ssize_t S, double *x) noexcept nogil:
    """Makes the largest of rows of K numbers 0."""
    cdef double top = -INFINITY
    cdef Py_ssize_t j, k
    for j in range(rows):
        top = max(top, vector.maximum(K, x + j * S))
    if top > -INFINITY:
        for j in range(rows):
            for k in range(K):
                x[j * S + k] -= top


cdef class Chain(SummedStructure):
    """labels: int32[N] right labels of all tokens (-1 where unknown); offsets: int64[n + 1] first token of each
    example; n_labels: K; tied: whether all positions share their transition scores."""

    def __init__(self, labels, offsets, Py_ssize_t n_labels, bint tied=True):
        cdef const int32_t[::1] label_view = labels
        cdef const int64_t[::1] offset_view = offsets
        self.labels, self.offsets = labels, offsets
        self.label_data = &label_view[0] if len(label_view) else NULL
        self.offset_data = &offset_view[0]
        self.n = len(offset_view) - 1
        self.n_labels, self.stride, self.tied = n_labels, padded(n_labels), tied
        self.longest = int(np.diff(offsets).max(initial=0))
        self.max_size = self.longest * self.stride
        if tied or self.longest > 1:
            self.max_size += self.stride * self.stride * (1 if tied else self.longest - 1)
        self.max_code = self.longest
        self.max_parts = max(2 * self.longest - 1, 0)

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil:
        return <Py_ssize_t> (self.offset_data[i + 1] - self.offset_data[i])

    cdef Py_ssize_t step(self) noexcept nogil:
        """Distance from one position's transition scores to the next one's."""
        return 0 if self.tied else self.stride * self.stride

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t T = self.length(i)
        if self.tied:
            return T * self.stride + self.stride * self.stride
        return T * self.stride + (T - 1 if T > 1 else 0) * self.stride * self.stride

    cdef Py_ssize_t _code_length(self, Py_ssize_t i) noexcept nogil:
        return self.length(i)

    cdef const int32_t *gold(self, Py_ssize_t i) noexcept nogil:
        return self.label_data + self.offset_data[i]

    cdef Py_ssize_t _parts(self, Py_ssize_t i, const int32_t *code, int32_t *ids, double *counts) noexcept nogil:
        cdef Py_ssize_t t, T = self.length(i), S = self.stride, count = 0
        cdef Py_ssize_t block = T * S
        for t in range(T):
            ids[count] = <int32_t> (t * S + code[t])
            count += 1
        for t in range(1, T):
            ids[count] = <int32_t> (block + code[t - 1] * S + code[t])
            count += 1
            block += self.step()
        for t in range(count):
            counts[t] = 1.0
        return count

    cdef Py_ssize_t scratch_size(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t T = self.longest, S = self.stride
        cdef Py_ssize_t blocks = 1 if self.tied else T
        # forward-backward; top-k needs values and two back pointers for every (position, label, rank), and a block
        return max((2 * T + 2) * S + 2 * blocks * S * S + T, 3 * T * S * k + 2 * S + S * S)

    def label_rows(self):
        return self.n_labels, self.stride

    cdef bint valid(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        cdef Py_ssize_t t
        for t in range(self.length(i)):
            if not 0 <= code[t] < self.n_labels:
                return False
        return True

    cdef double max(self, Py_ssize_t i, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        cdef Py_ssize_t T = self.length(i)
        if T == 0:
            return 0.0
        return kernel.viterbi(T, self.n_labels, self.stride, theta, theta + T * self.stride, self.step(), scratch, code)

    cdef double log_partition(self, Py_ssize_t i, const double *theta, double *scratch, double *mean) noexcept nogil:
        cdef Py_ssize_t T = self.length(i), S = self.stride
        cdef double value
        if T == 0:
            memset(mean, 0, self.num_parts(i) * sizeof(double))
            return 0.0
        value = kernel.forward_backward(T, self.n_labels, S, theta, theta + T * S, self.step(), mean, mean + T * S,
                                        scratch)
        if isnan(value):
            value = self.log_space_exp(T, theta, theta + T * S, scratch, mean)
        return value

    cdef void subtract_offsets(self, Py_ssize_t i, double *theta) noexcept nogil:
        """Every output has one label at each position, and as many transitions."""
        cdef Py_ssize_t T = self.length(i), S = self.stride, K = self.n_labels, t
        for t in range(T):
            lower(1, K, S, theta + t * S)
        theta += T * S
        for t in range((1 if self.tied else T - 1) if T > 1 else 0):
            lower(K, K, S, theta + t * S * S)

    cdef double log_space_exp(self, Py_ssize_t T, const double *u, const double *a, double *scratch,
                              double *mean) noexcept nogil:
        """The same for scores so far apart that probabilities underflow on the way: forward with logarithms, and back
        with the probabilities of a label given the one after it, which are scaled like any distribution."""
        cdef Py_ssize_t S = self.stride, K = self.n_labels, step = self.step(), t, k
        cdef double *alpha = scratch
        cdef double *shift = scratch + T * S
        cdef double *sums = shift + S
        cdef double *terms = sums + S               # [before, after]
        cdef double *pair = mean + T * S
        cdef double top, total
        memset(mean, 0, (T * S + (S * S if self.tied else (T - 1) * S * S)) * sizeof(double))
        memcpy(alpha, u, K * sizeof(double))
        for t in range(1, T):
            kernel.terms_before(K, S, alpha + (t - 1) * S, a + (t - 1) * step, shift, terms, sums)
            for k in range(K):
                alpha[t * S + k] = u[t * S + k] + (shift[k] + log(sums[k]) if sums[k] > 0.0 else -INFINITY)
        alpha += (T - 1) * S
        mean += (T - 1) * S
        top = vector.maximum(K, alpha)
        if top == -INFINITY:
            return top
        total = 0.0
        for k in range(K):
            mean[k] = exp(alpha[k] - top)
            total += mean[k]
        for k in range(K):
            mean[k] /= total
        for t in range(T - 1, 0, -1):
            alpha -= S
            mean -= S
            kernel.terms_before(K, S, alpha, a + (t - 1) * step, shift, terms, sums)
            kernel.share_out(K, S, terms, sums, mean + S, mean, pair + (0 if self.tied else (t - 1) * S * S))
        return top + log(total)

    cdef Py_ssize_t topk(self, Py_ssize_t i, const double *theta, Py_ssize_t k, double *scratch, double *values,
                         int32_t *codes) noexcept nogil:
        """Each (position, label) keeps its k best prefixes; the next best prefix of a label extends the first
        unused prefix of some label before it, so one pointer per label before it is enough."""
        cdef Py_ssize_t T = self.length(i), S = self.stride, K = self.n_labels, t, j, r, label, best
        cdef const double *a = theta + T * S
        cdef double *value = scratch                                   # [t, label, rank]
        cdef int32_t *label_before = <int32_t *> (value + T * S * k)   # [t, label, rank]
        cdef int32_t *rank_before = <int32_t *> (value + 2 * T * S * k)
        cdef int32_t *used = <int32_t *> (value + 3 * T * S * k)       # [label before]
        cdef double *cut = value + 3 * T * S * k + S                   # [label before] first prefix that is not used
        cdef double *into = cut + S                                    # [label, label before] transition scores
        cdef double top
        cdef double *before
        cdef Py_ssize_t at, _rank, count = 0
        if T == 0:
            values[0] = 0.0
            return 1
        for label in range(K):
            for r in range(k):
                value[label * k + r] = theta[label] if r == 0 else -INFINITY
        for t in range(1, T):
            before = value + (t - 1) * S * k
            if t == 1 or self.step():
                for label in range(K):
                    for j in range(K):
                        into[label * S + j] = a[j * S + label]
                a += self.step()
            for label in range(K):
                for j in range(K):
                    used[j] = 0
                    cut[j] = before[j * k] + into[label * S + j]
                for r in range(k):
                    best = vector.argmax(K, cut)
                    at, top = (t * S + label) * k + r, cut[best]
                    value[at] = top + theta[t * S + label]
                    if not top > -INFINITY:
                        label_before[at] = rank_before[at] = 0
                        value[at] = -INFINITY
                        continue
                    label_before[at], rank_before[at] = <int32_t> best, used[best]
                    used[best] += 1
                    cut[best] = -INFINITY
                    if used[best] < k:
                        cut[best] = before[best * k + used[best]] + into[label * S + best]
        for j in range(K):
            used[j] = 0
        for _rank in range(k):
            best, top = -1, -INFINITY
            for j in range(K):
                if used[j] < k and value[((T - 1) * S + j) * k + used[j]] > top:
                    best, top = j, value[((T - 1) * S + j) * k + used[j]]
            if best < 0:
                break
            values[count] = top
            at = ((T - 1) * S + best) * k + used[best]
            used[best] += 1
            for t in range(T - 1, 0, -1):
                codes[count * T + t] = <int32_t> best
                best, at = label_before[at], ((t - 1) * S + label_before[at]) * k + rank_before[at]
            codes[count * T] = <int32_t> best
            count += 1
        if count == 0:
            values[0] = self.max(i, theta, scratch, codes)
            return 1
        return count
