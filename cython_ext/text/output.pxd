from libc.stdint cimport int32_t, int64_t

from cython_ext.text.rows cimport Buffer
from cython_ext.text.vocabulary cimport Vocabulary


cdef class Text:
    cdef Buffer buffer
    cdef int64_t size
    cdef object stream

    cdef int byte(self, char c) except -1 nogil
    cdef int put(self, const char* text, int64_t size) except -1 nogil
    cdef int put_name(self, Vocabulary names, int32_t i) except -1 nogil
    cdef int put_escaped(self, Vocabulary names, int32_t i) except -1 nogil
    cdef int put_whole(self, int64_t value) except -1 nogil
    cdef int put_number(self, double value) except -1
    cdef int flush(self, int64_t least) except -1
