/* Rows of a kernel matrix, a block of basis tokens at a time: inner products by the transposed features, the kernel
 * function over them, and the product with a block of coefficients.
 */
#ifndef SSVM_KERNEL_ROWS_H
#define SSVM_KERNEL_ROWS_H

#include "cython_ext/kernels/vectors/vector.h"

/* counts[row] += 1 for each attribute that a token has in common with a row of the block. start: [attributes + 1]
 * where the rows of each attribute begin. */
static void ssvm_count_common(const int32_t *index, ptrdiff_t count, const int32_t *start, const uint16_t *row,
                              uint8_t *counts)
{
    for (ptrdiff_t p = 0; p < count; p++)
        for (int32_t q = start[index[p]]; q < start[index[p] + 1]; q++) counts[row[q]]++;
}

/* products[row] += <token, row>; value and row_value may be NULL (all ones). */
static void ssvm_add_products(const int32_t *index, const double *value, ptrdiff_t count, const int32_t *start,
                              const uint16_t *row, const double *row_value, double *products)
{
    for (ptrdiff_t p = 0; p < count; p++) {
        const double x = value == NULL ? 1.0 : value[p];
        if (row_value == NULL)
            for (int32_t q = start[index[p]]; q < start[index[p] + 1]; q++) products[row[q]] += x;
        else
            for (int32_t q = start[index[p]]; q < start[index[p] + 1]; q++) products[row[q]] += x * row_value[q];
    }
}

/* x[k] = (gamma x[k] + coef0)^degree */
SSVM_CLONES static void ssvm_polynomial(ptrdiff_t n, double gamma, double coef0, long degree, double *x)
{
    for (ptrdiff_t k = 0; k < n; k++) {
        const double base = gamma * x[k] + coef0;
        double power = base;
        for (long d = 1; d < degree; d++) power *= base;
        x[k] = power;
    }
}

/* x[k] = exp(-gamma |a - b_k|^2) from x[k] = <a, b_k>, norm = |a|^2 and norms[k] = |b_k|^2 */
SSVM_CLONES static void ssvm_gaussian(ptrdiff_t n, double gamma, double norm, const double *norms, double *x)
{
    for (ptrdiff_t k = 0; k < n; k++) {
        const double distance = norm + norms[k] - 2.0 * x[k];
        x[k] = ssvm_exp1(-gamma * (distance > 0.0 ? distance : 0.0));
    }
}

/* out[k] = table[counts[k]] */
static void ssvm_look_up(ptrdiff_t n, const uint8_t *counts, const double *table, double *out)
{
    for (ptrdiff_t k = 0; k < n; k++) out[k] = table[counts[k]];
}

/* out[k] = table[|a - b_k|^2] of binary tokens: size = |a|^2, sizes[k] = |b_k|^2, counts[k] = <a, b_k> */
static void ssvm_look_up_distances(ptrdiff_t n, const uint8_t *counts, ptrdiff_t size, const uint8_t *sizes,
                                   const double *table, double *out)
{
    for (ptrdiff_t k = 0; k < n; k++) out[k] = table[size + sizes[k] - 2 * counts[k]];
}

SSVM_INLINE void ssvm_add_mixture_block(const int B, ptrdiff_t n, const double *share, const double *rows,
                                        ptrdiff_t stride, double *out)
{
    ssvm_row even, odd;
    ptrdiff_t k = 0;
    ssvm_row_zero(B, &even);
    ssvm_row_zero(B, &odd);
    for (; k + 2 <= n; k += 2) {
        ssvm_row_axpy(B, &even, share[k], rows + k * stride);
        ssvm_row_axpy(B, &odd, share[k + 1], rows + (k + 1) * stride);
    }
    if (k < n) ssvm_row_axpy(B, &even, share[k], rows + k * stride);
    for (int b = 0; b < B / 2; b++) even.v[b] += odd.v[b];
    if (B & 1) even.rest += odd.rest;
    ssvm_row_add(B, &even, out);
    ssvm_row_store(B, &even, out);
}

/* out[:] += sum_k share[k] rows[k, :] */
SSVM_CLONES static void ssvm_add_mixture(ptrdiff_t n, const double *share, const double *rows, ptrdiff_t stride,
                                         double *out)
{
#define BODY(B) ssvm_add_mixture_block(B, n, share, rows + at, stride, out + at)
    SSVM_BLOCKS(stride, at, BODY)
#undef BODY
}

SSVM_INLINE void ssvm_add_outer_block(const int B, ptrdiff_t n, const double *share, const double *row,
                                      ptrdiff_t stride, double *out)
{
    ssvm_row sum;
    for (ptrdiff_t k = 0; k < n; k++) {
        ssvm_row_zero(B, &sum);
        ssvm_row_add(B, &sum, out + k * stride);
        ssvm_row_axpy(B, &sum, share[k], row);
        ssvm_row_store(B, &sum, out + k * stride);
    }
}

/* out[k, :] += share[k] row[:] */
SSVM_CLONES static void ssvm_add_outer(ptrdiff_t n, const double *share, const double *row, ptrdiff_t stride,
                                       double *out)
{
#define BODY(B) ssvm_add_outer_block(B, n, share, row + at, stride, out + at)
    SSVM_BLOCKS(stride, at, BODY)
#undef BODY
}

/* A row of a cache is EMPTY, BEING_FILLED by one thread while the others do without it, or READY. */
enum { SSVM_EMPTY = 0, SSVM_BEING_FILLED = 1, SSVM_READY = 2 };

SSVM_INLINE int ssvm_row_state(const uint8_t *state) { return __atomic_load_n(state, __ATOMIC_ACQUIRE); }

/* Whether the caller is the one that fills an empty row. */
SSVM_INLINE int ssvm_claim_row(uint8_t *state)
{
    uint8_t empty = SSVM_EMPTY;
    return __atomic_compare_exchange_n(state, &empty, SSVM_BEING_FILLED, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

SSVM_INLINE void ssvm_publish_row(uint8_t *state) { __atomic_store_n(state, SSVM_READY, __ATOMIC_RELEASE); }

#endif
