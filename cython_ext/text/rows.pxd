from libc.stdint cimport int32_t, int64_t


cdef class Buffer:
    cdef char* data
    cdef int64_t room       # bytes allocated
    cdef int64_t size       # bytes in use, once handed out
    cdef object dtype
    cdef int itemsize
    cdef bytes format
    cdef Py_ssize_t[1] shape
    cdef Py_ssize_t[1] strides

    cdef int grow(self, int64_t items) except -1 nogil


cdef class Items:
    cdef Buffer buffer
    cdef int64_t count, room

    cdef void _move(self) noexcept nogil
    cdef int reserve(self, int64_t items) except -1 nogil


cdef class Ints(Items):
    cdef int32_t* data

    cdef inline int push(self, int32_t value) except -1 nogil:
        if self.count == self.room:
            self.reserve(self.count + 1)
        self.data[self.count] = value
        self.count += 1
        return 0


cdef class Longs(Items):
    cdef int64_t* data

    cdef inline int push(self, int64_t value) except -1 nogil:
        if self.count == self.room:
            self.reserve(self.count + 1)
        self.data[self.count] = value
        self.count += 1
        return 0


cdef class Doubles(Items):
    cdef double* data

    cdef inline int push(self, double value) except -1 nogil:
        if self.count == self.room:
            self.reserve(self.count + 1)
        self.data[self.count] = value
        self.count += 1
        return 0


cdef class SparseRows:
    cdef Longs indptr
    cdef Buffer index_buffer, value_buffer
    cdef int32_t* indices
    cdef double* values     # NULL while every value is 1
    cdef int64_t count, room
    cdef int64_t start      # where the open row begins

    cdef int _more(self) except -1 nogil
    cdef int _reserve(self, int64_t items) except -1 nogil
    cdef int _append(self, const int32_t* indices, const double* values, int64_t size) except -1 nogil
    cdef int _materialise(self) except -1 nogil
    cdef int _end_long_row(self) except -1 nogil
    cdef int _sort(self) except -1
    cdef int _merge(self) except -1 nogil
    cdef int end_row(self) except -1 nogil
    cdef int end_ascending_row(self) except -1 nogil

    cdef inline int push(self, int32_t index, double value) except -1 nogil:
        """One more entry of the open row."""
        if self.count == self.room:
            self._more()
        if value != 1.0 and self.values == NULL:
            self._materialise()
        self.indices[self.count] = index
        if self.values != NULL:
            self.values[self.count] = value
        self.count += 1
        return 0
