from libc.stdint cimport uint32_t, uint64_t

from cython_ext.features.arcs.key_table cimport KeyTable, Slot, ones
from cython_ext.kernels.vectors.prefetch cimport prefetch_line
from cython_ext.text.hashing cimport mix

cdef enum:
    NONE = 0xFFFFFFFF
    BLOCK = 16                              # hashed weights of a feature: two cache lines


cdef inline uint32_t first_of(uint32_t place) noexcept nogil:
    """Where the weight of an arc feature alone stands; see ArcTable.locate."""
    return place >> 4


cdef class ArcTable:
    cdef readonly object shape
    cdef readonly KeyTable arcs, relations  # None where features are hashed
    cdef readonly Py_ssize_t hash_bits      # 0: a dictionary
    cdef readonly Py_ssize_t arc_weights, relation_rows
    cdef readonly Py_ssize_t n_labels, stride, first_row, dim

    cdef inline void look_ahead(self, bint relation, uint64_t key) noexcept nogil:
        """Asks for the memory that locate() will read."""
        if self.hash_bits == 0:
            if relation:
                prefetch_line(self.relations.home(key))
            else:
                prefetch_line(self.arcs.home(key))

    cdef inline uint32_t locate(self, uint64_t key, Py_ssize_t bin) noexcept nogil:
        """Where the weights of an arc feature stand: 16 times the place of the one alone, plus what second_of needs to
        find the one with direction and distance, 0 where there is none. NONE where there are none at all."""
        cdef uint64_t h
        cdef const Slot *slot
        if self.hash_bits:
            h = mix(key) >> 8
            return <uint32_t> ((h & <uint64_t> (self.arc_weights - 1)) << 4) | <uint32_t> bin
        slot = self.arcs.find(key)
        if slot.key == 0:
            return NONE
        return slot.place << 4 | (<uint32_t> ones(slot.bits & ((1 << bin) - 1)) if slot.bits >> bin & 1 else 0)

    cdef inline uint32_t second_of(self, uint32_t place) noexcept nogil:
        """Where the weight with direction and distance stands: hashed, in the same block."""
        if self.hash_bits:
            return place >> 4 ^ (place & (BLOCK - 1))
        return (place >> 4) + (place & (BLOCK - 1))

    cdef inline uint32_t locate_row(self, uint64_t key) noexcept nogil:
        """The row of a relation feature; NONE where there is none."""
        cdef const Slot *slot
        if self.hash_bits:
            return <uint32_t> (mix(key) >> 8 & <uint64_t> (self.relation_rows - 1))
        slot = self.relations.find(key)
        return slot.place if slot.key else NONE
