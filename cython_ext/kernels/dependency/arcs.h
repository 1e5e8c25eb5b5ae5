/* Sums over the features of all arcs of a sentence, whose weights stand in a small table of the sentence's own.
 *
 * The places of arc a are place[begin[a]..begin[a + 1] - 1]. A weight alone is double p >> 4 of the table, together
 * with the one p & 15 behind it unless that is 0; a row of weights is p, of `stride` doubles. Scores and values of arc
 * a begin at a * stride.
 */
#ifndef SSVM_ARCS_H
#define SSVM_ARCS_H

#include "cython_ext/kernels/vectors/vector.h"

/* scores[a, 0] = the sum of the weights of arc a. */
SSVM_CLONES static void ssvm_arcs_scores(ptrdiff_t arcs, const int64_t *begin, const uint32_t *place,
                                         const double *table, ptrdiff_t stride, double *scores)
{
    for (ptrdiff_t a = 0; a < arcs; a++) {
        double x = 0.0;
        for (int64_t k = begin[a]; k < begin[a + 1]; k++) {
            const double *w = table + (place[k] >> 4);
            x += place[k] & 15 ? w[0] + w[place[k] & 15] : w[0];
        }
        scores[a * stride] = x;
    }
}

SSVM_INLINE void ssvm_arc_rows_block(const int B, ptrdiff_t count, const uint32_t *place, const double *table,
                                     ptrdiff_t stride, double x, double *out)
{
    ssvm_row sum;
    ssvm_row_zero(B, &sum);
    for (int b = 0; b < B / 2; b++) sum.v[b] += x;
    if (B & 1) sum.rest += x;
    for (ptrdiff_t k = 0; k < count; k++) ssvm_row_add(B, &sum, table + place[k] * stride);
    ssvm_row_store(B, &sum, out);
}

/* scores[a, :] = scores[a, 0] + the sum of the rows of arc a. */
SSVM_CLONES static void ssvm_arcs_row_scores(ptrdiff_t arcs, const int64_t *begin, const uint32_t *place,
                                             const double *table, ptrdiff_t stride, double *scores)
{
    for (ptrdiff_t a = 0; a < arcs; a++) {
        const double x = scores[a * stride];
#define BODY(B) ssvm_arc_rows_block(B, begin[a + 1] - begin[a], place + begin[a], table + at, stride, x, \
                                    scores + a * stride + at)
        SSVM_BLOCKS(stride, at, BODY)
#undef BODY
    }
}

/* Adds x to the weights of one arc. */
SSVM_INLINE void ssvm_arc_add(ptrdiff_t count, const uint32_t *place, double x, double *table)
{
    for (ptrdiff_t k = 0; k < count; k++) {
        double *w = table + (place[k] >> 4);
        w[0] += x;
        if (place[k] & 15) w[place[k] & 15] += x;
    }
}

/* Adds the sum of values[a, :] to the weights of each arc. */
SSVM_CLONES static void ssvm_arcs_add(ptrdiff_t arcs, const int64_t *begin, const uint32_t *place, ptrdiff_t stride,
                                      const double *values, double *table)
{
    for (ptrdiff_t a = 0; a < arcs; a++) {
        double x = 0.0;
        for (ptrdiff_t r = 0; r < stride; r++) x += values[a * stride + r];
        if (x != 0.0) ssvm_arc_add(begin[a + 1] - begin[a], place + begin[a], x, table);
    }
}

/* Adds values[a, :] to the rows of each arc. */
SSVM_CLONES static void ssvm_arcs_add_rows(ptrdiff_t arcs, const int64_t *begin, const uint32_t *place,
                                           ptrdiff_t stride, const double *values, double *table)
{
    for (ptrdiff_t a = 0; a < arcs; a++) {
        const double *row = values + a * stride;
        int some = 0;
        for (ptrdiff_t r = 0; r < stride; r++) some |= row[r] != 0.0;
        if (!some) continue;
        for (int64_t k = begin[a]; k < begin[a + 1]; k++) {
            double *to = table + place[k] * stride;
            for (ptrdiff_t r = 0; r < stride; r++) to[r] += row[r];
        }
    }
}

/* table[k, :] = w[place[k], :] and w[place[k], :] += scale * table[k, :], for rows of `width` doubles. Weights are
 * random memory, so the ones a few rows ahead are asked for early. */
enum { SSVM_ROWS_AHEAD = 16 };

SSVM_CLONES static void ssvm_rows_load(ptrdiff_t rows, const uint32_t *place, ptrdiff_t width, const double *w,
                                       double *table)
{
    for (ptrdiff_t k = 0; k < rows; k++) {
        if (k + SSVM_ROWS_AHEAD < rows)
            for (ptrdiff_t r = 0; r < width; r += 8)
                __builtin_prefetch(w + (ptrdiff_t)place[k + SSVM_ROWS_AHEAD] * width + r);
        for (ptrdiff_t r = 0; r < width; r++) table[k * width + r] = w[(ptrdiff_t)place[k] * width + r];
    }
}

SSVM_CLONES static void ssvm_rows_store(ptrdiff_t rows, const uint32_t *place, ptrdiff_t width, double scale,
                                        const double *table, double *w)
{
    for (ptrdiff_t k = 0; k < rows; k++) {
        if (k + SSVM_ROWS_AHEAD < rows)
            for (ptrdiff_t r = 0; r < width; r += 8)
                __builtin_prefetch(w + (ptrdiff_t)place[k + SSVM_ROWS_AHEAD] * width + r, 1);
        for (ptrdiff_t r = 0; r < width; r++) w[(ptrdiff_t)place[k] * width + r] += scale * table[k * width + r];
    }
}

#endif
