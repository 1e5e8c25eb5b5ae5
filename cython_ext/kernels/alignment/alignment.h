/* Alignments of a native x of n letters with other sequences: the highest scores.
 *
 * An alignment is a path of steps from cell to cell: a substitution S from (i, j) to (i + 1, j + 1), which pairs x[i]
 * with y[j], an insertion I to (i, j + 1), a deletion D to (i + 1, j). s[a * L + b] scores the pair of letters a and b;
 * the first step of a run of I, or of D, scores `open`, every further one `extend`. A global alignment leads from (0,
 * 0) to (n, m); a local one from any cell to any cell, and the empty one is counted once.
 *
 * The best paths that end in a cell are kept apart by their last step, so `open` may also be better than `extend`.
 * Every value is the sum of two numbers that no other order of operations changes: both kernels find the same bits. */
#ifndef SSVM_ALIGNMENT_H
#define SSVM_ALIGNMENT_H

#include "cython_ext/kernels/vectors/vector.h"

enum { SSVM_LANES = 4, SSVM_PAIRS = SSVM_LANES / 2 };      /* sequences that are aligned with x at a time */

/* Two lanes, which every instruction set has registers for; a conditional of vectors is no C. */
typedef double ssvm_v2 __attribute__((vector_size(16), aligned(8), may_alias));
typedef int64_t ssvm_mask2 __attribute__((vector_size(16)));

SSVM_INLINE ssvm_v2 ssvm_max2(ssvm_v2 a, ssvm_v2 b)
{
    const ssvm_mask2 larger = a > b;
    return (ssvm_v2)((larger & (ssvm_mask2)a) | (~larger & (ssvm_mask2)b));
}

SSVM_INLINE double ssvm_larger(double a, double b) { return a > b ? a : b; }

typedef struct {
    const double *s;
    ptrdiff_t L;
    double open, extend;
    int local;
} ssvm_align_costs;

/* best[l] = the highest score of an alignment of x with sequence l. y[j * LANES + l] are the letters of sequence l, any
 * letters beyond its lengths[l] <= m. scratch: 3 (m + 1) LANES doubles. */
SSVM_CLONES static void ssvm_align_scores(const ssvm_align_costs *costs, ptrdiff_t n, const uint8_t *x, ptrdiff_t m,
                                          const uint8_t *y, const int32_t *lengths, double *scratch, double *best)
{
    const double open = costs->open, extend = costs->extend;
    const int local = costs->local;
    const ssvm_v2 zero = {0.0, 0.0}, never = zero - INFINITY, start = local ? zero : never;
    ssvm_v2 *const on = (ssvm_v2 *)scratch;            /* [j, pair] best path that ends in a cell, or starts there */
    ssvm_v2 *const down = on + (m + 1) * SSVM_PAIRS;   /* [j, pair] best path that ends in the cell below by D */
    ssvm_v2 *const beyond = down + (m + 1) * SSVM_PAIRS;        /* [j, pair] -inf where a sequence has no letter j */
    ssvm_v2 across[SSVM_PAIRS], top[SSVM_PAIRS], diagonal[SSVM_PAIRS];
    for (int p = 0; p < SSVM_PAIRS; p++) across[p] = top[p] = never;
    for (ptrdiff_t j = 0; j <= m; j++)
        for (int p = 0; p < SSVM_PAIRS; p++) {
            const ssvm_v2 enter = j == 0 ? zero : start;
            const ptrdiff_t at = j * SSVM_PAIRS + p;
            for (int l = 0; l < 2; l++) beyond[at][l] = j <= lengths[2 * p + l] ? 0.0 : -INFINITY;
            on[at] = ssvm_max2(enter, across[p]);
            down[at] = on[at] + open;
            across[p] = ssvm_max2(enter + open, across[p] + extend);
            top[p] = ssvm_max2(top[p], on[at] + beyond[at]);
        }
    for (ptrdiff_t i = 0; i < n; i++) {
        const double *const row = costs->s + x[i] * costs->L;
        for (int p = 0; p < SSVM_PAIRS; p++) {
            const ssvm_v2 d = down[p];
            diagonal[p] = on[p];
            on[p] = ssvm_max2(start, d);
            down[p] = ssvm_max2(start + open, d + extend);
            across[p] = on[p] + open;
            top[p] = ssvm_max2(top[p], on[p]);
        }
        for (ptrdiff_t j = 1; j <= m; j++)
            for (int p = 0; p < SSVM_PAIRS; p++) {
                const ptrdiff_t at = j * SSVM_PAIRS + p;
                const uint8_t *const letter = y + 2 * (at - SSVM_PAIRS);
                const ssvm_v2 score = {row[letter[0]], row[letter[1]]}, d = down[at];
                const ssvm_v2 pair = ssvm_max2(start, diagonal[p] + score);
                const ssvm_v2 not_d = ssvm_max2(pair, across[p]), not_i = ssvm_max2(pair, d);
                diagonal[p] = on[at];
                on[at] = ssvm_max2(not_d, d);
                down[at] = ssvm_max2(not_d + open, d + extend);
                across[p] = ssvm_max2(not_i + open, across[p] + extend);
                top[p] = ssvm_max2(top[p], on[at] + beyond[at]);
            }
    }
    for (int l = 0; l < SSVM_LANES; l++) {
        const ptrdiff_t at = lengths[l] * SSVM_PAIRS + l / 2;
        best[l] = local ? top[l / 2][l % 2] : on[at][l % 2];
    }
}

/* table[(i * (m + 1) + j) * 3 + k]: the highest score of a path that ends in (i, j), by S, I, D for k = 0, 1, 2. */
SSVM_CLONES static void ssvm_align_table(const ssvm_align_costs *costs, ptrdiff_t n, const uint8_t *x, ptrdiff_t m,
                                         const uint8_t *y, double *table)
{
    const double open = costs->open, extend = costs->extend, start = costs->local ? 0.0 : -INFINITY;
    for (ptrdiff_t i = 0; i <= n; i++) {
        double *const now = table + i * (m + 1) * 3, *const above = now - (m + 1) * 3;
        for (ptrdiff_t j = 0; j <= m; j++) {
            double *const cell = now + 3 * j;
            cell[0] = cell[1] = cell[2] = -INFINITY;
            if (i > 0 && j > 0) {
                const double *before = above + 3 * (j - 1);
                const double in = ssvm_larger(i == 1 && j == 1 ? 0.0 : start, before[0]);
                cell[0] = ssvm_larger(ssvm_larger(in, before[1]), before[2]) + costs->s[x[i - 1] * costs->L + y[j - 1]];
            }
            if (j > 0) {
                const double *before = cell - 3;
                const double in = ssvm_larger(i == 0 && j == 1 ? 0.0 : start, before[0]);
                cell[1] = ssvm_larger(ssvm_larger(in, before[2]) + open, before[1] + extend);
            }
            if (i > 0) {
                const double *before = above + 3 * j;
                const double in = ssvm_larger(i == 1 && j == 0 ? 0.0 : start, before[0]);
                cell[2] = ssvm_larger(ssvm_larger(in, before[1]) + open, before[2] + extend);
            }
        }
    }
}

#endif
