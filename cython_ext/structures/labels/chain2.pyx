"""Second-order chains: triplets of labels beside labels and pairs (Tsochantaridis et al. 2005, section 4.3.1).

theta is that of a first-order chain, then the scores of the triplets, which all positions share: K x K rows of `stride`
third labels, [second, first, third]. For a given label in the middle they are the transition scores of a first-order
step, so the recursions are those of chain.pyx for each of the K labels of the position before: T K^3 steps. An output
is what it is for a first-order chain; one of less than three positions has no triplets, and its oracles are those.
"""

from libc.math cimport INFINITY, exp, isnan, log
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from cython_ext.kernels.labels cimport chain as first_order
from cython_ext.kernels.labels cimport chain2 as kernel
from cython_ext.kernels.vectors cimport vector
from cython_ext.structures.labels.chain cimport Chain, lower
from cython_ext.structures.choice import padded


def least_memory(n_labels, threads):
    """Bytes that triplets need at least to be learnt: three weight vectors, and for each thread theta, the means, and
    what the oracles compute from them."""
    return 8 * (3 + 4 * threads) * n_labels**2 * padded(n_labels)


cdef class SecondOrderChain(Chain):
    """As Chain. Raises ValueError where there are so many labels that their triplets cannot be numbered."""

    def __init__(self, labels, offsets, Py_ssize_t n_labels, bint tied=True):
        Chain.__init__(self, labels, offsets, n_labels, tied)
        self.plane = n_labels * self.stride
        self.triple_size = n_labels * self.plane
        self.max_size += self.triple_size
        if self.max_size >= 1 << 31:
            raise ValueError(f'{n_labels} labels have too many triplets (use --order 1)')
        self.max_parts += max(self.longest - 2, 0)

    cdef Py_ssize_t pair_size(self, Py_ssize_t T) noexcept nogil:
        """Scores of pairs in the theta of T positions."""
        if self.tied:
            return self.stride * self.stride
        return (T - 1 if T > 1 else 0) * self.stride * self.stride

    cdef const double *triples(self, Py_ssize_t T, const double *theta) noexcept nogil:
        """Where the scores of triplets begin in the theta of T positions."""
        return theta + T * self.stride + self.pair_size(T)

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        return Chain.num_parts(self, i) + self.triple_size

    cdef Py_ssize_t _parts(self, Py_ssize_t i, const int32_t *code, int32_t *ids, double *counts) noexcept nogil:
        cdef Py_ssize_t T = self.length(i), t, count = Chain._parts(self, i, code, ids, counts)
        cdef Py_ssize_t begin = T * self.stride + self.pair_size(T)
        for t in range(2, T):
            ids[count] = <int32_t> (begin + code[t - 1] * self.plane + code[t - 2] * self.stride + code[t])
            counts[count] = 1.0
            count += 1
        return count

    cdef Py_ssize_t scratch_size(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t T = self.longest, S = self.stride, P = self.plane
        cdef Py_ssize_t blocks = 1 if self.tied else T
        cdef Py_ssize_t sums = T * (S + 1) + S + (2 * T + blocks + 2 * self.n_labels) * P
        # top-k needs values and two back pointers for every (position, two labels, rank), and a block with its heads
        return max(Chain.scratch_size(self, k), max(sums, 2 * T * P * k + 2 * P + 3 * S))

    cdef double max(self, Py_ssize_t i, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        cdef Py_ssize_t T = self.length(i), S = self.stride
        if T < 3:
            return Chain.max(self, i, theta, scratch, code)
        return kernel.viterbi(T, self.n_labels, S, theta, theta + T * S, self.step(), self.triples(T, theta), scratch,
                              code)

    cdef double log_partition(self, Py_ssize_t i, const double *theta, double *scratch, double *mean) noexcept nogil:
        cdef Py_ssize_t T = self.length(i), S = self.stride
        cdef const double *a = theta + T * S
        cdef const double *c = self.triples(T, theta)
        cdef double *pair = mean + T * S
        cdef double *triple = pair + self.pair_size(T)
        cdef double value
        if T < 3:
            memset(triple, 0, self.triple_size * sizeof(double))
            return Chain.log_partition(self, i, theta, scratch, mean)
        value = kernel.forward_backward(T, self.n_labels, S, theta, a, self.step(), c, mean, pair, triple, scratch)
        if isnan(value):
            value = self.log_space_exp2(T, theta, a, c, scratch, mean, pair, triple)
        return value

    cdef void subtract_offsets(self, Py_ssize_t i, double *theta) noexcept nogil:
        """Every output has as many triplets, too."""
        Chain.subtract_offsets(self, i, theta)
        cdef Py_ssize_t T = self.length(i)
        if T > 2:
            lower(self.n_labels * self.n_labels, self.n_labels, self.stride,
                  theta + T * self.stride + self.pair_size(T))

    cdef double log_space_exp2(self, Py_ssize_t T, const double *u, const double *a, const double *c, double *scratch,
                               double *mean, double *pair, double *triple) noexcept nogil:
        """As log_space_exp of Chain, for each label in the middle: forward with logarithms, back with the probabilities
        of a label given the two after it."""
        cdef Py_ssize_t S = self.stride, K = self.n_labels, P = self.plane, step = self.step(), t, p, q, k
        cdef double *alpha = scratch                # [t - 1, two last labels]
        cdef double *joint = alpha + (T - 1) * P    # probabilities of the labels at t - 1 and t
        cdef double *column = joint + P
        cdef double *shift = column + S
        cdef double *sums = shift + S
        cdef double *terms = sums + S               # [before, after]
        cdef double *at
        cdef double top, total = 0.0
        memset(mean, 0, (T * S + self.pair_size(T) + self.triple_size) * sizeof(double))
        for q in range(K):
            for k in range(K):
                alpha[q * S + k] = u[q] + (a[q * S + k] + u[S + k])
        for t in range(2, T):
            at = alpha + (t - 1) * P
            for q in range(K):
                for p in range(K):
                    column[p] = at[p * S + q - P]
                first_order.terms_before(K, S, column, c + q * P, shift, terms, sums)
                for k in range(K):
                    at[q * S + k] = (a[(t - 1) * step + q * S + k] + u[t * S + k]
                                     + (shift[k] + log(sums[k]) if sums[k] > 0.0 else -INFINITY))
        at = alpha + (T - 2) * P
        top = -INFINITY
        for q in range(K):
            top = max(top, vector.maximum(K, at + q * S))
        if top == -INFINITY:
            return top
        for q in range(K):
            for k in range(K):
                joint[q * S + k] = exp(at[q * S + k] - top)
                total += joint[q * S + k]
        vector.scale(P, 1.0 / total, joint)
        for t in range(T - 1, 0, -1):
            for q in range(K):
                for k in range(K):
                    mean[t * S + k] += joint[q * S + k]
                    pair[(t - 1) * step + q * S + k] += joint[q * S + k]
                    if t == 1:
                        mean[q] += joint[q * S + k]
            if t == 1:
                break
            at = alpha + (t - 2) * P
            for q in range(K):
                for p in range(K):
                    column[p] = at[p * S + q]
                first_order.terms_before(K, S, column, c + q * P, shift, terms, sums)
                first_order.share_out(K, S, terms, sums, joint + q * S, column, triple + q * P)
                for p in range(K):
                    at[p * S + q] = column[p]       # from here on a probability
            joint = at
        return top + log(total)

    cdef Py_ssize_t topk(self, Py_ssize_t i, const double *theta, Py_ssize_t k, double *scratch, double *values,
                         int32_t *codes) noexcept nogil:
        """As of Chain, with two labels in place of one: the next best prefix that ends in q, r extends the first unused
        one of those that end in some p, q. All r are done at once. What is forbidden has pointers too, which nobody
        follows."""
        cdef Py_ssize_t T = self.length(i), S = self.stride, K = self.n_labels, P = self.plane, t, p, q, r, rank, at
        cdef const double *a = theta + T * S
        cdef const double *c = self.triples(T, theta)
        cdef double *value = scratch                                       # [t - 1, rank, two labels]
        cdef int32_t *label_before = <int32_t *> (value + (T - 1) * P * k)
        cdef int32_t *rank_before = label_before + (T - 1) * P * k
        cdef double *cut = value + 2 * (T - 1) * P * k                     # [p, r] first prefix that is not used
        cdef int32_t *used = <int32_t *> (cut + P)                         # [p, r]
        cdef double *column = cut + 2 * P
        cdef double *top = column + S
        cdef int64_t *best = <int64_t *> (top + S)
        cdef double *before
        if T < 3:
            return Chain.topk(self, i, theta, k, scratch, values, codes)
        for q in range(K):
            for r in range(K):
                value[q * S + r] = theta[q] + (a[q * S + r] + theta[S + r])
                for rank in range(1, k):
                    value[rank * P + q * S + r] = -INFINITY
        for t in range(2, T):
            a += self.step()
            before = value + (t - 2) * P * k
            for q in range(K):
                for p in range(K):
                    column[p] = before[p * S + q]
                kernel.add_column(K, S, column, c + q * P, cut)
                memset(used, 0, P * sizeof(int32_t))
                for rank in range(k):
                    at = ((t - 1) * k + rank) * P + q * S
                    kernel.column_argmax(K, S, cut, top, best)
                    for r in range(K):
                        value[at + r] = top[r] + (a[q * S + r] + theta[t * S + r])
                        label_before[at + r] = <int32_t> best[r]
                    for r in range(K):
                        p = best[r]
                        rank_before[at + r] = used[p * S + r]
                        used[p * S + r] += 1
                        cut[p * S + r] = -INFINITY
                        if used[p * S + r] < k:
                            cut[p * S + r] = before[used[p * S + r] * P + p * S + q] + c[q * P + p * S + r]
        return self.best_of_all(T, k, value, label_before, rank_before, used, values, codes) or self.forbidden(
            i, theta, scratch, values, codes)

    cdef Py_ssize_t best_of_all(self, Py_ssize_t T, Py_ssize_t k, const double *value, const int32_t *label_before,
                                const int32_t *rank_before, int32_t *used, double *values,
                                int32_t *codes) noexcept nogil:
        """The k best of the prefixes that are whole, back from their ends; 0 where all are forbidden."""
        cdef Py_ssize_t S = self.stride, K = self.n_labels, P = self.plane, t, q, r, at, end, count = 0
        cdef const double *last = value + (T - 2) * P * k
        cdef double top
        memset(used, 0, P * sizeof(int32_t))
        while count < k:
            end, top = -1, -INFINITY
            for r in range(K):
                for q in range(K):
                    at = q * S + r
                    if used[at] < k and last[used[at] * P + at] > top:
                        end, top = at, last[used[at] * P + at]
            if end < 0:
                break
            values[count] = top
            at = ((T - 2) * k + used[end]) * P + end
            used[end] += 1
            q = end // S
            codes[count * T + T - 1] = <int32_t> (end % S)
            for t in range(T - 1, 1, -1):
                codes[count * T + t - 1] = <int32_t> q
                r, q = q, label_before[at]
                at = ((t - 2) * k + rank_before[at]) * P + q * S + r
            codes[count * T] = <int32_t> q
            count += 1
        return count

    cdef Py_ssize_t forbidden(self, Py_ssize_t i, const double *theta, double *scratch, double *values,
                              int32_t *codes) noexcept nogil:
        """The answer of topk where every output is."""
        values[0] = self.max(i, theta, scratch, codes)
        return 1
