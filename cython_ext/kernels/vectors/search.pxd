"""Where a number stands among ascending ones."""

from libc.stdint cimport int32_t, int64_t


cdef inline int64_t first_from(const int32_t *values, int64_t first, int64_t last, int64_t least) noexcept nogil:
    """The place of the first of values[first:last] that is not below `least`; `last` where all are."""
    cdef int64_t middle
    while first < last:
        middle = (first + last) >> 1
        if values[middle] < least:
            first = middle + 1
        else:
            last = middle
    return first
