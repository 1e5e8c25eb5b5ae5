"""Text out of arrays: prediction lines, and data sets in the attribute formats."""

import numpy as np

from cpython.mem cimport PyMem_Free
from libc.math cimport signbit
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, strlen

from cython_ext.text.rows cimport Buffer
from cython_ext.text.vocabulary cimport Vocabulary

cdef extern from "Python.h":
    char* PyOS_double_to_string(double value, char format, int precision, int flags, int* type) except NULL

FLUSH_BYTES = 1 << 20


cdef class Text:
    """Bytes under construction that are written to a stream now and then."""

    def __cinit__(self, stream):
        self.buffer = Buffer('b')
        self.stream = stream

    cdef int byte(self, char c) except -1 nogil:
        if self.size == self.buffer.room:
            self.buffer.grow(self.size + 1)
        self.buffer.data[self.size] = c
        self.size += 1
        return 0

    cdef int put(self, const char* text, int64_t size) except -1 nogil:
        if self.size + size > self.buffer.room:
            self.buffer.grow(self.size + size)
        memcpy(self.buffer.data + self.size, text, size)
        self.size += size
        return 0

    cdef int put_name(self, Vocabulary names, int32_t i) except -1 nogil:
        cdef Py_ssize_t size
        cdef const char* text = names.text(i, &size)
        return self.put(text, size)

    cdef int put_escaped(self, Vocabulary names, int32_t i) except -1 nogil:
        """A name with a backslash before colons and backslashes."""
        cdef Py_ssize_t size, k
        cdef const char* text = names.text(i, &size)
        for k in range(size):
            if text[k] == b':' or text[k] == b'\\':
                self.byte(b'\\')
            self.byte(text[k])
        return 0

    cdef int put_whole(self, int64_t value) except -1 nogil:
        cdef char[24] digits
        cdef int at = 24
        cdef uint64_t rest = <uint64_t>value if value >= 0 else <uint64_t>0 - <uint64_t>value
        while True:
            at -= 1
            digits[at] = <char>(48 + rest % 10)
            rest //= 10
            if rest == 0:
                break
        if value < 0:
            at -= 1
            digits[at] = b'-'
        return self.put(&digits[at], 24 - at)

    cdef int put_number(self, double value) except -1:
        """The shortest text that reads back as the same number; whole numbers without a point."""
        cdef char* text
        if -1e15 < value < 1e15 and value == <double><int64_t>value and not (value == 0 and signbit(value)):
            return self.put_whole(<int64_t>value)
        text = PyOS_double_to_string(value, b'r', 0, 0, NULL)
        try:
            return self.put(text, strlen(text))
        finally:
            PyMem_Free(text)

    cdef int flush(self, int64_t least) except -1:
        """Write what there is, if it is `least` bytes or more."""
        if self.size >= least and self.size:
            self.stream.write(self.buffer.data[:self.size])
            self.size = 0
        return 0


cdef class Rows:
    """A CSR triple to walk through."""

    cdef const int64_t[::1] indptr
    cdef const int32_t[::1] indices
    cdef const double[::1] values
    cdef bint ones

    def __cinit__(self, indptr, indices, values):
        self.indptr = indptr
        self.indices = indices
        self.ones = values is None
        self.values = np.empty(0) if values is None else values

    cdef double value(self, int64_t i):
        return 1.0 if self.ones else self.values[i]


def label_lines(const int32_t[::1] labels, Vocabulary names, const int64_t[::1] offsets, bint parted, stream):
    """A line with its label for every token; after each example a blank line if `parted`."""
    cdef Text out = Text(stream)
    cdef int64_t i, t
    with nogil:
        for i in range(offsets.shape[0] - 1):
            for t in range(offsets[i], offsets[i + 1]):
                out.put_name(names, labels[t])
                out.byte(b'\n')
            if parted:
                out.byte(b'\n')
    out.flush(0)


def pair_lines(const int32_t[::1] labels, Vocabulary names, const int64_t[::1] offsets, bint sequences,
               rows, const int64_t[::1] numbers, stream):
    """`LABEL [qid:N] INDEX:VALUE ...` for every token; numbers[k] is the feature number of id k, ascending."""
    cdef Text out = Text(stream)
    cdef Rows x = Rows(*rows)
    cdef int64_t i, t
    for i in range(offsets.shape[0] - 1):
        for t in range(offsets[i], offsets[i + 1]):
            if labels[t] >= 0:
                out.put_name(names, labels[t])
            else:
                out.byte(b'0')
            if sequences:
                out.put(b' qid:', 5)
                out.put_whole(i + 1)
            put_pairs(out, x, t, numbers)
        out.flush(FLUSH_BYTES)
    out.flush(0)


