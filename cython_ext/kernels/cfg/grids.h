/* Rows of two-dimensional tables of a dynamic program that adds two numbers up (losses/cfg/bracket_f1.pyx). */
#ifndef SSVM_GRIDS_H
#define SSVM_GRIDS_H

#include "cython_ext/kernels/vectors/vector.h"

/* to[q] = the larger one of to[q] and value + row[q] + score */
SSVM_INLINE void ssvm_grid_raise(ptrdiff_t n, double value, double score, const double *restrict row,
                                 double *restrict to)
{
    for (ptrdiff_t q = 0; q < n; q++) {
        const double here = value + row[q] + score;
        to[q] = here > to[q] ? here : to[q];
    }
}

SSVM_INLINE void ssvm_grid_join_rows(ptrdiff_t few_rows, ptrdiff_t few, const double *cells, ptrdiff_t rows,
                                     ptrdiff_t many, const double *table, double score, ptrdiff_t width, double *to)
{
    for (ptrdiff_t a = 0; a < few_rows; a++)
        for (ptrdiff_t b = 0; b < few; b++) {
            const double value = cells[a * few + b];
            if (!(value > -INFINITY)) continue;
            for (ptrdiff_t c = 0; c < rows; c++)
                ssvm_grid_raise(many, value, score, table + c * many, to + (a + c) * width + b);
        }
}

/* Raises each cell of `to`, rows of `width`, to what the cells of two tables add up to whose places add up to its own,
 * and score. The longer rows are the inner loop; cells of -inf are passed over. */
SSVM_CLONES static void ssvm_grid_join(ptrdiff_t left_rows, ptrdiff_t left_width, const double *left,
                                       ptrdiff_t right_rows, ptrdiff_t right_width, const double *right,
                                       double score, ptrdiff_t width, double *to)
{
    if (left_width < right_width) {
        ssvm_grid_join_rows(left_rows, left_width, left, right_rows, right_width, right, score, width, to);
        return;
    }
    ssvm_grid_join_rows(right_rows, right_width, right, left_rows, left_width, left, score, width, to);
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
