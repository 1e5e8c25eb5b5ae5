/* Second-order chains: Viterbi and scaled forward-backward over pairs of labels.
 *
 * T >= 3 positions; u, a and step as in chain.h. c[q, p, r], rows of S third labels, scores the triplet p, q, r
 * wherever it stands. Prefixes are known by their last two labels: a plane v_t[q, r] is K rows of S, the label of t - 1
 * first, and plane t has number t - 1. For a given label q in the middle, row q of the next plane is a first-order step
 * from column q of this one, over the block c[q].
 */
#ifndef SSVM_CHAIN2_H
#define SSVM_CHAIN2_H

#include "cython_ext/kernels/vectors/vector.h"

/* The loops over blocks of labels are in functions of their own, a call for a plane: each is code for eight widths of a
 * block and three instruction sets, which is most of what the compiler spends on a second-order chain. */

SSVM_INLINE void ssvm_max_plus_column_block(const int B, ptrdiff_t K, ptrdiff_t S, const double *x, const double *c,
                                            double *out)
{
    double top[4 * SSVM_WIDE];
    for (int k = 0; k < 4 * B; k++) top[k] = -INFINITY;
    for (ptrdiff_t j = 0; j < K; j++) {
        const double from = x[j * S];
        const double *row = c + j * S;
        for (int k = 0; k < 4 * B; k++) {
            const double s = from + row[k];
            top[k] = s > top[k] ? s : top[k];
        }
    }
    for (int k = 0; k < 4 * B; k++) out[k] = top[k];
}

/* out[q, r] = max_p x[p, q] + c[q, p, r] */
SSVM_CLONES static void ssvm_max_plus_columns(ptrdiff_t K, ptrdiff_t S, const double *x, const double *c, double *out)
{
    for (ptrdiff_t q = 0; q < K; q++, x++, c += K * S, out += S) {
#define BODY(B) ssvm_max_plus_column_block(B, K, S, x, c + at, out + at)
        SSVM_BLOCKS(S, at, BODY)
#undef BODY
    }
}

/* Numbers x[k, j] or rows x[k, j, :], where they stand. */
typedef struct {
    const double *x;
    ptrdiff_t next, stride;        /* from one k to the next one, from one j to the next one */
} ssvm_terms;

/* r *= x[:] */
SSVM_INLINE void ssvm_row_multiply(const int B, ssvm_row *r, const double *x)
{
    for (int b = 0; b < B / 2; b++) r->v[b] *= ((const ssvm_v8 *)x)[b];
    if (B & 1) r->rest *= *(const ssvm_v4 *)(x + 4 * (B - 1));
}

SSVM_INLINE void ssvm_sum_product_terms_block(const int B, ptrdiff_t n, const double *x, ptrdiff_t stride,
                                              const double *rows, ptrdiff_t rows_stride, const double *times,
                                              double *out)
{
    ssvm_row sum;
    ssvm_row_zero(B, &sum);
    for (ptrdiff_t j = 0; j < n; j++) ssvm_row_axpy(B, &sum, x[j * stride], rows + j * rows_stride);
    if (times) ssvm_row_multiply(B, &sum, times);
    ssvm_row_store(B, &sum, out);
}

SSVM_CLONES static void ssvm_wide_sum_products(ptrdiff_t K, ptrdiff_t n, ptrdiff_t S, ssvm_terms factor, ssvm_terms row,
                                               const double *times, double *out)
{
    for (ptrdiff_t k = 0; k < K; k++, factor.x += factor.next, row.x += row.next, out += S) {
        const double *const by = times ? times + k * S : NULL;
#define BODY(B) \
    ssvm_sum_product_terms_block(B, n, factor.x, factor.stride, row.x + at, row.stride, by ? by + at : NULL, out + at)
        SSVM_BLOCKS(S, at, BODY)
#undef BODY
    }
}

