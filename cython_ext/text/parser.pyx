"""What all parsers share: labels, examples, errors, and the way blocks of bytes come in and arrays go out."""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memchr

from cython_ext.text.numbers cimport INFINITE
from cython_ext.text.rows cimport Ints, Longs, SparseRows
from cython_ext.text.vocabulary cimport Vocabulary

from cython_ext.text.errors import TextError, shown

# distinct unknown labels that a stream may collect before they are forgotten
UNKNOWN_LIMIT = 10000


cdef class Labels:
    """The labels of the tokens read since the last `take`.

    `canonical` brings spellings of one label together (`+1`, `1.0`); it is called once for each spelling.
    """

    def __cinit__(self, Vocabulary given=None, canonical=None):
        self.canonical = canonical
        self.known = -1 if given is None else given.count
        self._start(Vocabulary() if given is None else given.copy())

    def _start(self, Vocabulary names):
        self.names = names
        self.names._index(2 * self.names.count + 2)
        self.spelled = Vocabulary()
        self.meaning = Ints()
        self.ids = Ints()

    cdef int push(self, const char* text, Py_ssize_t size) except -1 nogil:
        """One more token; no text means no label."""
        cdef int32_t spelling
        if size == 0:
            return self.ids.push(-1)
        spelling = self.spelled.intern(text, size)
        if spelling == self.meaning.count:
            with gil:
                self.meaning.push(self._learn(spelling))
        return self.ids.push(self.meaning.data[spelling])

    cdef int32_t _learn(self, int32_t spelling) except -2:
        cdef bytes name = self.spelled.name_bytes(spelling)
        if self.canonical is not None:
            name = self.canonical(name)
        return self.names.intern(name, len(name))

    def take(self):
        """(ids int32, -1 where the label is unknown or missing; {token: name} of the unknown ones)."""
        ids = self.ids.take()
        if self.known < 0:
            return ids, {}
        unknown = {int(t): self.names.name(ids[t]) for t in np.nonzero(ids >= self.known)[0]}
        ids[ids >= self.known] = -1
        if self.names.count > self.known + UNKNOWN_LIMIT:
            self._start(self.names.select(np.arange(self.known)))
        return ids, unknown


cdef class Parser:
    """Turns blocks of whole examples into the arrays of a TokenDataset. One subclass for each format."""

    def __cinit__(self):
        self.offsets = Longs()
        self.offsets.push(0)
        self.rows = SparseRows()

    def feed(self, bytes block, int64_t line, carried=None):
        """Read a block that ends in a newline. Raises TextError; after that the parser is of no use any more.

        line : the number of its first line
        carried : what must be known of the blocks before it (data_formats.parsing.reading.Reader); None: it is the
            first
        """
        cdef const char* p = block
        cdef const char* end = p + len(block)
        self.line = line
        if p == end:
            return
        if (end - 1)[0] != b'\n':
            raise ValueError('a block must end in a newline')
        self.begin(carried)
        try:
            with nogil:
                self.parse(p, end)
        except TextError as error:
            if error.line is None:
                error.line = self.line
            raise

    def begin(self, carried):
        """Go on behind blocks of which this is carried over; most formats need nothing."""

    def take(self):
        """The arrays of everything read since the last call, by their names in TokenDataset."""
        labels, unknown = self.labels.take()
        indptr, indices, values = self.rows.take()
        offsets = self.offsets.take()
        self.offsets.push(0)
        return {'offsets': offsets, 'indptr': indptr, 'indices': indices, 'values': values, 'labels': labels,
                'unknown_labels': unknown}

    def learned(self, parts):
        """Add the vocabularies that were learned to what `take` gave, and put ids in their final order (training)."""
        raise NotImplementedError

    cdef int parse(self, const char* p, const char* end) except -1 nogil:
        """Read whole lines, to the end."""
        while p < end:
            p = self.take_line(p, end)
            if p[0] != b'\n':
                p = <const char*>memchr(p, b'\n', end - p)
            p += 1
            self.line += 1
        return 0

    cdef const char* take_line(self, const char* p, const char* end) except NULL nogil:
        """Read the line that begins at p in a block that ends at `end`; returns a place in it, or its newline, behind
        which nothing is left to read."""
        with gil:
            raise NotImplementedError

    cdef int end_example(self) except -1 nogil:
        """Close an example, if it has any tokens."""
        if self.labels.ids.count > self.offsets.data[self.offsets.count - 1]:
            self.offsets.push(self.labels.ids.count)
        return 0

    cdef int fail(self, what, const char* start, const char* end, expected) except -1:
        """Raise a TextError about the current line; {} in `what` stands for the text from start to end."""
        raise TextError(self.line, what.format(shown(start[:end - start])), expected)

    cdef int fail_value(self, const char* word, const char* value, const char* end, int kind, form,
                        bint comments=True) except -1:
        """Raise a TextError about a value that read_number cannot take, or does not take to its end.

        word, end : where the word that the value stands in begins, and where it ends
        kind : what read_number said
        form : of a word, for the message
        comments : whether `#` behind a blank begins a comment in this format
        """
        cdef bytes text = value[:end - value]
        if kind == INFINITE:
            return self.fail('value of {} is too large', word, end, 'expected a finite number')
        if not text:
            return self.fail('{} without a value', word, end, f'expected {form} without blanks')
        if text.strip(b'+-').lower() in (b'nan', b'inf', b'infinity'):
            return self.fail('value of {} is not finite', word, end, 'expected a finite number')
        if comments and b'#' in text:
            form = f'{form}; a comment begins behind a blank'
        return self.fail('value of {} is not a number', word, end, f'expected {form}')
