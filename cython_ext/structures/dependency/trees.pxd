from libc.stdint cimport int32_t


cdef inline bint is_tree(Py_ssize_t T, const int32_t *heads) noexcept nogil:
    """Whether heads (of the words 1..T, the root is 0) make a tree: every word reaches the root."""
    cdef Py_ssize_t d, steps
    cdef int32_t at
    for d in range(T):
        if not 0 <= heads[d] <= T:
            return False
    for d in range(T):
        at, steps = heads[d], 0
        while at > 0:
            at, steps = heads[at - 1], steps + 1
            if steps > T:
                return False
    return True


cdef inline bint crosses(Py_ssize_t T, const int32_t *heads) noexcept nogil:
    """Whether two arcs cross when all are drawn above the sentence, with the root before it."""
    cdef Py_ssize_t d, e
    cdef Py_ssize_t low, high, other_low, other_high
    for d in range(T):
        low, high = min(heads[d], d + 1), max(heads[d], d + 1)
        for e in range(d):
            other_low, other_high = min(heads[e], e + 1), max(heads[e], e + 1)
            if low < other_low < high < other_high or other_low < low < other_high < high:
                return True
    return False


cdef inline Py_ssize_t roots_of(Py_ssize_t T, const int32_t *heads) noexcept nogil:
    """How many words hang from the root."""
    cdef Py_ssize_t d, count = 0
    for d in range(T):
        count += heads[d] == 0
    return count