/* out[k, :] = times[k, :] sum_j factor[k, j] row[k, j, :] for k < K and j < n; times may be NULL (all ones). With up to
 * four labels a call would cost a tenth of the recursion. */
SSVM_INLINE void ssvm_sum_products(ptrdiff_t K, ptrdiff_t n, ptrdiff_t S, ssvm_terms factor, ssvm_terms row,
                                   const double *times, double *out)
{
    if (S > 4) {
        ssvm_wide_sum_products(K, n, S, factor, row, times, out);
        return;
    }
    for (ptrdiff_t k = 0; k < K; k++)
        ssvm_sum_product_terms_block(1, n, factor.x + k * factor.next, factor.stride, row.x + k * row.next, row.stride,
                                     times ? times + k * S : NULL, out + k * S);
}

/* Best labelling, the first one in the order of the last label, then of the ones before it, among equals.
 * v is scratch of (T - 1) * K * S. Returns its score; -inf (and some labels) when every labelling is forbidden. */
SSVM_CLONES static double ssvm_viterbi2(ptrdiff_t T, ptrdiff_t K, ptrdiff_t S, const double *u, const double *a,
                                        ptrdiff_t step, const double *c, double *v, int32_t *labels)
{
    const ptrdiff_t plane = K * S;
    for (ptrdiff_t q = 0; q < K; q++)
        for (ptrdiff_t k = 0; k < S; k++) v[q * S + k] = u[q] + (a[q * S + k] + u[S + k]);
    for (ptrdiff_t t = 2; t < T; t++) {
        const double *before = v + (t - 2) * plane, *block = a + (t - 1) * step, *ut = u + t * S;
        double *now = v + (t - 1) * plane;
        ssvm_max_plus_columns(K, S, before, c, now);
        for (ptrdiff_t q = 0; q < K; q++)
            for (ptrdiff_t k = 0; k < S; k++) now[q * S + k] += block[q * S + k] + ut[k];
    }
    const double *last = v + (T - 2) * plane;
    ptrdiff_t q = 0, r = 0;
    for (ptrdiff_t k = 0; k < K; k++)
        for (ptrdiff_t j = 0; j < K; j++)
            if (last[j * S + k] > last[q * S + r]) { q = j; r = k; }
    const double value = last[q * S + r];
    labels[T - 1] = (int32_t)r;
    labels[T - 2] = (int32_t)q;
    /* The maxima are recomputed on the way back: cheaper than keeping back pointers on the way out. */
    for (ptrdiff_t t = T - 1; t > 1; t--) {
        const double *before = v + (t - 2) * plane + q, *block = c + q * plane + r;
        ptrdiff_t p = 0;
        double top = before[0] + block[0];
        for (ptrdiff_t j = 1; j < K; j++) {
            const double s = before[j * S] + block[j * S];
            if (s > top) { top = s; p = j; }
        }
        labels[t - 2] = (int32_t)p;
        r = q;
        q = p;
    }
    return value;
}

/* v[t, e, q, r] = best score of a prefix that ends in labels q, r at t with e labels other than right[.]; -inf where
 * there is none. v has T - 1 groups, of t = 1, 2, ..., of T + 1 planes, of which group t has t + 2 filled in. */
