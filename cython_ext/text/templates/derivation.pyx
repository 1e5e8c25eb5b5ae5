"""What a macro of a template makes of a cell: its first or last characters, or its shape.

Cells of ASCII, where characters are bytes, need no GIL, so that threads can read side by side.
"""

cdef class Derivation:
    """One derivation; `text` and `size` are what the last `apply` came to.

    kind : 'p', 's' or 'w', as in templates
    limit : how many characters of the beginning (p) or of the end (s)
    derive : the same for any cell, bytes -> bytes
    """

    def __cinit__(self, kind, Py_ssize_t limit, derive):
        self.kind = <char>ord(kind)
        self.limit = limit
        self.derive = derive
        self.written = Buffer('b')

    cdef int apply(self, const char* text, Py_ssize_t size) except -1 nogil:
        """Derive from a cell."""
        if not is_ascii(text, size):
            with gil:
                self.kept = self.derive(text[:size])
                self.text = self.kept
                self.size = len(self.kept)
            return 0
        if self.kind == b'w':
            return self._shape(text, size)
        self.size = min(size, self.limit)
        self.text = text if self.kind == b'p' else text + size - self.size
        return 0

    cdef int _shape(self, const char* text, Py_ssize_t size) except -1 nogil:
        """The kinds of characters, runs written once."""
        cdef Py_ssize_t i
        cdef char kind
        self.written.grow(size)
        self.text = self.written.data
        self.size = 0
        for i in range(size):
            kind = kind_of(text[i])
            if self.size == 0 or self.written.data[self.size - 1] != kind:
                self.written.data[self.size] = kind
                self.size += 1
        return 0


cdef inline bint is_ascii(const char* text, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t i
    cdef char any = 0
    for i in range(size):
        any |= text[i]
    return not any & 0x80


cdef inline char kind_of(char c) noexcept nogil:
    """X, x or d for letters and digits of ASCII, anything else as it is."""
    if b'A' <= c <= b'Z':
        return b'X'
    if b'a' <= c <= b'z':
        return b'x'
    return b'd' if b'0' <= c <= b'9' else c
