"""Where a buffer of bytes can be cut so that no line or sequence is torn: an offset, or 0 for nowhere yet."""

from libc.stdint cimport int64_t
from libc.string cimport memchr, memcmp

from cython_ext.text.numbers cimport is_digit
from cython_ext.text.parser cimport is_blank, is_line_end, line_start, skip_blanks, word_end


def lines_of(bytes buffer):
    """How many lines end in a buffer; other threads go on meanwhile."""
    cdef const char* p = buffer
    cdef const char* end = p + len(buffer)
    cdef int64_t lines = 0
    with nogil:
        while p < end:
            p = <const char*>memchr(p, b'\n', end - p)
            if p == NULL:
                break
            p += 1
            lines += 1
    return lines


def has_marks(bytes buffer):
    """Whether a line of a buffer begins with a byte-order mark; other threads go on meanwhile."""
    cdef const char* start = buffer
    cdef const char* p = start
    cdef const char* end = p + len(buffer)
    cdef const char* mark = b'\xef\xbb\xbf'
    cdef bint found = False
    with nogil:
        while not found:
            p = <const char*>memchr(p, 0xEF, end - p)
            if p == NULL:
                break
            found = (p == start or (p - 1)[0] == b'\n') and end - p >= 3 and memcmp(p, mark, 3) == 0
            p += 1
    return found


def after_line(bytes buffer):
    """Behind the last whole line."""
    return buffer.rfind(b'\n') + 1


def after_blank_line(bytes buffer):
    """Behind the last line that holds nothing but blanks."""
    cdef const char* text = buffer
    cdef int64_t line, end = buffer.rfind(b'\n') + 1
    with nogil:
        while end > 0:
            line = line_start(text, end - 1)
            if is_line_end(skip_blanks(text + line)[0]):
                break
            end = line
    return end


def after_tree(bytes buffer):
    """Behind the last bracket that closes all, or the last line at whose end none is open; a backslash hides one from
    being seen."""
    cdef const char* start = buffer
    cdef const char* p = start
    cdef const char* end = p + len(buffer)
    cdef int64_t depth = 0, last = 0
    with nogil:
        while p < end:
            if p[0] == b'\\' and (p[1] == b'(' or p[1] == b')' or p[1] == b'\\'):
                p += 1
            elif p[0] == b'(':
                depth += 1
            elif p[0] == b')':
                if depth == 1:
                    last = p + 1 - start
                depth -= depth > 0
            elif p[0] == b'\n' and depth == 0:
                last = p + 1 - start
            p += 1
    return last


def before_last_qid(bytes buffer):
    """Before the first of the last lines that have the same qid: only a line with another qid ends a sequence."""
    cdef const char* text = buffer
    cdef int64_t line, end = buffer.rfind(b'\n') + 1, cut = 0, last = -1, qid
    with nogil:
        while end > 0:
            line = line_start(text, end - 1)
            qid = qid_of(text + line)
            if qid >= 0:
                if last >= 0 and qid != last:
                    break
                last = qid
                cut = line
            end = line
    return cut if end > 0 else 0


def last_qid(bytes block, line, before):
    """The last qid of a block; `before`, that of the blocks before it, if it has none
    (data_formats.parsing.reading.Reader)."""
    cdef const char* text = block
    cdef int64_t start, end = len(block), qid = -1
    with nogil:
        while end > 0 and qid < 0:
            start = line_start(text, end - 1)
            qid = qid_of(text + start)
            end = start
    return before if qid < 0 else qid


cdef int64_t qid_of(const char* p) noexcept nogil:
    """The number after ` qid:` in a line (cut to what fits), or -1. `#` in the first word begins no comment."""
    cdef int64_t value = 0
    p = skip_blanks(p)
    if p[0] == b'#':
        return -1
    p = word_end(p)
    while not is_line_end(p[0]) and p[0] != b'#':
        if is_blank(p[0]) and p[1] == b'q' and p[2] == b'i' and p[3] == b'd' and p[4] == b':' and is_digit(p[5]):
            p += 5
            while is_digit(p[0]):
                value = (value * 10 + (p[0] - 48)) & <int64_t>0xFFFFFFFFFFFFFFF
                p += 1
            return value
        p += 1
    return -1
