from libc.stdint cimport int32_t, int64_t

from cython_ext.text.rows cimport Ints, Longs, SparseRows
from cython_ext.text.vocabulary cimport Vocabulary


cdef class Labels:
    cdef Vocabulary spelled    # spellings as they stand in the file
    cdef Ints meaning          # spelling -> id in names
    cdef Vocabulary names      # labels, those that are unknown to a given vocabulary at the end
    cdef int64_t known         # labels of the given vocabulary; -1: none was given, every label is known
    cdef object canonical      # None or bytes -> bytes
    cdef Ints ids              # label of every token

    cdef int push(self, const char* text, Py_ssize_t size) except -1 nogil
    cdef int32_t _learn(self, int32_t spelling) except -2


cdef class Parser:
    cdef Labels labels
    cdef Longs offsets
    cdef SparseRows rows
    cdef int64_t line          # number of the line that is being read

    cdef int parse(self, const char* p, const char* end) except -1 nogil
    cdef const char* take_line(self, const char* p, const char* end) except NULL nogil
    cdef int end_example(self) except -1 nogil
    cdef int fail(self, what, const char* start, const char* end, expected) except -1
    cdef int fail_value(self, const char* word, const char* value, const char* end, int kind, form,
                        bint comments=*) except -1


cdef inline bint is_blank(char c) noexcept nogil:
    return c == b' ' or c == b'\t'


cdef inline const char* skip_blanks(const char* p) noexcept nogil:
    while p[0] == b' ' or p[0] == b'\t':
        p += 1
    return p


cdef inline const char* word_end(const char* p) noexcept nogil:
    """The end of a word: the next blank, carriage return or newline."""
    while p[0] != b' ' and p[0] != b'\t' and p[0] != b'\n' and p[0] != b'\r':
        p += 1
    return p


cdef inline bint is_line_end(char c) noexcept nogil:
    """A carriage return counts: sources let it pass before a newline only."""
    return c == b'\n' or c == b'\r'


cdef inline int64_t line_start(const char* text, int64_t at) noexcept nogil:
    """Where the line that holds offset `at` begins."""
    while at > 0 and text[at - 1] != b'\n':
        at -= 1
    return at
