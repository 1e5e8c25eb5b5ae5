"""Names (bytes) to consecutive ids and back, in one arena without a Python object per name."""

import numpy as np

from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from cython_ext.kernels.vectors.prefetch cimport prefetch_line
from cython_ext.text.hashing cimport hash_bytes


cdef class Vocabulary:
    """A bijection between the names added so far, in order, and 0 .. len - 1.

    Names are bytes; they are shown as UTF-8 with `surrogateescape`, so any bytes survive the way to str and back.
    The hash table is built when it is first needed: a vocabulary that is only listed never pays for it.
    """

    def __cinit__(self, names=()):
        self._mask = -1
        self._reserve(16, 256)
        self._offsets[0] = 0

    def __init__(self, names=()):
        for name in names:
            self.add(name)

    def __dealloc__(self):
        free(self._bytes)
        free(self._offsets)
        free(self._slots)

    def __len__(self):
        return self.count

    def __contains__(self, name):
        return self.get(name) >= 0

    def __eq__(self, other):
        if not isinstance(other, Vocabulary):
            return NotImplemented
        cdef Vocabulary o = other
        return (self.count == o.count and memcmp(self._offsets, o._offsets, (self.count + 1) * sizeof(int64_t)) == 0
                and memcmp(self._bytes, o._bytes, self._offsets[self.count]) == 0)

    __hash__ = None

    def __repr__(self):
        return f'Vocabulary of {self.count} names'

    def __reduce__(self):
        return Vocabulary.from_arrays, self.to_arrays()

    def add(self, name):
        """The id of a name (bytes or str), a new one if it is not there yet."""
        cdef bytes b = encoded(name)
        return self.intern(b, len(b))

    def get(self, name):
        """The id of a name (bytes or str), or -1."""
        cdef bytes b = encoded(name)
        self._index(2 * self.count)
        return self.find(b, len(b))

    def name(self, i):
        """Name i as str."""
        return self.name_bytes(i).decode('utf-8', 'surrogateescape')

    def name_bytes(self, i):
        """Name i as bytes."""
        cdef int64_t k = i
        if not 0 <= k < self.count:
            raise IndexError(f'id {i} of a vocabulary of {self.count} names')
        return self._bytes[self._offsets[k]:self._offsets[k + 1]]

    def names(self):
        """All names as a list of str."""
        cdef int64_t i
        return [PyUnicode_DecodeUTF8(self._bytes + self._offsets[i], self._offsets[i + 1] - self._offsets[i],
                                     'surrogateescape') for i in range(self.count)]

    @property
    def nbytes(self):
        """Bytes of memory held."""
        return self._room + (self._capacity + 1) * sizeof(int64_t) + (self._mask + 1) * sizeof(Slot)

    def to_arrays(self):
        """(all names one after another as uint8, their offsets as int64 [len + 1]), copies."""
        cdef int64_t size = self._offsets[self.count]
        blob = np.empty(size, dtype=np.uint8)
        offsets = np.empty(self.count + 1, dtype=np.int64)
        cdef uint8_t[::1] b = blob
        cdef int64_t[::1] o = offsets
        if size:
            memcpy(&b[0], self._bytes, size)
        memcpy(&o[0], self._offsets, (self.count + 1) * sizeof(int64_t))
        return blob, offsets

    @staticmethod
    def from_arrays(blob, offsets):
        """The vocabulary whose `to_arrays` these are; ValueError if they cannot be."""
        cdef const uint8_t[::1] b = np.ascontiguousarray(blob, dtype=np.uint8)
        cdef const int64_t[::1] o = np.ascontiguousarray(offsets, dtype=np.int64)
        cdef Vocabulary out = Vocabulary()
        cdef int64_t i, n = o.shape[0] - 1
        if n < 0 or o[0] != 0 or o[n] != b.shape[0] or n > 0x7FFFFFFF:
            raise ValueError('these arrays are no vocabulary: the offsets do not fit the text')
        for i in range(n):
            if o[i + 1] < o[i]:
                raise ValueError('these arrays are no vocabulary: the offsets do not ascend')
        out._reserve(n, b.shape[0])
        if b.shape[0]:
            memcpy(out._bytes, &b[0], b.shape[0])
        memcpy(out._offsets, &o[0], (n + 1) * sizeof(int64_t))
        out.count = n
        return out

    def copy(self):
        """An independent copy."""
        cdef Vocabulary out = Vocabulary()
        out._reserve(self.count, self._offsets[self.count])
        memcpy(out._bytes, self._bytes, self._offsets[self.count])
        memcpy(out._offsets, self._offsets, (self.count + 1) * sizeof(int64_t))
        out.count = self.count
        return out

    def select(self, ids):
        """The vocabulary of the given names (distinct ids) in the given order."""
        cdef const int64_t[::1] k = np.ascontiguousarray(ids, dtype=np.int64)
        cdef Vocabulary out = Vocabulary()
        cdef int64_t i, size, room = 0
        for i in range(k.shape[0]):
            if not 0 <= k[i] < self.count:
                raise IndexError(f'id {k[i]} of a vocabulary of {self.count} names')
            room += self._offsets[k[i] + 1] - self._offsets[k[i]]
        out._reserve(k.shape[0], room)
        for i in range(k.shape[0]):
            size = self._offsets[k[i] + 1] - self._offsets[k[i]]
            memcpy(out._bytes + out._offsets[i], self._bytes + self._offsets[k[i]], size)
            out._offsets[i + 1] = out._offsets[i] + size
        out.count = k.shape[0]
        return out

    def with_suffixes(self, suffixes):
        """The vocabulary of these names, then all of them with each of the suffixes (bytes) in turn. KeyError with a
        name that would come twice."""
        cdef Vocabulary out = self.copy()
        cdef int64_t i
        for suffix in suffixes:
            for i in range(self.count):
                name = self.name_bytes(i) + suffix
                if out.add(name) < out.count - 1 or name in self:
                    raise KeyError(name.decode('utf-8', 'surrogateescape'))
        return out

    # ------------------------------------------------------------------------------------- for the parsers

    cdef int32_t find(self, const char* text, Py_ssize_t size) noexcept nogil:
        """The id of a name or -1. The table must be there (`_index`)."""
        return self.find_hashed(text, size, hash_bytes(text, size))

    cdef int32_t find_hashed(self, const char* text, Py_ssize_t size, uint64_t h) noexcept nogil:
        cdef int64_t at = <int64_t>h & self._mask
        cdef uint32_t tag = <uint32_t>(h >> 32)
        cdef int64_t start
        cdef int32_t i
        while True:
            i = self._slots[at].id
            if i < 0:
                return -1
            if self._slots[at].tag == tag:
                start = self._offsets[i]
                if self._offsets[i + 1] - start == size and memcmp(self._bytes + start, text, size) == 0:
                    return i
            at = (at + 1) & self._mask

    cdef int32_t intern(self, const char* text, Py_ssize_t size) except -2 nogil:
        """The id of a name, a new one if it is not there yet."""
        return self.intern_hashed(text, size, hash_bytes(text, size))

    cdef int32_t intern_hashed(self, const char* text, Py_ssize_t size, uint64_t h) except -2 nogil:
        cdef int32_t i
        cdef int64_t at, end
        self._index(2 * self.count + 2)
        i = self.find_hashed(text, size, h)
        if i >= 0:
            return i
        if self.count == 0x7FFFFFFF:
            with gil:
                raise OverflowError('more than 2,147,483,647 different names')
        end = self._offsets[self.count]
        if self.count + 1 > self._capacity or end + size > self._room:
            self._reserve(self.count + 1, end + size)
        memcpy(self._bytes + end, text, size)
        i = <int32_t>self.count
        self.count += 1
        self._offsets[self.count] = end + size
        at = <int64_t>h & self._mask
        while self._slots[at].id >= 0:
            at = (at + 1) & self._mask
        self._slots[at].tag = <uint32_t>(h >> 32)
        self._slots[at].id = i
        return i

    cdef void prefetch(self, uint64_t h) noexcept nogil:
        """Ask for the slot of a hash ahead of time. The table must be there."""
        prefetch_line(&self._slots[<int64_t>h & self._mask])

    cdef const char* text(self, int32_t i, Py_ssize_t* size) noexcept nogil:
        """Name i and its length; valid until the next name is added."""
        size[0] = self._offsets[i + 1] - self._offsets[i]
        return self._bytes + self._offsets[i]

    cdef void clear(self) noexcept nogil:
        """Forget all names, keep the memory."""
        self.count = 0
        if self._mask >= 0:
            memset(self._slots, 0xFF, (self._mask + 1) * sizeof(Slot))

    cdef int _reserve(self, int64_t names, int64_t room) except -1 nogil:
        """Room for so many names of so many bytes together; grows by half at least."""
        cdef void* p
        if room > self._room:
            room = max(room, self._room + (self._room >> 1))
            p = realloc(self._bytes, room)
            if p == NULL:
                with gil:
                    raise MemoryError()
            self._bytes = <char*>p
            self._room = room
        if names > self._capacity:
            names = max(names, self._capacity + (self._capacity >> 1))
            p = realloc(self._offsets, (names + 1) * sizeof(int64_t))
            if p == NULL:
                with gil:
                    raise MemoryError()
            self._offsets = <int64_t*>p
            self._capacity = names
        return 0

    cdef int _index(self, int64_t slots) except -1 nogil:
        """A hash table of at least so many slots that holds all names."""
        cdef int64_t size = 64, i, at
        cdef uint64_t h
        cdef Slot* table
        if slots <= self._mask + 1 and self._mask >= 0:
            return 0
        while size < slots:
            size *= 2
        table = <Slot*>malloc(size * sizeof(Slot))
        if table == NULL:
            with gil:
                raise MemoryError()
        memset(table, 0xFF, size * sizeof(Slot))
        for i in range(self.count):
            h = hash_bytes(self._bytes + self._offsets[i], self._offsets[i + 1] - self._offsets[i])
            at = <int64_t>h & (size - 1)
            while table[at].id >= 0:
                at = (at + 1) & (size - 1)
            table[at].tag = <uint32_t>(h >> 32)
            table[at].id = <int32_t>i
        free(self._slots)
        self._slots = table
        self._mask = size - 1
        return 0


def encoded(name):
    """A name as bytes."""
    return name.encode('utf-8', 'surrogateescape') if isinstance(name, str) else bytes(name)