SSVM_CLONES static void ssvm_viterbi2_by_errors(ptrdiff_t T, ptrdiff_t K, ptrdiff_t S, const double *u, const double *a,
                                                ptrdiff_t step, const double *c, const int32_t *right, double *v)
{
    const ptrdiff_t plane = K * S, group = (T + 1) * plane;
    for (ptrdiff_t k = 0; k < 3 * plane; k++) v[k] = -INFINITY;
    for (ptrdiff_t q = 0; q < K; q++)
        for (ptrdiff_t k = 0; k < K; k++)
            v[((q != right[0]) + (k != right[1])) * plane + q * S + k] = u[q] + (a[q * S + k] + u[S + k]);
    for (ptrdiff_t t = 2; t < T; t++) {
        const double *block = a + (t - 1) * step, *ut = u + t * S;
        double *now = v + (t - 1) * group;
        const ptrdiff_t same = right[t];
        for (ptrdiff_t k = 0; k < plane; k++) now[k] = -INFINITY;
        for (ptrdiff_t e = 0; e <= t; e++) {
            /* one label more: all but the right one make an error */
            const double *before = v + (t - 2) * group + e * plane;
            double *out = now + (e + 1) * plane;
            ssvm_max_plus_columns(K, S, before, c, out);
            for (ptrdiff_t q = 0; q < K; q++) {
                double *row = out + q * S;
                for (ptrdiff_t k = 0; k < S; k++) row[k] += block[q * S + k] + ut[k];
                row[same - plane] = row[same];
                row[same] = -INFINITY;
            }
        }
    }
}

SSVM_INLINE double ssvm_rows_max_block(const int B, ptrdiff_t rows, ptrdiff_t K, ptrdiff_t S, const double *x)
{
    double top[4 * SSVM_WIDE], best = -INFINITY;
    for (int k = 0; k < 4 * B; k++) top[k] = -INFINITY;
    for (ptrdiff_t j = 0; j < rows; j++)
        for (int k = 0; k < 4 * B; k++) top[k] = x[j * S + k] > top[k] ? x[j * S + k] : top[k];
    for (int k = 0; k < 4 * B && k < K; k++) best = top[k] > best ? top[k] : best;
    return best;
}

/* Largest number in rows of K numbers. */
SSVM_CLONES static double ssvm_rows_max(ptrdiff_t rows, ptrdiff_t K, ptrdiff_t S, const double *x)
{
    double best = -INFINITY;
#define BODY(B)                                                              \
    {                                                                        \
        const double top = ssvm_rows_max_block(B, rows, K - at, S, x + at);  \
        best = top > best ? top : best;                                      \
    }
    SSVM_BLOCKS(S, at, BODY)
#undef BODY
    return best;
}

/* to[j, k] = exp(from[j, k] - top) of `rows` rows of K numbers, 0 in the padding. Returns top, their largest; -inf, and
 * nothing is written, where they are all forbidden. */
SSVM_INLINE double ssvm_exp_rows(ptrdiff_t rows, ptrdiff_t K, ptrdiff_t S, const double *from, double *to)
{
    const double top = rows == 1 ? ssvm_max(K, from) : ssvm_rows_max(rows, K, S, from);
    if (!(top > -INFINITY)) return top;
    for (ptrdiff_t j = 0; j < rows; j++) {
        for (ptrdiff_t k = 0; k < S; k++) to[j * S + k] = ssvm_exp1(from[j * S + k] - top);
        for (ptrdiff_t k = K; k < S; k++) to[j * S + k] = 0.0;
    }
    return top;
}

/* to[q, r, p] = from[q, p, r], 0 in the padding. */
SSVM_INLINE void ssvm_transpose_blocks(ptrdiff_t K, ptrdiff_t S, const double *from, double *to)
{
    for (ptrdiff_t q = 0; q < K; q++, from += K * S, to += K * S)
        for (ptrdiff_t k = 0; k < K; k++) {
            for (ptrdiff_t j = 0; j < K; j++) to[k * S + j] = from[j * S + k];
            for (ptrdiff_t j = K; j < S; j++) to[k * S + j] = 0.0;
        }
}

SSVM_INLINE void ssvm_sum_rows_block(const int B, ptrdiff_t K, ptrdiff_t S, const double *x, double *out)
{
    ssvm_row sum;
    ssvm_row_zero(B, &sum);
    for (ptrdiff_t q = 0; q < K; q++) ssvm_row_add(B, &sum, x + q * S);
    ssvm_row_store(B, &sum, out);
}

