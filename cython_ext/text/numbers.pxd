"""Correctly rounded decimal numbers from text that ends in a byte which belongs to no number (a newline at the latest)."""

from libc.stdint cimport uint64_t

cdef enum Number:
    GOOD
    MALFORMED  # not a decimal number
    INFINITE   # too large for a double


cdef extern from *:
    """
    /* Powers of ten that are exact in double precision. */
    static const double ssvm_exact_power[23] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
        1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    """
    const double[23] ssvm_exact_power


cdef Number slow_number(const char* start, const char* end, double* value) noexcept nogil


cdef inline bint is_digit(char c) noexcept nogil:
    return <unsigned char>(c - 48) < 10


cdef inline Number read_number(const char** at, double* value) noexcept nogil:
    """Read `[+-]digits[.digits][e[+-]digits]` (digits on one side of the point suffice) and move `at` behind it.

    An integer below 2^53 times or divided by a power of ten up to 10^22 is one correctly rounded operation on exact
    operands; every other number takes the slow way.
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
    if digits <= 19 and mantissa <= (<uint64_t>1 << 53) and -22 <= exponent <= 22:
        value[0] = <double>mantissa
        if exponent > 0:
            value[0] *= ssvm_exact_power[exponent]
        elif exponent < 0:
            value[0] /= ssvm_exact_power[-exponent]
        if negative:
            value[0] = -value[0]
        return GOOD
    return slow_number(start, p, value)
