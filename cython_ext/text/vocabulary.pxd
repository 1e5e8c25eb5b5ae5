from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t


cdef struct Slot:
    uint32_t tag  # upper half of the hash, so that most comparisons need not look at the name
    int32_t id    # -1: free


cdef class Vocabulary:
    cdef char* _bytes          # all names, one after another
    cdef int64_t* _offsets     # name i is _bytes[_offsets[i]:_offsets[i + 1]]
    cdef Slot* _slots          # open addressing, linear probing, at most half full
    cdef int64_t _room         # bytes allocated for names
    cdef int64_t _capacity     # names allocated
    cdef int64_t _mask         # number of slots - 1; -1: no table yet
    cdef readonly int64_t count

    cdef int32_t find(self, const char* text, Py_ssize_t size) noexcept nogil
    cdef int32_t find_hashed(self, const char* text, Py_ssize_t size, uint64_t h) noexcept nogil
    cdef int32_t intern(self, const char* text, Py_ssize_t size) except -2 nogil
    cdef int32_t intern_hashed(self, const char* text, Py_ssize_t size, uint64_t h) except -2 nogil
    cdef void prefetch(self, uint64_t h) noexcept nogil
    cdef const char* text(self, int32_t i, Py_ssize_t* size) noexcept nogil
    cdef int _reserve(self, int64_t names, int64_t room) except -1 nogil
    cdef int _index(self, int64_t slots) except -1 nogil
    cdef void clear(self) noexcept nogil