/* Sum of a plane; row: S doubles of scratch. */
SSVM_INLINE double ssvm_plane_sum(ptrdiff_t K, ptrdiff_t S, const double *x, double *row)
{
    ptrdiff_t at = 0;
    for (; at + 8 <= S; at += 8) ssvm_sum_rows_block(2, K, S, x + at, row + at);
    if (at < S) ssvm_sum_rows_block(1, K, S, x + at, row + at);
    return ssvm_sum(S, row);
}

/* now[q, r] beta[q, r] are the probabilities of the last two labels: adds them to those of pairs, and their sums to
 * those of labels; f[q, r] *= beta[q, r]. */
SSVM_INLINE void ssvm_weigh_plane(ptrdiff_t K, ptrdiff_t S, const double *now, const double *beta, double *f,
                                  double *pairs, double *labels)
{
    for (ptrdiff_t q = 0; q < K; q++)
        for (ptrdiff_t k = 0; k < S; k++) {
            const double m = now[q * S + k] * beta[q * S + k];
            labels[k] += m;
            pairs[q * S + k] += m;
            f[q * S + k] *= beta[q * S + k];
        }
}

/* log sum of exp(score) over all labellings and the means of its parts: mean[t, k] of labels, pair[j, k] of pairs
 * (summed over t, or one S x S block each where step > 0), triple[q, p, r] of triplets. Padding comes out as 0.
 * scratch: T * (S + 1) + S + ((2 + blocks) + 2 K) * K * S + 2 (T - 1) * K * S doubles with blocks = 1 or T - 1.
 *
 * Probability space with one scale per plane, as in chain.h; returns NaN where the caller has to fall back to log
 * space. No factor of a term is above 1, so a term of a plane is gone only where it was below 1e-307 before it was
 * scaled. */
