/* First-order chains: Viterbi and scaled forward-backward over rows of labels.
 *
 * T positions, K labels, rows of S >= K doubles (S a multiple of 4). u[t, k] scores label k at position t;
 * a[j, k] scores the transition from j to k; step is 0 when all positions share one S x S block, S * S when
 * position t = 1..T-1 has the block a + (t - 1) * step.
 */
#ifndef SSVM_CHAIN_H
#define SSVM_CHAIN_H

#include "cython_ext/kernels/vectors/vector.h"

/* out[k] = max_j x[j] + a[j, k] */
SSVM_INLINE void ssvm_max_plus_block(const int B, ptrdiff_t K, ptrdiff_t S, const double *x, const double *a,
                                     double *out)
{
    double top[4 * SSVM_WIDE];
    for (int k = 0; k < 4 * B; k++) top[k] = -INFINITY;
    for (ptrdiff_t j = 0; j < K; j++) {
        const double from = x[j];
        const double *row = a + j * S;
        for (int k = 0; k < 4 * B; k++) {
            const double c = from + row[k];
            top[k] = c > top[k] ? c : top[k];
        }
    }
    for (int k = 0; k < 4 * B; k++) out[k] = top[k];
}

/* out[k] = sum_j x[j] a[j, k] */
SSVM_INLINE void ssvm_sum_product_block(const int B, ptrdiff_t K, ptrdiff_t S, const double *x, const double *a,
                                        double *out)
{
    ssvm_row sum;
    ssvm_row_zero(B, &sum);
    for (ptrdiff_t j = 0; j < K; j++) ssvm_row_axpy(B, &sum, x[j], a + j * S);
    ssvm_row_store(B, &sum, out);
}

SSVM_INLINE void ssvm_sum_product(ptrdiff_t K, ptrdiff_t S, const double *x, const double *a, double *out)
{
#define BODY(B) ssvm_sum_product_block(B, K, S, x, a + at, out + at)
    SSVM_BLOCKS(S, at, BODY)
#undef BODY
}

/* Best labelling, the first one in the order of the last label, then of the ones before it, among equals.
 * v is scratch of T * S. Returns its score; -inf (and labels all the same) when every labelling is forbidden. */
SSVM_CLONES static double ssvm_viterbi(ptrdiff_t T, ptrdiff_t K, ptrdiff_t S, const double *u, const double *a,
                                       ptrdiff_t step, double *v, int32_t *labels)
{
    memcpy(v, u, K * sizeof(double));
    for (ptrdiff_t t = 1; t < T; t++) {
        const double *before = v + (t - 1) * S, *block = a + (t - 1) * step;
        double *now = v + t * S;
#define BODY(B) ssvm_max_plus_block(B, K, S, before, block + at, now + at)
        SSVM_BLOCKS(S, at, BODY)
#undef BODY
        for (ptrdiff_t k = 0; k < K; k++) now[k] += u[t * S + k];
    }
    ptrdiff_t best = ssvm_argmax(K, v + (T - 1) * S);
    const double value = v[(T - 1) * S + best];
    labels[T - 1] = (int32_t)best;
    /* The maxima are recomputed on the way back: cheaper than keeping back pointers on the way out. */
    for (ptrdiff_t t = T - 1; t > 0; t--) {
        const double *before = v + (t - 1) * S, *block = a + (t - 1) * step + best;
        ptrdiff_t from = 0;
        double top = before[0] + block[0];
        for (ptrdiff_t j = 1; j < K; j++) {
            const double c = before[j] + block[j * S];
            if (c > top) { top = c; from = j; }
        }
        best = from;
        labels[t - 1] = (int32_t)best;
    }
    return value;
}

/* v[t, e, k] = best score of a prefix that ends in label k at t with e labels other than right[.]; -inf where there is
 * none. v has T planes of T + 1 rows, of which plane t has t + 2 filled in. */
