/* The relations of arcs, summed out of their scores and back in.
 *
 * Rows of `stride` doubles, a multiple of 4: R relations and padding, which is not read. */
#ifndef SSVM_RELATIONS_H
#define SSVM_RELATIONS_H

#include "cython_ext/kernels/vectors/vector.h"

/* arcs[a] = log sum_r exp(theta[a, r]). share: the exponentials, as multiples of the largest of a row; padding is 0. */
SSVM_CLONES static void ssvm_relations_out(ptrdiff_t n, ptrdiff_t R, ptrdiff_t stride, const double *theta,
                                           double *share, double *arcs)
{
    enum { LANES = 4 };
    for (ptrdiff_t a = 0; a < n; a++, theta += stride, share += stride) {
        double top[LANES] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
        for (ptrdiff_t r = 0; r < R; r += LANES)
            for (int l = 0; l < LANES; l++) {
                const double x = r + l < R ? theta[r + l] : -INFINITY;
                top[l] = x > top[l] ? x : top[l];
            }
        for (int l = 1; l < LANES; l++) top[0] = top[l] > top[0] ? top[l] : top[0];
        arcs[a] = top[0];
        if (top[0] == -INFINITY) {
            memset(share, 0, stride * sizeof(double));
            continue;
        }
        for (ptrdiff_t r = 0; r < R; r++) share[r] = ssvm_exp1(theta[r] - top[0]);
        for (ptrdiff_t r = R; r < stride; r++) share[r] = 0.0;
        arcs[a] += log(ssvm_sum(stride, share));
    }
}

/* Makes share what adds up to mean[a] in each row. */
SSVM_CLONES static void ssvm_relations_in(ptrdiff_t n, ptrdiff_t stride, const double *mean, double *share)
{
    for (ptrdiff_t a = 0; a < n; a++, share += stride) {
        if (!(mean[a] > 0.0)) {
            memset(share, 0, stride * sizeof(double));
            continue;
        }
        const double scale = mean[a] / ssvm_sum(stride, share);
        for (ptrdiff_t r = 0; r < stride; r++) share[r] *= scale;
    }
}

#endif
