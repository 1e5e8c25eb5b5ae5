/* Rows of two-dimensional tables of a dynamic program that adds two numbers up (losses/brackets.pyx). */
#ifndef SSVM_GRIDS_H
#define SSVM_GRIDS_H

#include "cython_ext/kernels/vector.h"

/* to[q] = the larger one of to[q] and value + row[q] + score */
SSVM_INLINE void ssvm_grid_raise(ptrdiff_t n, double value, double score, const double *restrict row,
                                 double *restrict to)
{
    for (ptrdiff_t q = 0; q < n; q++) {
        const double here = value + row[q] + score;
        to[q] = here > to[q] ? here : to[q];
    }
}

/* to[q] += factor * row[q] */
SSVM_INLINE void ssvm_grid_add(ptrdiff_t n, double factor, const double *restrict row, double *restrict to)
{
    for (ptrdiff_t q = 0; q < n; q++)
        to[q] += factor * row[q];
}

/* sum_q a[q] * b[q] */
SSVM_INLINE double ssvm_grid_dot(ptrdiff_t n, const double *a, const double *b)
{
    double even = 0.0, odd = 0.0;
    ptrdiff_t q = 0;
    for (; q + 1 < n; q += 2) {
        even += a[q] * b[q];
        odd += a[q + 1] * b[q + 1];
    }
    return q < n ? even + odd + a[q] * b[q] : even + odd;
}

#endif
