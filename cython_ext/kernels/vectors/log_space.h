/* Sums of numbers that are given and wanted as logarithms. -inf is the logarithm of 0, everywhere. */
#ifndef SSVM_LOG_SPACE_H
#define SSVM_LOG_SPACE_H

#include "cython_ext/kernels/vectors/vector.h"

/* log(1 + u) for 0 <= u <= 1, branch-free so that it vectorises: 2 atanh(s), s = u / (2 + u) <= 1/3, by its series. */
SSVM_INLINE double ssvm_log1p1(double u)
{
    const double s = u / (2.0 + u), q = s * s;
    double p = 1.0 / 35.0;
    p = p * q + 1.0 / 33.0;
    p = p * q + 1.0 / 31.0;
    p = p * q + 1.0 / 29.0;
    p = p * q + 1.0 / 27.0;
    p = p * q + 1.0 / 25.0;
    p = p * q + 1.0 / 23.0;
    p = p * q + 1.0 / 21.0;
    p = p * q + 1.0 / 19.0;
    p = p * q + 1.0 / 17.0;
    p = p * q + 1.0 / 15.0;
    p = p * q + 1.0 / 13.0;
    p = p * q + 1.0 / 11.0;
    p = p * q + 1.0 / 9.0;
    p = p * q + 1.0 / 7.0;
    p = p * q + 1.0 / 5.0;
    p = p * q + 1.0 / 3.0;
    p = p * q + 1.0;
    return 2.0 * s * p;
}

/* log(exp(x) + exp(y)) */
SSVM_INLINE double ssvm_log_add(double x, double y)
{
    const double top = x > y ? x : y, low = x > y ? y : x;
    const double apart = low == top ? 0.0 : low - top;              /* both may be -inf */
    return top + ssvm_log1p1(ssvm_exp1(apart));
}

/* log sum_k exp(x[k]), n >= 0 */
SSVM_INLINE double ssvm_log_sum(ptrdiff_t n, const double *x)
{
    double top = -INFINITY, sum = 0.0;
    for (ptrdiff_t k = 0; k < n; k++) top = x[k] > top ? x[k] : top;
    if (top == -INFINITY) return top;
    for (ptrdiff_t k = 0; k < n; k++) sum += ssvm_exp1(x[k] - top);
    return top + log(sum);
}

#endif
