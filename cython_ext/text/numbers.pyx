"""The decimal numbers that 128 bits cannot hold."""

from libc.math cimport isinf


cdef Number slow_number(const char* start, const char* end, double* value) noexcept nogil:
    """Python's own conversion: correctly rounded, and the same in every locale, which strtod is not."""
    with gil:
        try:
            value[0] = float(start[:end - start])
        except (ValueError, MemoryError):
            return MALFORMED
    return INFINITE if isinf(value[0]) else GOOD


def parse(text):
    """The value of a decimal number (bytes), or None if it is not one, inf if it is too large. For tests."""
    cdef bytes line = bytes(text) + b'\n'
    cdef const char* p = line
    cdef const char* end = p + len(line) - 1
    cdef double value = 0.0
    if read_number(&p, &value) == MALFORMED or p != end:
        return None
    return value
