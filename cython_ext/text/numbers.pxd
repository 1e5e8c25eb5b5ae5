"""Correctly rounded decimal numbers from text that ends in a byte which belongs to no number (a newline at the
latest)."""

from libc.stdint cimport uint64_t

cdef enum Number:
    GOOD
    MALFORMED  # not a decimal number
    INFINITE   # too large for a double


cdef extern from *:
    """
    #include <math.h>
    #include <stdint.h>

    /* Powers of ten that are exact in double precision, and powers of five that fit in 64 bits. */
    static const double ssvm_power_of_10[23] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
        1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    static const uint64_t ssvm_power_of_5[28] = {1ull, 5ull, 25ull, 125ull, 625ull, 3125ull, 15625ull, 78125ull,
        390625ull, 1953125ull, 9765625ull, 48828125ull, 244140625ull, 1220703125ull, 6103515625ull, 30517578125ull,
        152587890625ull, 762939453125ull, 3814697265625ull, 19073486328125ull, 95367431640625ull, 476837158203125ull,
        2384185791015625ull, 11920928955078125ull, 59604644775390625ull, 298023223876953125ull,
        1490116119384765625ull, 7450580596923828125ull};

    /* mantissa * 10^exponent, correctly rounded, for mantissa > 0 and -27 <= exponent <= 27: a product or quotient of
       integers in 128 bits, of which 65 at least are significant or all are exact, rounded once to 53 bits. */
    static inline double ssvm_scaled(uint64_t mantissa, int exponent) {
        unsigned __int128 value, rest = 0, half;
        int shift, size;
        if (exponent >= 0) {
            value = (unsigned __int128)mantissa * ssvm_power_of_5[exponent];
        } else {
            const uint64_t divisor = ssvm_power_of_5[-exponent];
            shift = __builtin_clzll(mantissa);
            value = (unsigned __int128)(mantissa << shift) << 64;
            rest = value % divisor;
            value /= divisor;
            exponent -= 64 + shift;
        }
        size = (uint64_t)(value >> 64) ? 128 - __builtin_clzll((uint64_t)(value >> 64))
                                       : 64 - __builtin_clzll((uint64_t)value);
        if (size > 53) {
            shift = size - 53;
            half = (unsigned __int128)1 << (shift - 1);
            const unsigned __int128 low = value & ((half << 1) - 1);
            value >>= shift;
            exponent += shift;
            if (low > half || (low == half && (rest || (value & 1)))) value++;
        }
        return ldexp((double)(uint64_t)value, exponent);
    }
    """
    const double[23] ssvm_power_of_10
    double ssvm_scaled(uint64_t mantissa, int exponent) noexcept nogil


cdef Number slow_number(const char* start, const char* end, double* value) noexcept nogil


cdef inline bint is_digit(char c) noexcept nogil:
    return <unsigned char>(c - 48) < 10


cdef inline Number read_number(const char** at, double* value) noexcept nogil:
    """Read `[+-]digits[.digits][e[+-]digits]` (digits on one side of the point suffice) and move `at` behind it.

    An integer up to 2^53 times or divided by a power of ten up to 10^22 is one correctly rounded operation on exact
    operands. Other integers of up to 19 digits take 128-bit integers, as long as the power of ten is up to 10^27;
    what is left takes the slow way.
    """
    cdef const char* p = at[0]
    cdef const char* start = p
    cdef const char* first
    cdef uint64_t mantissa = 0
    cdef int scale = 0, exponent = 0, digits
    cdef bint negative = p[0] == b'-', minus
    if negative or p[0] == b'+':
        p += 1
    first = p
    while is_digit(p[0]):
        mantissa = mantissa * 10 + <uint64_t>(p[0] - 48)
        p += 1
    digits = <int>(p - first)
    if p[0] == b'.':
        p += 1
        first = p
        while is_digit(p[0]):
            mantissa = mantissa * 10 + <uint64_t>(p[0] - 48)
            p += 1
        scale = <int>(p - first)
        digits += scale
    if digits == 0:
        return MALFORMED
    if p[0] == b'e' or p[0] == b'E':
        p += 1
        minus = p[0] == b'-'
        if minus or p[0] == b'+':
            p += 1
        if not is_digit(p[0]):
            return MALFORMED
        while is_digit(p[0]):
            if exponent < 100000:
                exponent = exponent * 10 + (p[0] - 48)
            p += 1
        if minus:
            exponent = -exponent
    at[0] = p
    exponent -= scale
    if digits > 19:
        return slow_number(start, p, value)
    if mantissa <= (<uint64_t>1 << 53) and -22 <= exponent <= 22:
        value[0] = <double>mantissa
        if exponent > 0:
            value[0] *= ssvm_power_of_10[exponent]
        elif exponent < 0:
            value[0] /= ssvm_power_of_10[-exponent]
    elif mantissa and -27 <= exponent <= 27:
        value[0] = ssvm_scaled(mantissa, exponent)
    else:
        return slow_number(start, p, value)
    if negative:
        value[0] = -value[0]
    return GOOD
