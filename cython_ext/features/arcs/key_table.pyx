"""Keys (64-bit numbers, not 0) to places, in the order of insertion, and 16 bits with each."""

import numpy as np

from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free

cdef enum:
    FIRST = 64                  # slots of an empty table
    MOST = 0x0FFFFFFF           # keys, so that 16 bits for each fit into 32


cdef class KeyTable:
    """keys: uint64[n], all different; bits: uint16[n]."""

    def __cinit__(self, keys=(), bits=()):
        cdef const uint64_t[::1] key_view = np.ascontiguousarray(keys, np.uint64)
        cdef const uint16_t[::1] bit_view = np.ascontiguousarray(bits, np.uint16)
        cdef Py_ssize_t k
        if len(key_view) != len(bit_view) or len(key_view) > MOST:
            raise ValueError(f'{len(bit_view)} sets of bits for {len(key_view)} keys')
        if not self.reserve(max(len(key_view), FIRST // 2)):
            raise MemoryError
        for k in range(len(key_view)):
            if key_view[k] != 0:
                self.insert(key_view[k]).bits = bit_view[k]
        if self.count != len(key_view):
            raise ValueError('a key is 0, or there twice')

    def __dealloc__(self):
        free(self.slots)

    cdef bint reserve(self, Py_ssize_t count) noexcept nogil:
        """Room for so many keys; False when there is no memory for them."""
        cdef uint64_t size = 2, at, old_size = self.mask + 1 if self.slots != NULL else 0
        cdef Slot *old = self.slots
        cdef Slot *slots
        while size < <uint64_t> (2 * count):
            size *= 2
        if size <= old_size:
            return True
        slots = <Slot *> calloc(size, sizeof(Slot))
        if slots == NULL:
            return False
        self.slots, self.mask = slots, size - 1
        for at in range(old_size):
            if old[at].key != 0:
                (<Slot *> self.find(old[at].key))[0] = old[at]
        free(old)
        return True

    cdef Slot *insert(self, uint64_t key) noexcept nogil:
        """The slot of a key, a new one if it is not there; good until the next insertion. NULL when memory is out."""
        cdef Slot *slot = <Slot *> self.find(key)
        if slot.key == 0:
            if <uint64_t> (2 * (self.count + 1)) > self.mask + 1:
                if self.count >= MOST or not self.reserve(2 * self.count):
                    return NULL
                slot = <Slot *> self.find(key)
            slot.key, slot.place, slot.bits = key, <uint32_t> self.count, 0
            self.count += 1
        return slot

    def lay_out(self):
        """Every place becomes the number of bits set with the keys before; returns how many there are in all."""
        cdef const uint16_t[::1] bits = self.arrays()[1]
        cdef int64_t[::1] before = np.zeros(self.count + 1, np.int64)
        cdef Py_ssize_t k
        cdef uint64_t at
        for k in range(self.count):
            before[k + 1] = before[k] + ones(bits[k])
        for at in range(self.mask + 1):
            if self.slots[at].key != 0:
                self.slots[at].place = <uint32_t> before[self.slots[at].place]
        return int(before[self.count])

    def arrays(self):
        """(keys uint64[n], bits uint16[n]) in the order of insertion."""
        keys, bits = np.empty(self.count, np.uint64), np.empty(self.count, np.uint16)
        places = np.empty(self.count, np.uint32)
        cdef uint64_t[::1] key_view = keys
        cdef uint16_t[::1] bit_view = bits
        cdef uint32_t[::1] place_view = places
        cdef Py_ssize_t k = 0
        cdef uint64_t at
        for at in range(self.mask + 1):
            if self.slots[at].key != 0:
                key_view[k], place_view[k] = self.slots[at].key, self.slots[at].place
                bit_view[k] = <uint16_t> self.slots[at].bits
                k += 1
        order = np.argsort(places, kind='stable')
        return keys[order], bits[order]

    def look_up(self, keys):
        """(places int64[n], bits uint16[n]) of some keys; -1 and 0 where one is not there."""
        cdef const uint64_t[::1] key_view = np.ascontiguousarray(keys, np.uint64)
        places, bits = np.empty(len(key_view), np.int64), np.zeros(len(key_view), np.uint16)
        cdef int64_t[::1] place_view = places
        cdef uint16_t[::1] bit_view = bits
        cdef const Slot *slot
        cdef Py_ssize_t k
        for k in range(len(key_view)):
            slot = self.find(key_view[k])
            place_view[k] = -1
            if slot.key != 0:
                place_view[k], bit_view[k] = slot.place, <uint16_t> slot.bits
        return places, bits
