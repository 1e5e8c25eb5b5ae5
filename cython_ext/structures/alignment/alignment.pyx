"""Alignment of a native sequence with the homolog among candidates (Tsochantaridis et al. 2005, section 4.4).

The input is a native sequence and its candidates, one homolog and some decoys; an output is a candidate with an
alignment of the native with it. Learning knows the gold alignment a_i of the homolog: Y_i holds (homolog, a_i) and
every decoy with every alignment, and no other alignment of the homolog, which is neither right nor wrong. So with
zero-one loss

    l_i(w) = max(0, 1 + max_{decoy t, a} <w, phi(x_i, y_t, a)> - <w, phi(x_i, y_i, a_i)>)

where phi counts the substitutions of one letter by another and the gaps, and psi_i(t, a) = phi(x_i, y_i, a_i) -
phi(x_i, y_t, a). With free=True, which is for predictions, the homolog may be aligned in any way like the other
candidates.

An alignment is a path of steps: S reads a letter of both sequences, I one of the candidate, D one of the native. A
global one reads both sequences whole, a local one a stretch of each; two are the same when they start at the same
places and take the same steps, and all empty ones are the same. Gaps cost the same for every letter (linear), or a run
of I, or of D, costs `open` for its first and `extend` for every further letter (affine).

theta: n_letters^2 scores of pairs of letters (native, candidate), then the score of a gap's letter (or the two of
opening and extending), then one of each candidate, which has no weight: losses and the dual need it. A code is the
candidate, where the alignment starts in the native and in it, and the steps (1 S, 2 I, 3 D), zeros after them. Among
equal scores the last candidate wins: the homolog, which files have first, must be better than the decoys.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcmp, memcpy, memmove, memset

from cython_ext.kernels.alignment cimport alignment as kernel
from cython_ext.kernels.vectors cimport vector
from cython_ext.structures.structure cimport SummedStructure

cdef enum:
    HEAD = 3                # as of alignment_layout
    S = 1
    I = 2
    D = 3

TABLE_LIMIT = 1 << 32       # bytes of a thread's tables


cdef Py_ssize_t make_room(double value, Py_ssize_t k, Py_ssize_t *count, Py_ssize_t length, double *values,
                          int32_t *codes) noexcept nogil:
    """Where a value goes in a list of at most k in descending order, after its equals; what follows moves on."""
    cdef Py_ssize_t at, kept = min(count[0], k - 1)
    at = kept
    while at > 0 and values[at - 1] < value:
        at -= 1
    memmove(values + at + 1, values + at, (kept - at) * sizeof(double))
    memmove(codes + (at + 1) * length, codes + at * length, (kept - at) * length * sizeof(int32_t))
    values[at], count[0] = value, kept + 1
    return at


cdef class Alignment(SummedStructure):
    """layout: a structures.alignment_layout.Layout with letters below n_letters. Raises ValueError for sequences that
    are too long."""

    def __init__(self, layout, Py_ssize_t n_letters, bint affine, bint local, bint free=False):
        cdef const int64_t[::1] offsets = layout.offsets, starts = layout.starts, gold_starts = layout.gold_starts
        cdef const uint8_t[::1] letters = layout.letters
        cdef const int32_t[::1] gold_candidates = layout.gold_candidates, gold_codes = layout.gold_codes
        cdef const int32_t[::1] by_length = layout.by_length
        if layout.cells * 48 > TABLE_LIMIT:
            raise ValueError(f'sequences too long to be aligned: the table of {layout.cells} cells would take '
                             f'{layout.cells * 48 / 2**30:.1f} GB (expected at most {TABLE_LIMIT / 2**30:.0f} GB)')
        self.layout = layout
        self.n_letters, self.gap_parts, self.local, self.free = n_letters, 2 if affine else 1, local, free
        self.most_candidates, self.longest, self.cells = layout.most_candidates, layout.longest, layout.cells
        self.n = len(offsets) - 1
        self.max_code = int(np.diff(layout.gold_starts).max(initial=0))
        self.max_size = self.first_candidate_part() + self.most_candidates
        self.max_parts = 1 + layout.most_pairs + self.gap_parts
        self.offsets, self.starts, self.gold_starts = &offsets[0], &starts[0], &gold_starts[0]
        self.letters, self.gold_candidates, self.by_length = &letters[0], &gold_candidates[0], &by_length[0]
        self.gold_codes = &gold_codes[0]

    cdef Py_ssize_t candidates(self, Py_ssize_t i) noexcept nogil:
        return <Py_ssize_t> (self.offsets[i + 1] - self.offsets[i]) - 1

    cdef Py_ssize_t length(self, Py_ssize_t i, Py_ssize_t c) noexcept nogil:
        """Letters of candidate c, of the native for c = -1."""
        cdef Py_ssize_t s = <Py_ssize_t> self.offsets[i] + 1 + c
        return <Py_ssize_t> (self.starts[s + 1] - self.starts[s])

    cdef const uint8_t *sequence(self, Py_ssize_t i, Py_ssize_t c) noexcept nogil:
        return self.letters + self.starts[self.offsets[i] + 1 + c]

    cdef Py_ssize_t first_candidate_part(self) noexcept nogil:
        return self.n_letters * self.n_letters + self.gap_parts

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        return self.first_candidate_part() + self.candidates(i)

    cdef Py_ssize_t _code_length(self, Py_ssize_t i) noexcept nogil:
        return <Py_ssize_t> (self.gold_starts[i + 1] - self.gold_starts[i])

    cdef const int32_t *gold(self, Py_ssize_t i) noexcept nogil:
        return self.gold_codes + self.gold_starts[i]

    cdef Py_ssize_t _parts(self, Py_ssize_t i, const int32_t *code, int32_t *ids, double *counts) noexcept nogil:
        cdef const uint8_t *x = self.sequence(i, -1) + code[1]
        cdef const uint8_t *y = self.sequence(i, code[0]) + code[2]
        cdef Py_ssize_t p, part, first_gap = self.n_letters * self.n_letters, count = 1
        cdef double[2] gaps
        ids[0], counts[0] = <int32_t> self.first_candidate_part() + code[0], 1.0
        gaps[0] = gaps[1] = 0.0
        for p in range(HEAD, self.code_length(i)):
            if code[p] == 0:
                break
            part = self.step(code + p, p == HEAD, &x, &y)
            if part >= first_gap:
                gaps[part - first_gap] += 1.0
            else:
                ids[count], counts[count] = <int32_t> part, 1.0
                count += 1
        for p in range(self.gap_parts):
            if gaps[p] > 0.0:
                ids[count], counts[count] = <int32_t> (first_gap + p), gaps[p]
                count += 1
        return count

    def is_valid(self, Py_ssize_t i, const int32_t[::1] code):
        """Whether a code is one of an output of example i."""
        self._check(i, code=code)
        return self.valid(i, &code[0])

    cdef Py_ssize_t step(self, const int32_t *code, bint first, const uint8_t **x, const uint8_t **y) noexcept nogil:
        """The part of the step at `code`; goes on in both sequences. The step before it matters unless it is the
        first."""
        cdef Py_ssize_t pair = x[0][0] * self.n_letters + y[0][0]
        x[0] += code[0] != I
        y[0] += code[0] != D
        if code[0] == S:
            return pair
        return self.n_letters * self.n_letters + (self.gap_parts - 1 if not first and (code - 1)[0] == code[0] else 0)

    cdef Py_ssize_t scratch_size(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t scores = (self.longest + 1) * (3 * kernel.LANES + 1)
        cdef Py_ssize_t best = 3 * self.cells + k * (<Py_ssize_t> sizeof(kernel.Fork) // 8 + self.max_code // 8 + 2) + 2
        cdef Py_ssize_t sums = 2 * self.n_letters * self.n_letters + 6 * self.cells + 4 * (self.longest + 1)
        return 2 * self.most_candidates + max(scores, best, sums)

    cdef bint valid(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        cdef Py_ssize_t p, x = code[1], y = code[2], length = self.code_length(i), n = self.length(i, -1), m
        if not 0 <= code[0] < self.candidates(i):
            return False
        if not self.free and code[0] == self.gold_candidates[i]:
            return memcmp(code, self.gold(i), length * sizeof(int32_t)) == 0
        m = self.length(i, code[0])
        if x < 0 or y < 0 or ((x > 0 or y > 0) and (not self.local or length == HEAD or code[HEAD] == 0)):
            return False
        for p in range(HEAD, length):
            if not 0 <= code[p] <= D or (code[p] > 0 and p > HEAD and code[p - 1] == 0):
                return False
            x += code[p] == S or code[p] == D
            y += code[p] == S or code[p] == I
        return x <= n and y <= m and (self.local or (x == n and y == m))

    cdef double gold_score(self, Py_ssize_t i, const double *theta) noexcept nogil:
        """<theta, s(y_i)>."""
        cdef const int32_t *code = self.gold(i)
        cdef const uint8_t *x = self.sequence(i, -1) + code[1]
        cdef const uint8_t *y = self.sequence(i, code[0]) + code[2]
        cdef Py_ssize_t p
        cdef double total = theta[self.first_candidate_part() + code[0]]
        for p in range(HEAD, self.code_length(i)):
            if code[p] == 0:
                break
            total += theta[self.step(code + p, p == HEAD, &x, &y)]
        return total

    cdef void add_gold(self, Py_ssize_t i, double scale, double *a) noexcept nogil:
        """a += scale * s(y_i)."""
        cdef const int32_t *code = self.gold(i)
        cdef const uint8_t *x = self.sequence(i, -1) + code[1]
        cdef const uint8_t *y = self.sequence(i, code[0]) + code[2]
        cdef Py_ssize_t p
        a[self.first_candidate_part() + code[0]] += scale
        for p in range(HEAD, self.code_length(i)):
            if code[p] == 0:
                break
            a[self.step(code + p, p == HEAD, &x, &y)] += scale

    cdef kernel.Costs costs(self, const double *theta) noexcept nogil:
        cdef kernel.Costs costs
        costs.s, costs.L, costs.local = theta, self.n_letters, self.local
        costs.open, costs.extend = theta[self.n_letters * self.n_letters], theta[self.first_candidate_part() - 1]
        return costs

    cdef void tops(self, Py_ssize_t i, const double *theta, Py_ssize_t skip, double *scratch,
                   double *values) noexcept nogil:
        """The best score of every candidate; -inf of `skip` (-1: none)."""
        cdef kernel.Costs costs = self.costs(theta)
        cdef Py_ssize_t r, c, l, j, m, n = self.length(i, -1), count = self.candidates(i), waiting = 0
        cdef const double *bias = theta + self.first_candidate_part()
        cdef const int32_t *order = self.by_length + (self.offsets[i] - i)
        cdef Py_ssize_t[kernel.LANES] batch
        cdef int32_t[kernel.LANES] lengths
        cdef double[kernel.LANES] best
        cdef const uint8_t *longest
        cdef uint8_t *mixed = <uint8_t *> (scratch + 3 * kernel.LANES * (self.longest + 1))
        for r in range(count):
            c = order[r]
            if c == skip:
                values[c] = -INFINITY
            elif not self.free and c == self.gold_candidates[i]:
                values[c] = self.gold_score(i, theta)
            else:
                batch[waiting] = c
                waiting += 1
            if waiting == 0 or (waiting < kernel.LANES and r < count - 1):
                continue
            m = self.length(i, batch[waiting - 1])
            longest = self.sequence(i, batch[waiting - 1])
            for l in range(kernel.LANES):
                c = batch[min(l, waiting - 1)]
                lengths[l] = <int32_t> self.length(i, c)
                for j in range(m):
                    mixed[j * kernel.LANES + l] = self.sequence(i, c)[j] if j < lengths[l] else longest[j]
            kernel.align_scores(&costs, n, self.sequence(i, -1), m, mixed, lengths, scratch, best)
            for l in range(waiting):
                values[batch[l]] = best[l] + bias[batch[l]]
            waiting = 0

    cdef double max(self, Py_ssize_t i, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        if self.candidates(i) == 0:
            return self.nothing(i, code)
        return self.best_of(i, theta, -1, scratch, code)

    cdef double nothing(self, Py_ssize_t i, int32_t *code) noexcept nogil:
        """The one output where there are no candidates, -1, with score 0."""
        memset(code, 0, self.code_length(i) * sizeof(int32_t))
        code[0] = -1
        return 0.0

    cdef double best_of(self, Py_ssize_t i, const double *theta, Py_ssize_t skip, double *scratch,
                        int32_t *code) noexcept nogil:
        """max over the outputs with another candidate than `skip`; -inf, and no code, if there is none."""
        cdef double *values = scratch
        cdef double loss = 0.0
        cdef Py_ssize_t c, number, best = -1
        cdef int32_t start_i = 0, start_j = 0
        cdef kernel.Costs costs = self.costs(theta)
        cdef kernel.Paths paths
        scratch += 2 * self.most_candidates
        self.tops(i, theta, skip, scratch, values)
        for c in range(self.candidates(i)):
            if c != skip and (best < 0 or values[c] >= values[best]):
                best = c
        if best < 0:
            return -INFINITY
        if values[best] == -INFINITY or (not self.free and best == self.gold_candidates[i]):
            self.any_code(i, best, code)
            return values[best]
        self.prepare(i, best, 1, &costs, scratch, &paths)
        kernel.align_begin(&paths, 1)
        number = kernel.align_next(&paths, &loss, &start_i, &start_j)
        self.write(i, best, &paths, number, start_i, start_j, code)
        return values[best]

    cdef void any_code(self, Py_ssize_t i, Py_ssize_t c, int32_t *code) noexcept nogil:
        """An output with candidate c that is there whatever the scores."""
        cdef Py_ssize_t p, n = self.length(i, -1), m = self.length(i, c)
        if not self.free and c == self.gold_candidates[i]:
            memcpy(code, self.gold(i), self.code_length(i) * sizeof(int32_t))
            return
        memset(code, 0, self.code_length(i) * sizeof(int32_t))
        code[0] = <int32_t> c
        if not self.local:
            for p in range(n + m):
                code[HEAD + p] = D if p < n else I

    cdef void prepare(self, Py_ssize_t i, Py_ssize_t c, Py_ssize_t k, const kernel.Costs *costs, double *scratch,
                      kernel.Paths *paths) noexcept nogil:
        """The search for the k best alignments with candidate c."""
        paths.costs, paths.n, paths.m = costs, self.length(i, -1), self.length(i, c)
        paths.x, paths.y, paths.table = self.sequence(i, -1), self.sequence(i, c), scratch
        scratch += 3 * self.cells
        paths.forks = <kernel.Fork *> scratch
        scratch += k * <Py_ssize_t> sizeof(kernel.Fork) // 8
        paths.lengths = <int32_t *> scratch
        paths.steps = <uint8_t *> (scratch + (k + 1) // 2)

    cdef void write(self, Py_ssize_t i, Py_ssize_t c, const kernel.Paths *paths, Py_ssize_t number, int32_t start_i,
                    int32_t start_j, int32_t *code) noexcept nogil:
        """The code of a path that was found."""
        cdef Py_ssize_t p, length = paths.lengths[number]
        cdef const uint8_t *steps = paths.steps + number * (paths.n + paths.m)
        memset(code, 0, self.code_length(i) * sizeof(int32_t))
        code[0], code[1], code[2] = <int32_t> c, start_i, start_j
        for p in range(length):
            code[HEAD + p] = steps[length - 1 - p]

    cdef Py_ssize_t topk(self, Py_ssize_t i, const double *theta, Py_ssize_t k, double *scratch, double *values,
                         int32_t *codes) noexcept nogil:
        """Candidate after candidate, the one with the best score first; each is asked for alignments as long as they
        are among the k best so far."""
        cdef double *tops = scratch
        cdef double *left = scratch + self.most_candidates      # the same, -inf for those that are done
        cdef double loss
        cdef Py_ssize_t c, best, number, at, count = 0, length = self.code_length(i), all = self.candidates(i)
        cdef int32_t start_i = 0, start_j = 0
        cdef kernel.Costs costs = self.costs(theta)
        cdef kernel.Paths paths
        if all == 0:
            values[0] = self.nothing(i, codes)
            return 1
        scratch += 2 * self.most_candidates
        self.tops(i, theta, -1, scratch, tops)
        memcpy(left, tops, all * sizeof(double))
        while True:
            best = -1
            for c in range(all):
                if left[c] > -INFINITY and (best < 0 or left[c] >= left[best]):
                    best = c
            if best < 0 or (count == k and tops[best] <= values[k - 1]):
                break
            left[best] = -INFINITY
            if not self.free and best == self.gold_candidates[i]:
                at = make_room(tops[best], k, &count, length, values, codes)
                memcpy(codes + at * length, self.gold(i), length * sizeof(int32_t))
                continue
            self.prepare(i, best, k, &costs, scratch, &paths)
            kernel.align_begin(&paths, k)
            while True:
                number = kernel.align_next(&paths, &loss, &start_i, &start_j)
                if number < 0 or (count == k and tops[best] - loss <= values[k - 1]):
                    break
                at = make_room(tops[best] - loss, k, &count, length, values, codes)
                self.write(i, best, &paths, number, start_i, start_j, codes + at * length)
        if count == 0:
            values[0] = -INFINITY
            self.any_code(i, all - 1, codes)
            return 1
        return count

    cdef double log_partition(self, Py_ssize_t i, const double *theta, double *scratch, double *mean) noexcept nogil:
        """Candidate after candidate: what the ones before have in the mean shrinks as the sum grows."""
        cdef Py_ssize_t c, p, L = self.n_letters, n = self.length(i, -1), size = self.num_parts(i)
        cdef kernel.Wide *s = <kernel.Wide *> scratch
        cdef kernel.Wide *table = s + L * L
        cdef kernel.Wide *rows = table + 3 * self.cells
        cdef kernel.Wide total = kernel.wide_of(0.0), before, mine, own
        cdef kernel.WideCosts costs
        cdef const double *bias = theta + self.first_candidate_part()
        cdef double[2] gaps
        cdef double weight
        cdef bint fixed
        memset(mean, 0, size * sizeof(double))
        if self.candidates(i) == 0:
            return 0.0
        for p in range(L * L):
            s[p] = kernel.wide_exp(theta[p])
        costs.s, costs.L, costs.local = s, L, self.local
        costs.open = kernel.wide_exp(theta[L * L])
        costs.extend = kernel.wide_exp(theta[self.first_candidate_part() - 1])
        for c in range(self.candidates(i)):
            fixed = not self.free and c == self.gold_candidates[i]
            if fixed:
                mine = kernel.wide_exp(self.gold_score(i, theta))
            else:
                own = kernel.align_forward(&costs, n, self.sequence(i, -1), self.length(i, c), self.sequence(i, c),
                                           table)
                mine = kernel.normal(kernel.wide_mul(own, kernel.wide_exp(bias[c])))
            if mine.m == 0.0:
                continue
            before, total = total, kernel.normal(kernel.wide_add(total, mine))
            vector.scale(size, kernel.wide_ratio(before, total), mean)
            weight = kernel.wide_ratio(mine, total)
            if fixed:
                self.add_gold(i, weight, mean)
                continue
            mean[self.first_candidate_part() + c] += weight
            gaps[0] = gaps[1] = 0.0
            kernel.align_expect(&costs, n, self.sequence(i, -1), self.length(i, c), self.sequence(i, c), table, own,
                                weight, rows, mean, gaps)
            mean[L * L] += gaps[0]
            mean[self.first_candidate_part() - 1] += gaps[1]
        return kernel.wide_log(total)

    cdef void subtract_offsets(self, Py_ssize_t i, double *theta) noexcept nogil:
        """Every output has one candidate."""
        cdef double *bias = theta + self.first_candidate_part()
        cdef double top = vector.maximum(self.candidates(i), bias) if self.candidates(i) else 0.0
        cdef Py_ssize_t c
        if top > -INFINITY:
            for c in range(self.candidates(i)):
                bias[c] -= top
