/* Positive numbers with a mantissa of a double and an exponent of 64 bits: sums of products of exponentials that never
 * overflow, underflow or need a logarithm on the way. A term that an addition drops is below 2^-1022 of the sum.
 *
 * A number is m * 2^e; it is normal with 1 <= m < 2, or m = 0 and e = SSVM_LOW. Sums and products need normal operands
 * only as far as mantissas must not leave the range of a double: a few operations may go between two calls of
 * ssvm_normal. */
#ifndef SSVM_WIDE_H
#define SSVM_WIDE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define SSVM_WIDE_INLINE static inline __attribute__((always_inline))

typedef struct {
    double m;
    int64_t e;
} ssvm_wide;

#define SSVM_LOW (-((int64_t)1 << 60))
#define SSVM_MOST_EXPONENT ((int64_t)1 << 45)     /* of ssvm_wide_exp: products of 2^14 of them fit */

/* 2^d, 0 for d < -1022; d <= 1023. */
SSVM_WIDE_INLINE double ssvm_power2(int64_t d)
{
    const int64_t bits = (d < -1023 ? 0 : d + 1023) << 52;
    double out;
    memcpy(&out, &bits, 8);
    return out;
}

SSVM_WIDE_INLINE ssvm_wide ssvm_wide_of(double m)
{
    return (ssvm_wide){m, m > 0.0 ? 0 : SSVM_LOW};
}

SSVM_WIDE_INLINE ssvm_wide ssvm_wide_add(ssvm_wide a, ssvm_wide b)
{
    const int64_t e = a.e > b.e ? a.e : b.e;
    return (ssvm_wide){a.m * ssvm_power2(a.e - e) + b.m * ssvm_power2(b.e - e), e};
}

SSVM_WIDE_INLINE ssvm_wide ssvm_wide_mul(ssvm_wide a, ssvm_wide b) { return (ssvm_wide){a.m * b.m, a.e + b.e}; }

SSVM_WIDE_INLINE ssvm_wide ssvm_normal(ssvm_wide a)
{
    const int64_t one = (int64_t)1023 << 52;
    int64_t bits;
    memcpy(&bits, &a.m, 8);
    const int64_t power = (bits >> 52) - 1023, mantissa = (bits & (((int64_t)1 << 52) - 1)) | one;
    double m;
    memcpy(&m, &mantissa, 8);
    const int some = a.m > 0.0;
    return (ssvm_wide){some ? m : 0.0, some ? a.e + power : SSVM_LOW};
}

/* a / b as a double, b > 0; for quotients that one can hold. */
SSVM_WIDE_INLINE double ssvm_wide_ratio(ssvm_wide a, ssvm_wide b)
{
    const int64_t d = a.e - b.e;
    return a.m / b.m * ssvm_power2(d < 1023 ? d : 1023);
}

/* ln 2 in two parts, the first with 21 zero bits at its end. */
#define SSVM_LN2_HIGH 6.93147180369123816490e-01
#define SSVM_LN2_LOW 1.90821492927058770002e-10

/* exp(x), zero for -inf. */
static ssvm_wide ssvm_wide_exp(double x)
{
    if (!(x > -INFINITY)) return ssvm_wide_of(0.0);
    double k = floor(x * 1.4426950408889634074 + 0.5);
    if (!(fabs(k) < (double)SSVM_MOST_EXPONENT)) k = x > 0.0 ? (double)SSVM_MOST_EXPONENT : -(double)SSVM_MOST_EXPONENT;
    const double r = (x - k * SSVM_LN2_HIGH) - k * SSVM_LN2_LOW;
    return ssvm_normal((ssvm_wide){fabs(r) < 1.0 ? exp(r) : 1.0, (int64_t)k});
}

/* log a, -inf for zero. */
static double ssvm_wide_log(ssvm_wide a)
{
    if (!(a.m > 0.0)) return -INFINITY;
    return (double)a.e * SSVM_LN2_HIGH + ((double)a.e * SSVM_LN2_LOW + log(a.m));
}

#endif
