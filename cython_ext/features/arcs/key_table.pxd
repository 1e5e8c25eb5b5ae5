from libc.stdint cimport uint32_t, uint64_t

from cython_ext.text.hashing cimport mix


cdef inline Py_ssize_t ones(uint32_t bits) noexcept nogil:
    """How many of 16 bits are set."""
    bits = bits - ((bits >> 1) & 0x5555)
    bits = (bits & 0x3333) + ((bits >> 2) & 0x3333)
    bits = (bits + (bits >> 4)) & 0x0F0F
    return (bits + (bits >> 8)) & 0x1F


cdef struct Slot:
    uint64_t key                # 0: free
    uint32_t place
    uint32_t bits


cdef class KeyTable:
    cdef readonly Py_ssize_t count
    cdef Slot *slots            # open addressing, linear probing, at most half full
    cdef uint64_t mask          # number of slots - 1

    cdef bint reserve(self, Py_ssize_t count) noexcept nogil
    cdef Slot *insert(self, uint64_t key) noexcept nogil

    cdef inline Slot *home(self, uint64_t key) noexcept nogil:
        """Where the search for a key begins."""
        return self.slots + (mix(key) & self.mask)

    cdef inline const Slot *find(self, uint64_t key) noexcept nogil:
        """The slot of a key, or a free one."""
        cdef uint64_t at = mix(key) & self.mask
        while self.slots[at].key != key and self.slots[at].key != 0:
            at = (at + 1) & self.mask
        return self.slots + at
