from libc.stdint cimport int32_t, int64_t

from cython_ext.text.parser cimport Parser
from cython_ext.text.rows cimport Longs
from cython_ext.text.vocabulary cimport Vocabulary


cdef class NumberIds:
    cdef int32_t* table     # number -> id or -1
    cdef int64_t size
    cdef int32_t* slots     # ids by hash, -1: free
    cdef int64_t mask
    cdef Longs numbers      # id -> number
    cdef int64_t large      # how many are not in the table
    cdef bint frozen

    cdef int _grow_table(self, int64_t size) except -1 nogil
    cdef int _grow_slots(self) except -1 nogil
    cdef int32_t _get(self, int64_t number) except -2 nogil
    cdef int freeze(self, Vocabulary names) except -1

    cdef inline int32_t get(self, int64_t number) except -2 nogil:
        """The id of a number: a new one while learning, -1 for an unknown number otherwise."""
        if number < self.size and self.table[number] >= 0:
            return self.table[number]
        return self._get(number)


cdef class PairLines(Parser):
    cdef NumberIds ids
    cdef str form           # of a line, for messages
    cdef int64_t qid        # of the open sequence; -1: none yet
    cdef int64_t least      # the smallest feature number that there may be
    cdef int64_t last       # the last feature number of the last line; least - 1: it has none

    cdef const char* _pairs(self, const char* p, int64_t* qid) except NULL nogil
    cdef const char* _other_word(self, const char* word, int64_t* qid) except NULL
    cdef int _bad_index(self, const char* word, const char* colon) except -1
    cdef int end_line(self, int64_t qid, const char* target, Py_ssize_t size) except -1 nogil


cdef class PairParser(PairLines):
    cdef bint sequences
