/* Vector kernels over rows of labels.
 *
 * A row is `stride` doubles, stride a multiple of 4, the labels first and padding after them. Loops run over
 * labels element by element and every sum has a fixed order. The same source is compiled for several
 * instruction sets and the loader picks one, so a build for one machine runs, and runs fast, on another.
 */
#ifndef SSVM_VECTOR_H
#define SSVM_VECTOR_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(SSVM_ONE_ISA)
#if (defined(__clang__) && __clang_major__ >= 17) || (!defined(__clang__) && __GNUC__ >= 12)
#define SSVM_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SSVM_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#else
#define SSVM_CLONES
#endif
#define SSVM_INLINE static inline __attribute__((always_inline))

/* Eight and four lanes; unaligned, because a row of a caller's array need not be aligned. */
typedef double ssvm_v8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef double ssvm_v4 __attribute__((vector_size(32), aligned(8), may_alias));

enum { SSVM_WIDE = 8 };            /* quads of labels that one block of registers holds */

/* A row of B quads in registers: B / 2 vectors of eight lanes and one of four if B is odd. */
typedef struct {
    ssvm_v8 v[SSVM_WIDE / 2];
    ssvm_v4 rest;
} ssvm_row;

SSVM_INLINE void ssvm_row_zero(const int B, ssvm_row *r)
{
    for (int b = 0; b < B / 2; b++) r->v[b] = (ssvm_v8){0, 0, 0, 0, 0, 0, 0, 0};
    if (B & 1) r->rest = (ssvm_v4){0, 0, 0, 0};
}

/* r += x[:] */
SSVM_INLINE void ssvm_row_add(const int B, ssvm_row *r, const double *x)
{
    for (int b = 0; b < B / 2; b++) r->v[b] += ((const ssvm_v8 *)x)[b];
    if (B & 1) r->rest += *(const ssvm_v4 *)(x + 4 * (B - 1));
}

/* r += s * x[:] */
SSVM_INLINE void ssvm_row_axpy(const int B, ssvm_row *r, double s, const double *x)
{
    for (int b = 0; b < B / 2; b++) r->v[b] += s * ((const ssvm_v8 *)x)[b];
    if (B & 1) r->rest += s * *(const ssvm_v4 *)(x + 4 * (B - 1));
}

SSVM_INLINE void ssvm_row_store(const int B, const ssvm_row *r, double *out)
{
    for (int b = 0; b < B / 2; b++) ((ssvm_v8 *)out)[b] = r->v[b];
    if (B & 1) *(ssvm_v4 *)(out + 4 * (B - 1)) = r->rest;
}

/* Runs BODY(B) with the compile-time constant B = number of quads in this block, block after block. */
#define SSVM_BLOCKS(stride, at, BODY)                                                                      \
    for (ptrdiff_t at = 0; at < (stride); at += 4 * SSVM_WIDE) {                                           \
        switch (((stride) - at) / 4) {                                                                     \
        case 1: BODY(1); break;                                                                            \
        case 2: BODY(2); break;                                                                            \
        case 3: BODY(3); break;                                                                            \
        case 4: BODY(4); break;                                                                            \
        case 5: BODY(5); break;                                                                            \
        case 6: BODY(6); break;                                                                            \
        case 7: BODY(7); break;                                                                            \
        default: BODY(8); break;                                                                           \
        }                                                                                                  \
    }

/* ------------------------------------------------------------------------------- sparse rows of weights */

SSVM_INLINE void ssvm_gather_block(const int B, const double *w, ptrdiff_t stride, const int32_t *index,
                                   const double *value, ptrdiff_t count, double *out)
{
    ssvm_row sum;
    ssvm_row_zero(B, &sum);
    if (value == NULL)
        for (ptrdiff_t p = 0; p < count; p++) ssvm_row_add(B, &sum, w + index[p] * stride);
    else
        for (ptrdiff_t p = 0; p < count; p++) ssvm_row_axpy(B, &sum, value[p], w + index[p] * stride);
    ssvm_row_store(B, &sum, out);
}

/* out[:] = sum_p value[p] * w[index[p], :]; value may be NULL (all ones). */
SSVM_CLONES static void ssvm_gather(const double *w, ptrdiff_t stride, const int32_t *index, const double *value,
                                    ptrdiff_t count, double *out)
{
#define BODY(B) ssvm_gather_block(B, w + at, stride, index, value, count, out + at)
    SSVM_BLOCKS(stride, at, BODY)
#undef BODY
}

/* The tokens begin..end-1 of a data set at once: out[t - begin, :]. Rows of the weights are random memory,
 * so the ones a few features ahead (of the next tokens too) are asked for early. */