def label_set_lines(const int64_t[::1] label_indptr, const int32_t[::1] labels, Vocabulary names, rows,
                    const int64_t[::1] numbers, stream):
    """`LABEL,LABEL,... INDEX:VALUE ...` for every example; one without labels begins with a blank."""
    cdef Text out = Text(stream)
    cdef Rows x = Rows(*rows)
    cdef int64_t i, k
    for i in range(label_indptr.shape[0] - 1):
        for k in range(label_indptr[i], label_indptr[i + 1]):
            if k > label_indptr[i]:
                out.byte(b',')
            out.put_name(names, labels[k])
        if label_indptr[i] == label_indptr[i + 1] and x.indptr[i] == x.indptr[i + 1]:
            out.byte(b' ')
        put_pairs(out, x, i, numbers)
        out.flush(FLUSH_BYTES)
    out.flush(0)


def candidate_lines(const double[::1] targets, const int64_t[::1] qids, const int64_t[::1] offsets, rows,
                    const int64_t[::1] numbers, stream):
    """`TARGET qid:N INDEX:VALUE ...` for every candidate; qids: of the examples, numbers as in pair_lines."""
    cdef Text out = Text(stream)
    cdef Rows x = Rows(*rows)
    cdef int64_t i, c
    for i in range(offsets.shape[0] - 1):
        for c in range(offsets[i], offsets[i + 1]):
            out.put_number(targets[c])
            out.put(b' qid:', 5)
            out.put_whole(qids[i])
            put_pairs(out, x, c, numbers)
        out.flush(FLUSH_BYTES)
    out.flush(0)


def sparse_rows(const int64_t[::1] label_indptr, const int32_t[::1] labels, rows, int64_t first, stream):
    """`{INDEX VALUE,...}` for every example: labels, by their ids, of value 1, then inputs, numbered from `first`."""
    cdef Text out = Text(stream)
    cdef Rows x = Rows(*rows)
    cdef int64_t i, k
    for i in range(label_indptr.shape[0] - 1):
        out.byte(b'{')
        for k in range(label_indptr[i], label_indptr[i + 1]):
            if k > label_indptr[i]:
                out.byte(b',')
            out.put_whole(labels[k])
            out.put(b' 1', 2)
        for k in range(x.indptr[i], x.indptr[i + 1]):
            if k > x.indptr[i] or label_indptr[i] < label_indptr[i + 1]:
                out.byte(b',')
            out.put_whole(first + x.indices[k])
            out.byte(b' ')
            out.put_number(x.value(k))
        out.put(b'}\n', 2)
        out.flush(FLUSH_BYTES)
    out.flush(0)


cdef int put_pairs(Text out, Rows x, int64_t row, const int64_t[::1] numbers) except -1:
    """` INDEX:VALUE ...` of a row, and the end of its line."""
    cdef int64_t k
    for k in range(x.indptr[row], x.indptr[row + 1]):
        out.byte(b' ')
        out.put_whole(numbers[x.indices[k]])
        out.byte(b':')
        out.put_number(x.value(k))
    return out.byte(b'\n')


def attribute_lines(const int32_t[::1] labels, Vocabulary names, const int64_t[::1] offsets, rows,
                    Vocabulary attributes, stream):
    """`LABEL TAB ATTRIBUTE[:VALUE] TAB ...` for every token and a blank line after each sequence."""
    cdef Text out = Text(stream)
    cdef Rows x = Rows(*rows)
    cdef int64_t i, t, k
    for i in range(offsets.shape[0] - 1):
        for t in range(offsets[i], offsets[i + 1]):
            if labels[t] >= 0:
                out.put_escaped(names, labels[t])
                if x.indptr[t] == x.indptr[t + 1] and b' ' in names.name_bytes(labels[t]):
                    out.byte(b'\t')  # a line without TAB and with blanks would look like a mistake
            for k in range(x.indptr[t], x.indptr[t + 1]):
                out.byte(b'\t')
                out.put_escaped(attributes, x.indices[k])
                if x.value(k) != 1.0:
                    out.byte(b':')
                    out.put_number(x.value(k))
            out.byte(b'\n')
        out.byte(b'\n')
        out.flush(FLUSH_BYTES)
    out.flush(0)