SSVM_CLONES static void ssvm_viterbi_by_errors(ptrdiff_t T, ptrdiff_t K, ptrdiff_t S, const double *u, const double *a,
                                               ptrdiff_t step, const int32_t *right, double *v)
{
    const ptrdiff_t plane = (T + 1) * S;
    for (ptrdiff_t k = 0; k < S; k++) v[k] = -INFINITY;
    memcpy(v + S, u, K * sizeof(double));
    v[right[0]] = u[right[0]];
    v[S + right[0]] = -INFINITY;
    for (ptrdiff_t t = 1; t < T; t++) {
        const double *block = a + (t - 1) * step;
        double *now = v + t * plane;
        for (ptrdiff_t k = 0; k < S; k++) now[k] = -INFINITY;
        for (ptrdiff_t e = 0; e <= t; e++) {
            /* one label more: all but the right one make an error */
            const double *before = v + (t - 1) * plane + e * S;
            double *out = now + (e + 1) * S;
#define BODY(B) ssvm_max_plus_block(B, K, S, before, block + at, out + at)
            SSVM_BLOCKS(S, at, BODY)
#undef BODY
            for (ptrdiff_t k = 0; k < K; k++) out[k] += u[t * S + k];
            now[e * S + right[t]] = out[right[t]];
            out[right[t]] = -INFINITY;
        }
    }
}

/* log sum of exp(score) over all labellings, mean[t, k] = P(y_t = k), pair[j, k] = expected transitions (summed
 * over t, or one S x S block each where step > 0). Padding comes out as 0. scratch: (2 T + 1) * S + 2 * blocks * S * S
 * + T doubles with blocks = 1 or T - 1.
 *
 * Probability space with one scale per position (the sum of the forward vector). Where a scale is so small that
 * lost terms could matter, or anything overflows, returns NaN: the caller falls back to log space. */
SSVM_CLONES static double ssvm_forward_backward(ptrdiff_t T, ptrdiff_t K, ptrdiff_t S, const double *u, const double *a,
                                                ptrdiff_t step, double *mean, double *pair, double *scratch)
{
    const double tiny = 1e-200, huge = 1e290;
    const ptrdiff_t blocks = T < 2 ? 0 : step ? T - 1 : 1, square = S * S;
    double *const e = scratch, *const alpha = e + T * S, *const beta = alpha + T * S;
    double *const x = beta + S, *const xt = x + blocks * square;      /* exp(a - top) and its transpose */
    double *const inverse = xt + blocks * square;                      /* of the scales */
    double log_z = 0.0;
    for (ptrdiff_t b = 0; b < blocks; b++) {
        double top = -INFINITY;
        for (ptrdiff_t j = 0; j < K; j++) {
            const double m = ssvm_max(K, a + b * square + j * S);
            top = m > top ? m : top;
        }
        if (!(top > -INFINITY)) return NAN;
        log_z += step ? top : (T - 1) * top;
        for (ptrdiff_t j = 0; j < K; j++) {
            double *row = x + b * square + j * S;
            for (ptrdiff_t k = 0; k < S; k++) row[k] = ssvm_exp1(a[b * square + j * S + k] - top);
            for (ptrdiff_t k = K; k < S; k++) row[k] = 0.0;
        }
        double *const transposed = xt + b * square;
        for (ptrdiff_t k = 0; k < K; k++) {
            for (ptrdiff_t j = 0; j < K; j++) transposed[k * S + j] = x[b * square + j * S + k];
            for (ptrdiff_t j = K; j < S; j++) transposed[k * S + j] = 0.0;
        }
    }
    for (ptrdiff_t t = 0; t < T; t++) {
        double *now = alpha + t * S, *et = e + t * S;
        const double top = ssvm_max(K, u + t * S);
        if (!(top > -INFINITY)) return NAN;
        for (ptrdiff_t k = 0; k < S; k++) et[k] = ssvm_exp1(u[t * S + k] - top);
        for (ptrdiff_t k = K; k < S; k++) et[k] = 0.0;
        if (t == 0)
            memcpy(now, et, S * sizeof(double));
        else {
            ssvm_sum_product(K, S, now - S, x + (step ? (t - 1) * square : 0), now);
            for (ptrdiff_t k = 0; k < S; k++) now[k] *= et[k];
        }
        const double scale = ssvm_sum(S, now);
        if (!(scale > tiny && scale < INFINITY)) return NAN;
        inverse[t] = 1.0 / scale;
        for (ptrdiff_t k = 0; k < S; k++) now[k] *= inverse[t];
        log_z += log(scale) + top;
        /* e[t, :] / scale is what the way back needs */
        for (ptrdiff_t k = 0; k < S; k++) et[k] *= inverse[t];
    }
    for (ptrdiff_t k = 0; k < S; k++) beta[k] = k < K ? 1.0 : 0.0;
    memcpy(mean + (T - 1) * S, alpha + (T - 1) * S, S * sizeof(double));
    for (ptrdiff_t t = T - 1; t > 0; t--) {
        double *q = e + t * S;                                         /* becomes e / scale * beta */
        const double *before = alpha + (t - 1) * S;
        for (ptrdiff_t k = 0; k < S; k++) q[k] *= beta[k];
        ssvm_sum_product(K, S, q, xt + (step ? (t - 1) * square : 0), beta);
        /* A forward term (a label's or a transition's exponential, too) is gone when it was below 1e-307 before it was
         * scaled; it matters only where the way back weighs it this much. */
        if (!(ssvm_max(K, beta) * inverse[t - 1] < huge)) return NAN;
        double *m = mean + (t - 1) * S;
        for (ptrdiff_t k = 0; k < S; k++) m[k] = before[k] * beta[k];
        const double total = ssvm_sum(S, m);
        if (!(fabs(total - 1.0) < 1e-6)) return NAN;
        if (step) {
            double *out = pair + (t - 1) * square;
            const double *block = x + (t - 1) * square;
            for (ptrdiff_t j = 0; j < K; j++)
                for (ptrdiff_t k = 0; k < S; k++) out[j * S + k] = before[j] * block[j * S + k] * q[k];
            memset(out + K * S, 0, (S - K) * S * sizeof(double));
        }
    }
    if (!step && T > 1) {
        /* pair[j, k] = x[j, k] sum_t alpha[t-1, j] q[t, k]: one row in registers at a time */
        for (ptrdiff_t j = 0; j < K; j++) {
            double *out = pair + j * S;
#define BODY(B)                                                                                            \
    {                                                                                                      \
        ssvm_row sum;                                                                                      \
        ssvm_row_zero(B, &sum);                                                                            \
        for (ptrdiff_t t = 1; t < T; t++) ssvm_row_axpy(B, &sum, alpha[(t - 1) * S + j], e + t * S + at);  \
        ssvm_row_store(B, &sum, out + at);                                                                 \
    }
            SSVM_BLOCKS(S, at, BODY)
#undef BODY
            for (ptrdiff_t k = 0; k < S; k++) out[k] *= x[j * S + k];
        }
        memset(pair + K * S, 0, (S - K) * S * sizeof(double));
    } else if (!step)
        memset(pair, 0, square * sizeof(double));
    return log_z;
}