SSVM_INLINE void ssvm_gather_tokens_block(const int B, const double *w, ptrdiff_t stride, const int64_t *indptr,
                                          const int32_t *index, const double *value, ptrdiff_t begin,
                                          ptrdiff_t end, double *out)
{
    enum { AHEAD = 16 };
    const ptrdiff_t last = indptr[end];
    for (ptrdiff_t t = begin; t < end; t++) {
        ssvm_row sum;
        ssvm_row_zero(B, &sum);
        for (ptrdiff_t p = indptr[t]; p < indptr[t + 1]; p++) {
            const double *row = w + index[p] * stride;
            if (p + AHEAD < last) {
                const char *next = (const char *)(w + index[p + AHEAD] * stride);
                for (int c = 0; c < 32 * B; c += 64) __builtin_prefetch(next + c);
            }
            if (value == NULL)
                ssvm_row_add(B, &sum, row);
            else
                ssvm_row_axpy(B, &sum, value[p], row);
        }
        ssvm_row_store(B, &sum, out + (t - begin) * stride);
    }
}

SSVM_CLONES static void ssvm_gather_tokens(const double *w, ptrdiff_t stride, const int64_t *indptr,
                                           const int32_t *index, const double *value, ptrdiff_t begin,
                                           ptrdiff_t end, double *out)
{
#define BODY(B) ssvm_gather_tokens_block(B, w + at, stride, indptr, index, value, begin, end, out + at)
    SSVM_BLOCKS(stride, at, BODY)
#undef BODY
}

/* w[index[p], :] += scale * value[p] * row[:]. */
SSVM_CLONES static void ssvm_scatter(double *w, ptrdiff_t stride, const int32_t *index, const double *value,
                                     ptrdiff_t count, double scale, const double *row)
{
    for (ptrdiff_t p = 0; p < count; p++) {
        double *to = w + index[p] * stride;
        const double s = value == NULL ? scale : scale * value[p];
        for (ptrdiff_t k = 0; k < stride; k++) to[k] += s * row[k];
    }
}

/* to[:] += scale * from[:] */
SSVM_CLONES static void ssvm_axpy(ptrdiff_t n, double scale, const double *from, double *to)
{
    for (ptrdiff_t k = 0; k < n; k++) to[k] += scale * from[k];
}

/* to[:] *= scale */
SSVM_CLONES static void ssvm_scale(ptrdiff_t n, double scale, double *to)
{
    for (ptrdiff_t k = 0; k < n; k++) to[k] *= scale;
}

/* sum_k x[k] y[k] in sixteen lanes that are added in a fixed order. */
SSVM_CLONES static double ssvm_dot(ptrdiff_t n, const double *x, const double *y)
{
    ssvm_v8 a = {0, 0, 0, 0, 0, 0, 0, 0}, b = a;
    ptrdiff_t k = 0;
    for (; k + 16 <= n; k += 16) {
        a += *(const ssvm_v8 *)(x + k) * *(const ssvm_v8 *)(y + k);
        b += *(const ssvm_v8 *)(x + k + 8) * *(const ssvm_v8 *)(y + k + 8);
    }
    a += b;
    double sum = ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));
    for (; k < n; k++) sum += x[k] * y[k];
    return sum;
}

/* One outer step of extrapolation, in one sweep over memory. w is the new iterate, before the one of the step before,
 * center the point around which the inner problem was, mean a running average of iterates. Writes
 * center <- w + beta (w - before), before <- w, w += share (new center - old center). Returns
 * <old center - w, w - before>: positive where the step went against the momentum that led to it. */
SSVM_CLONES static double ssvm_extrapolate(ptrdiff_t n, double *w, float *center, float *before, double share,
                                           double beta)
{
    enum { LANES = 8 };
    double part[LANES] = {0};
    ptrdiff_t k = 0;
    for (; k + LANES <= n; k += LANES)
        for (int l = 0; l < LANES; l++) {
            const double x = w[k + l], z = center[k + l], move = x - before[k + l];
            part[l] += (z - x) * move;
            const float next = (float)(x + beta * move);
            before[k + l] = (float)x;
            center[k + l] = next;
            w[k + l] = x + share * ((double)next - z);
        }
    double sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    for (; k < n; k++) {
        const double x = w[k], z = center[k], move = x - before[k];
        sum += (z - x) * move;
        const float next = (float)(x + beta * move);
        before[k] = (float)x;
        center[k] = next;
        w[k] = x + share * ((double)next - z);
    }
    return sum;
}

