"""A small random generator that runs without the GIL and whose state is one number (splitmix64, Steele et al. 2014)."""

from libc.stdint cimport int32_t, uint64_t


cdef inline uint64_t next_random(uint64_t *state) noexcept nogil:
    cdef uint64_t z
    state[0] += <uint64_t> 0x9E3779B97F4A7C15ull
    z = state[0]
    z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9ull
    z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EBull
    return z ^ (z >> 31)


cdef inline Py_ssize_t random_below(uint64_t *state, Py_ssize_t n) noexcept nogil:
    """Uniform in 0..n-1 (the bias of the remainder is below n / 2^64)."""
    return <Py_ssize_t> (next_random(state) % <uint64_t> n)


cdef inline double random_unit(uint64_t *state) noexcept nogil:
    """Uniform in [0, 1)."""
    return <double> (next_random(state) >> 11) * 1.1102230246251565e-16


cdef inline void shuffle(uint64_t *state, int32_t *order, Py_ssize_t n) noexcept nogil:
    """A uniformly random order (Fisher-Yates)."""
    cdef Py_ssize_t a, b
    cdef int32_t keep
    for a in range(n - 1, 0, -1):
        b = random_below(state, a + 1)
        keep = order[a]
        order[a] = order[b]
        order[b] = keep
