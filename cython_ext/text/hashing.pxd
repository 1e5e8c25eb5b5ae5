"""Hash functions for byte strings and for pairs of ids. Never stored in a file, so byte order may differ."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy


cdef inline uint64_t mix(uint64_t x) noexcept nogil:
    """A bijection of 64-bit words in which every input bit reaches every output bit (splitmix64's)."""
    x ^= x >> 30
    x *= <uint64_t>0xBF58476D1CE4E5B9
    x ^= x >> 27
    x *= <uint64_t>0x94D049BB133111EB
    return x ^ (x >> 31)


cdef inline uint64_t word(const char* text) noexcept nogil:
    cdef uint64_t out
    memcpy(&out, text, 8)
    return out


cdef inline uint64_t half(const char* text) noexcept nogil:
    cdef uint32_t out
    memcpy(&out, text, 4)
    return out


cdef inline uint64_t hash_bytes(const char* text, Py_ssize_t size) noexcept nogil:
    """Eight bytes at a time; the last step takes the last eight bytes, overlapping, so nothing is read beyond."""
    cdef uint64_t h = <uint64_t>size * <uint64_t>0x9E3779B97F4A7C15
    cdef Py_ssize_t i = 0
    if size >= 8:
        while i + 8 < size:
            h = (h ^ word(text + i)) * <uint64_t>0xFF51AFD7ED558CCD
            h ^= h >> 32
            i += 8
        h ^= word(text + size - 8)
    elif size >= 4:
        h ^= half(text) | (half(text + size - 4) << 32)
    elif size > 0:
        h ^= (<uint64_t><uint8_t>text[0] | (<uint64_t><uint8_t>text[size >> 1] << 8)
              | (<uint64_t><uint8_t>text[size - 1] << 16))
    return mix(h)