/* w = a w + b center */
SSVM_CLONES static void ssvm_blend(ptrdiff_t n, double a, double *w, double b, const float *center)
{
    for (ptrdiff_t k = 0; k < n; k++) w[k] = a * w[k] + b * center[k];
}

/* mean += rate (w - mean); returns ||w - share center||^2, for which w is read anyway. */
SSVM_CLONES static double ssvm_average(ptrdiff_t n, const double *w, const float *center, double share, float *mean,
                                       double rate)
{
    enum { LANES = 8 };
    double part[LANES] = {0};
    ptrdiff_t k = 0;
    for (; k + LANES <= n; k += LANES)
        for (int l = 0; l < LANES; l++) {
            const double d = w[k + l] - share * center[k + l];
            part[l] += d * d;
            mean[k + l] = (float)(mean[k + l] + rate * (w[k + l] - mean[k + l]));
        }
    double sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    for (; k < n; k++) {
        const double d = w[k] - share * center[k];
        sum += d * d;
        mean[k] = (float)(mean[k] + rate * (w[k] - mean[k]));
    }
    return sum;
}

/* g = scale * g + lam * w; adds <w, w> to norms[0] and <g, g> to norms[1]: the end of a gradient in one sweep. */
SSVM_CLONES static void ssvm_regularise(ptrdiff_t n, const double *w, double lam, double scale, double *g,
                                        double *norms)
{
    enum { LANES = 8 };
    double ww[LANES] = {0}, gg[LANES] = {0};
    ptrdiff_t k = 0;
    for (; k + LANES <= n; k += LANES)
        for (int l = 0; l < LANES; l++) {
            const double x = w[k + l], y = scale * g[k + l] + lam * x;
            g[k + l] = y;
            ww[l] += x * x;
            gg[l] += y * y;
        }
    norms[0] += ((ww[0] + ww[1]) + (ww[2] + ww[3])) + ((ww[4] + ww[5]) + (ww[6] + ww[7]));
    norms[1] += ((gg[0] + gg[1]) + (gg[2] + gg[3])) + ((gg[4] + gg[5]) + (gg[6] + gg[7]));
    for (; k < n; k++) {
        g[k] = scale * g[k] + lam * w[k];
        norms[0] += w[k] * w[k];
        norms[1] += g[k] * g[k];
    }
}

/* ----------------------------------------------------------------------------------------- rows of labels */

/* Largest of n values, n >= 1. */
SSVM_INLINE double ssvm_max(ptrdiff_t n, const double *x)
{
    double top = x[0];
    for (ptrdiff_t k = 1; k < n; k++) top = x[k] > top ? x[k] : top;
    return top;
}

/* Index of the first largest of n values. */
SSVM_INLINE ptrdiff_t ssvm_argmax(ptrdiff_t n, const double *x)
{
    ptrdiff_t best = 0;
    for (ptrdiff_t k = 1; k < n; k++)
        if (x[k] > x[best]) best = k;
    return best;
}

/* Sum of a row, stride a multiple of 4, in four lanes. */
SSVM_INLINE double ssvm_sum(ptrdiff_t stride, const double *x)
{
    ssvm_v4 a = {0, 0, 0, 0};
    for (ptrdiff_t k = 0; k < stride; k += 4) a += *(const ssvm_v4 *)(x + k);
    return (a[0] + a[1]) + (a[2] + a[3]);
}

/* exp(x) for x <= 709, branch-free so that it vectorises; 0 below -708 (so for -inf), relative error below
 * 2 ulp. exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln(2)/2, Taylor polynomial of degree 13. */
SSVM_INLINE double ssvm_exp1(double x)
{
    const double shift = 6755399441055744.0;                 /* 1.5 * 2^52: adding it rounds to an integer */
    const double c = x < -708.0 ? -708.0 : x;
    const double t = c * 1.4426950408889634074 + shift;
    const double n = t - shift;
    const double r = (c - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    int64_t bits;
    memcpy(&bits, &t, 8);
    bits = (int64_t)((uint64_t)bits << 52);                  /* n sits in the low bits of t */
    int64_t value;
    memcpy(&value, &p, 8);
    value += bits;
    double y;
    memcpy(&y, &value, 8);
    return x < -708.0 ? 0.0 : y;
}

/* out[k] = exp(x[k] - shift) */
SSVM_CLONES static void ssvm_exp(ptrdiff_t n, const double *x, double shift, double *out)
{
    for (ptrdiff_t k = 0; k < n; k++) out[k] = ssvm_exp1(x[k] - shift);
}

#endif