/* For recursions with logarithms: shift[k] = max_j alpha[j] + block[j, k], terms[j, k] = exp(alpha[j] + block[j, k] -
 * shift[k]) and their sums over j; where that maximum is -inf, all terms are 0. */
SSVM_CLONES static void ssvm_terms_before(ptrdiff_t K, ptrdiff_t S, const double *alpha, const double *block,
                                          double *shift, double *terms, double *sums)
{
    for (ptrdiff_t k = 0; k < K; k++) {
        shift[k] = -INFINITY;
        sums[k] = 0.0;
    }
    for (ptrdiff_t j = 0; j < K; j++)
        for (ptrdiff_t k = 0; k < K; k++) {
            const double c = alpha[j] + block[j * S + k];
            shift[k] = c > shift[k] ? c : shift[k];
        }
    for (ptrdiff_t k = 0; k < K; k++) shift[k] = shift[k] == -INFINITY ? INFINITY : shift[k];
    for (ptrdiff_t j = 0; j < K; j++) {
        double *const row = terms + j * S;
        for (ptrdiff_t k = 0; k < K; k++) row[k] = ssvm_exp1(alpha[j] + block[j * S + k] - shift[k]);
        for (ptrdiff_t k = 0; k < K; k++) sums[k] += row[k];
    }
}

/* The probabilities `after` of the labels of a position, shared out among the labels before it: pair[j, k] += after[k]
 * terms[j, k] / sums[k], before[j] = their sums over k. Overwrites sums. */
SSVM_CLONES static void ssvm_share_out(ptrdiff_t K, ptrdiff_t S, const double *terms, double *sums, const double *after,
                                       double *before, double *pair)
{
    for (ptrdiff_t k = 0; k < K; k++) sums[k] = after[k] > 0.0 ? after[k] / sums[k] : 0.0;
    for (ptrdiff_t j = 0; j < K; j++) {
        double total = 0.0;
        for (ptrdiff_t k = 0; k < K; k++) {
            const double share = sums[k] * terms[j * S + k];
            pair[j * S + k] += share;
            total += share;
        }
        before[j] = total;
    }
}

#endif