SSVM_CLONES static double ssvm_forward_backward2(ptrdiff_t T, ptrdiff_t K, ptrdiff_t S, const double *u,
                                                 const double *a,
                                                 ptrdiff_t step, const double *c, double *mean, double *pair,
                                                 double *triple, double *scratch)
{
    const double tiny = 1e-200, huge = 1e290;
    const ptrdiff_t blocks = step ? T - 1 : 1, square = S * S, plane = K * S;
    double *const e = scratch, *const inverse = e + T * S, *const row = inverse + T;    /* of labels; of the scales */
    double *const alpha = row + S, *const f = alpha + (T - 1) * plane, *const beta = f + (T - 1) * plane;
    double *const x = beta + plane, *const xt = x + K * plane, *const y = xt + K * plane;   /* of triplets, of pairs */
    double *const turned = y + blocks * plane;                              /* beta[q, r] as [r, q] */
    double top = ssvm_exp_rows(K * K, K, S, c, x);
    double log_z = (T - 2) * top;
    for (ptrdiff_t b = 0; b < blocks; b++) {
        top = ssvm_exp_rows(K, K, S, a + b * square, y + b * plane);
        log_z += step ? top : (T - 1) * top;
    }
    for (ptrdiff_t t = 0; t < T; t++) log_z += ssvm_exp_rows(1, K, S, u + t * S, e + t * S);
    if (!(log_z > -INFINITY)) return NAN;
    ssvm_transpose_blocks(K, S, x, xt);
    for (ptrdiff_t t = 1; t < T; t++) {
        double *now = alpha + (t - 1) * plane, *ft = f + (t - 1) * plane;
        const double *block = y + (step ? (t - 1) * plane : 0);
        for (ptrdiff_t q = 0; q < K; q++)
            for (ptrdiff_t k = 0; k < S; k++) ft[q * S + k] = block[q * S + k] * e[t * S + k];
        if (t == 1)
            for (ptrdiff_t q = 0; q < K; q++)
                for (ptrdiff_t k = 0; k < S; k++) now[q * S + k] = e[q] * ft[q * S + k];
        else
            ssvm_sum_products(K, K, S, (ssvm_terms){now - plane, 1, S}, (ssvm_terms){x, plane, S}, ft, now);
        const double scale = ssvm_plane_sum(K, S, now, row);
        if (!(scale > tiny && scale < INFINITY)) return NAN;
        inverse[t] = 1.0 / scale;
        log_z += log(scale);
        for (ptrdiff_t k = 0; k < plane; k++) now[k] *= inverse[t];
        for (ptrdiff_t k = 0; k < plane; k++) ft[k] *= inverse[t];
    }
    for (ptrdiff_t q = 0; q < K; q++)
        for (ptrdiff_t k = 0; k < S; k++) beta[q * S + k] = k < K ? 1.0 : 0.0;
    memset(mean, 0, T * S * sizeof(double));
    memset(pair, 0, blocks * square * sizeof(double));
    for (ptrdiff_t t = T - 1; t > 0; t--) {
        double *ft = f + (t - 1) * plane;
        ssvm_weigh_plane(K, S, alpha + (t - 1) * plane, beta, ft, pair + (step ? (t - 1) * square : 0), mean + t * S);
        if (!(fabs(ssvm_sum(S, mean + t * S) - 1.0) < 1e-6)) return NAN;
        if (t == 1) break;
        ssvm_sum_products(K, K, S, (ssvm_terms){ft, S, 1}, (ssvm_terms){xt, plane, S}, NULL, turned);
        for (ptrdiff_t q = 0; q < K; q++)
            for (ptrdiff_t j = 0; j < K; j++) beta[j * S + q] = turned[q * S + j];
        if (!(ssvm_plane_sum(K, S, beta, row) * inverse[t - 1] < huge)) return NAN;
    }
    for (ptrdiff_t q = 0; q < K; q++)
        for (ptrdiff_t k = 0; k < K; k++) mean[q] += alpha[q * S + k] * beta[q * S + k];
    /* triple[q, p, r] = x[q, p, r] sum_t alpha_{t-1}[p, q] f_t[q, r]: one row in registers at a time */
    for (ptrdiff_t q = 0; q < K; q++)
        ssvm_sum_products(K, T - 2, S, (ssvm_terms){alpha + q, S, plane}, (ssvm_terms){f + plane + q * S, 0, plane},
                          x + q * plane, triple + q * plane);
    return log_z;
}

/* cut[j, k] = x[j] + block[j, k] */
SSVM_CLONES static void ssvm_add_column(ptrdiff_t K, ptrdiff_t S, const double *x, const double *block, double *cut)
{
    for (ptrdiff_t j = 0; j < K; j++)
        for (ptrdiff_t k = 0; k < S; k++) cut[j * S + k] = x[j] + block[j * S + k];
}

SSVM_INLINE void ssvm_column_argmax_block(const int B, ptrdiff_t K, ptrdiff_t S, const double *cut, double *top,
                                          int64_t *first)
{
    double best[4 * SSVM_WIDE];
    int64_t place[4 * SSVM_WIDE];
    for (int k = 0; k < 4 * B; k++) {
        best[k] = cut[k];
        place[k] = 0;
    }
    for (ptrdiff_t j = 1; j < K; j++) {
        const double *row = cut + j * S;
        for (int k = 0; k < 4 * B; k++) {
            place[k] = row[k] > best[k] ? (int64_t)j : place[k];
            best[k] = row[k] > best[k] ? row[k] : best[k];
        }
    }
    for (int k = 0; k < 4 * B; k++) {
        top[k] = best[k];
        first[k] = place[k];
    }
}

/* top[k] = max_j cut[j, k], and the first j that has it. */
SSVM_CLONES static void ssvm_column_argmax(ptrdiff_t K, ptrdiff_t S, const double *cut, double *top, int64_t *first)
{
#define BODY(B) ssvm_column_argmax_block(B, K, S, cut + at, top + at, first + at)
    SSVM_BLOCKS(S, at, BODY)
#undef BODY
}

#endif
