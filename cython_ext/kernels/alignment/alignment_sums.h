/* Sums over all alignments, in the notation of alignment.h, with exponentials of scores.
 *
 * Forward-backward in wide numbers: exact to rounding for any scores, also where paths into the same cell differ by
 * more than a double's range. */
#ifndef SSVM_ALIGNMENT_SUMS_H
#define SSVM_ALIGNMENT_SUMS_H

#include "cython_ext/kernels/vectors/vector.h"
#include "cython_ext/kernels/vectors/wide.h"

typedef struct {
    const ssvm_wide *s;
    ptrdiff_t L;
    ssvm_wide open, extend;
    int local;
} ssvm_align_weights;

/* Weight of starting in cell (i, j), and of ending there. */
SSVM_INLINE ssvm_wide ssvm_align_start(int local, ptrdiff_t i, ptrdiff_t j)
{
    return ssvm_wide_of(local || (i == 0 && j == 0) ? 1.0 : 0.0);
}

/* Returns the sum over all alignments; table[(i * (m + 1) + j) * 3 + k]: the sum over paths that end in (i, j), by S,
 * I, D for k = 0, 1, 2. */
SSVM_CLONES static ssvm_wide ssvm_align_forward(const ssvm_align_weights *w, ptrdiff_t n, const uint8_t *x, ptrdiff_t m,
                                                const uint8_t *y, ssvm_wide *table)
{
    const ssvm_wide open = w->open, extend = w->extend;
    const int local = w->local;
    const ssvm_wide none = ssvm_wide_of(0.0);
    ssvm_wide total = ssvm_wide_of(local || n + m == 0 ? 1.0 : 0.0);     /* the empty alignment */
    for (ptrdiff_t i = 0; i <= n; i++) {
        ssvm_wide *const now = table + i * (m + 1) * 3, *const above = now - (m + 1) * 3;
        ssvm_wide row = none;
        for (ptrdiff_t j = 0; j <= m; j++) {
            ssvm_wide *const cell = now + 3 * j;
            cell[0] = cell[1] = cell[2] = none;
            if (i > 0 && j > 0) {
                const ssvm_wide *before = above + 3 * (j - 1);
                const ssvm_wide in = ssvm_wide_add(ssvm_align_start(local, i - 1, j - 1), before[0]);
                const ssvm_wide all = ssvm_wide_add(in, ssvm_wide_add(before[1], before[2]));
                cell[0] = ssvm_normal(ssvm_wide_mul(all, w->s[x[i - 1] * w->L + y[j - 1]]));
            }
            if (j > 0) {
                const ssvm_wide *before = cell - 3;
                const ssvm_wide in = ssvm_wide_add(ssvm_align_start(local, i, j - 1), before[0]);
                cell[1] = ssvm_normal(ssvm_wide_add(ssvm_wide_mul(ssvm_wide_add(in, before[2]), open),
                                                    ssvm_wide_mul(before[1], extend)));
            }
            if (i > 0) {
                const ssvm_wide *before = above + 3 * j;
                const ssvm_wide in = ssvm_wide_add(ssvm_align_start(local, i - 1, j), before[0]);
                cell[2] = ssvm_normal(ssvm_wide_add(ssvm_wide_mul(ssvm_wide_add(in, before[1]), open),
                                                    ssvm_wide_mul(before[2], extend)));
            }
            if (local || (i == n && j == m))
                row = ssvm_normal(ssvm_wide_add(ssvm_wide_add(row, cell[0]), ssvm_wide_add(cell[1], cell[2])));
        }
        total = ssvm_normal(ssvm_wide_add(total, row));
    }
    return total;
}

/* Adds `weight` times the expected counts of pairs of letters to pairs[L, L], of first and of further steps of a run of
 * I or D to gaps[0] and gaps[1]. table, total: of the forward pass; rows: 2 (m + 1) wide numbers. */
SSVM_CLONES static void ssvm_align_expect(const ssvm_align_weights *w, ptrdiff_t n, const uint8_t *x, ptrdiff_t m,
                                          const uint8_t *y, const ssvm_wide *table, ssvm_wide total, double weight,
                                          ssvm_wide *rows, double *pairs, double *gaps)
{
    const int local = w->local;
    const ssvm_wide none = ssvm_wide_of(0.0);
    ssvm_wide *const by_s = rows, *const by_d = rows + m + 1;  /* [j] ways on from row i + 1, entered by S or by D */
    double opened = 0.0, extended = 0.0;
    for (ptrdiff_t j = 0; j <= m; j++) by_s[j] = by_d[j] = none;
    for (ptrdiff_t i = n; i >= 0; i--) {
        const ssvm_wide *const now = table + i * (m + 1) * 3;
        ssvm_wide by_i = none, pair_after = none;              /* ways on from cell (i, j + 1); from (i + 1, j + 1) */
        for (ptrdiff_t j = m; j >= 0; j--) {
            const ssvm_wide *const cell = now + 3 * j;
            const ssvm_wide start = ssvm_align_start(local, i, j), end = ssvm_align_start(local, n - i, m - j);
            const ssvm_wide not_d = ssvm_wide_add(start, ssvm_wide_add(cell[0], cell[1]));
            const ssvm_wide not_i = ssvm_wide_add(ssvm_wide_add(start, cell[0]), cell[2]);
            ssvm_wide pair = none;
            if (i < n && j < m) {
                const ptrdiff_t at = x[i] * w->L + y[j];
                pair = ssvm_normal(ssvm_wide_mul(w->s[at], pair_after));
                pairs[at] += weight * ssvm_wide_ratio(ssvm_wide_mul(ssvm_wide_add(not_d, cell[2]), pair), total);
            }
            const ssvm_wide open_i = ssvm_normal(ssvm_wide_mul(w->open, by_i));
            const ssvm_wide more_i = ssvm_normal(ssvm_wide_mul(w->extend, by_i));
            const ssvm_wide open_d = ssvm_normal(ssvm_wide_mul(w->open, by_d[j]));
            const ssvm_wide more_d = ssvm_normal(ssvm_wide_mul(w->extend, by_d[j]));
            opened += ssvm_wide_ratio(ssvm_wide_add(ssvm_wide_mul(not_i, open_i), ssvm_wide_mul(not_d, open_d)), total);
            const ssvm_wide more = ssvm_wide_add(ssvm_wide_mul(cell[1], more_i), ssvm_wide_mul(cell[2], more_d));
            extended += ssvm_wide_ratio(more, total);
            const ssvm_wide here = ssvm_wide_add(end, pair);
            pair_after = by_s[j];
            by_s[j] = ssvm_normal(ssvm_wide_add(here, ssvm_wide_add(open_i, open_d)));
            by_i = ssvm_normal(ssvm_wide_add(here, ssvm_wide_add(more_i, open_d)));
            by_d[j] = ssvm_normal(ssvm_wide_add(here, ssvm_wide_add(open_i, more_d)));
        }
    }
    gaps[0] += weight * opened;
    gaps[1] += weight * extended;
}

#endif
