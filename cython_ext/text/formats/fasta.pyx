"""FASTA files of native sequences and their candidates: `>native ID`, `>homolog ID NATIVE_START:HOMOLOG_START:OPS` and
`>decoy ID`, each before the lines of its letters."""

import numpy as np

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memchr, memcmp

from cython_ext.text.errors import TextError, shown
from cython_ext.text.numbers cimport is_digit
from cython_ext.text.output cimport Text
from cython_ext.text.parser cimport Parser, is_blank
from cython_ext.text.rows cimport Ints, Longs

cdef enum:
    NATIVE, HOMOLOG, DECOY, OTHER
    SUBSTITUTION = 1, INSERTION, DELETION
    DIGITS = 9                  # of a place, at most

KINDS = ('native', 'homolog', 'decoy')
HEADERS = 'expected >native ID, >homolog ID NATIVE_START:HOMOLOG_START:OPS or >decoy ID'
ALIGNED = 'expected NATIVE_START:HOMOLOG_START:OPS, two numbers from 0 and letters M, S, I, D'


cdef class FastaParser(Parser):
    """require: every native needs a homolog with its alignment; whole: which reads both sequences whole."""

    cdef bint require, whole
    cdef Text letters
    cdef Longs starts, lines, steps_end     # of sequences, of their headers in the open example, of examples in steps
    cdef Ints kinds                         # of the records of the open example
    cdef Ints gold, aligned, places, steps
    cdef list ids
    cdef int32_t homolog                    # among the records of the open example; 0: none is
    cdef bint given                         # its alignment

    def __cinit__(self, bint require=True, bint whole=False):
        self.require, self.whole = require, whole
        self.lines, self.kinds = Longs(), Ints()
        self._start()

    def _start(self):
        self.letters, self.starts, self.steps_end, self.ids = Text(None), Longs(), Longs(), []
        self.gold, self.aligned, self.places, self.steps = Ints(), Ints(), Ints(), Ints()
        self.steps_end.push(0)

    def begin(self, carried):
        self.kinds.count = self.lines.count = self.homolog = 0

    def take(self):
        """What was read since the last call, by names of HomologDataset, where `offsets` are `sequences`: `offsets` is
        there for those who ask where sequences of tokens end."""
        self.starts.push(self.letters.size)
        out = {
            'offsets': np.zeros(1, np.int64), 'sequences': self.offsets.take(), 'starts': self.starts.take(),
            'text': np.frombuffer(PyBytes_FromStringAndSize(self.letters.buffer.data, self.letters.size), np.uint8),
            'ids': self.ids, 'gold': self.gold.take(), 'aligned': self.aligned.take().astype(bool),
            'gold_starts': self.places.take().reshape(-1, 2), 'steps': self.steps.take().astype(np.uint8),
            'step_indptr': self.steps_end.take(),
        }
        self.offsets.push(0)
        self._start()
        return out

    cdef int parse(self, const char* p, const char* end) except -1 nogil:
        Parser.parse(self, p, end)
        return self.end_example()

    cdef const char* take_line(self, const char* p, const char* end) except NULL nogil:
        cdef const char* line_end = <const char*>memchr(p, b'\n', end - p)
        cdef const char* last = line_end
        while last > p and (is_blank((last - 1)[0]) or (last - 1)[0] == b'\r'):
            last -= 1
        if last > p and p[0] == b'>':
            self._header(p, last)
        elif last > p and p[0] != b'#':
            self._letters(p, last)
        return line_end

    # ------------------------------------------------------------------------------------------------ lines

    cdef int _letters(self, const char* p, const char* end) except -1 nogil:
        cdef const char* at = p
        if self.kinds.count == 0:
            with gil:
                raise TextError(self.line, f'letters {shown(p[:end - p])} before any record', HEADERS)
        while at < end and is_letter(at[0]):
            at += 1
        if at < end:
            with gil:
                raise TextError(self.line, f'{shown(at[:1])} in a sequence',
                                'expected letters: no blanks, no signs of gaps')
        return self.letters.put(p, end - p)

    cdef int _header(self, const char* p, const char* end) except -1 nogil:
        """Begins a record; a native begins an example."""
        cdef const char* name = word_of(p + 1, end)
        cdef const char* word
        cdef const char* rest
        cdef int kind = kind_of(p + 1, name)
        if self.kinds.count and end - p >= 7 and memcmp(p, b'>native', 7) == 0:
            self.end_example()
        if kind == OTHER:
            with gil:
                raise TextError(self.line, f'header {shown(p[:end - p])}', HEADERS)
        if kind != NATIVE and self.kinds.count == 0:
            with gil:
                raise TextError(self.line, f'a {KINDS[kind]} before any native', 'expected >native ID')
        name = after_space(name, end)
        word = word_of(name, end)
        rest = after_space(word, end)
        if name == end or (rest != end and kind != HOMOLOG) or after_space(word_of(rest, end), end) != end:
            with gil:
                expected = '>homolog ID NATIVE_START:HOMOLOG_START:OPS' if kind == HOMOLOG else f'>{KINDS[kind]} ID'
                raise TextError(self.line, f'header {shown(p[:end - p])}', f'expected {expected}')
        if kind == HOMOLOG and self.homolog > 0:
            with gil:
                raise TextError(self.line, f'a second homolog of {self._named(0)}', 'expected one at most')
        with gil:
            self.ids.append(name[:word - name])
        if kind == HOMOLOG:
            self.homolog, self.given = <int32_t>self.kinds.count, rest != end
            if self.given:
                self._alignment(rest, word_of(rest, end))
        self.kinds.push(kind)
        self.lines.push(self.line)
        return self.starts.push(self.letters.size)

    cdef int _alignment(self, const char* p, const char* end) except -1 nogil:
        """Reads NATIVE_START:HOMOLOG_START:OPS into places and steps."""
        cdef const char* at = p
        cdef int32_t step
        cdef bint good = True
        for _ in range(2):
            good = good and place_at(&at, end, self.places)
        while good and at < end:
            step = SUBSTITUTION if at[0] == b'M' or at[0] == b'S' else INSERTION if at[0] == b'I' else DELETION
            good = step != DELETION or at[0] == b'D'
            self.steps.push(step)
            at += 1
        if not good:
            with gil:
                raise TextError(self.line, f'alignment {shown(p[:end - p])}', ALIGNED)
        return 0

    # --------------------------------------------------------------------------------------------- examples

    cdef int end_example(self) except -1 nogil:
        """The example whose records are complete, if there is one."""
        cdef Py_ssize_t k, n = self.kinds.count
        if n == 0:
            return 0
        for k in range(n):
            if self._size(k) == 0:
                with gil:
                    raise TextError(self.lines.data[k], f'{self._named(k)} has no letters',
                                    'expected a line of letters behind it')
        if self.require and not (self.homolog and self.given):
            with gil:
                self._incomplete()
        if self.homolog and self.given:
            self._check_alignment()
        else:
            self.places.push(0)
            self.places.push(0)
        self.offsets.push(self.starts.count)
        self.gold.push(self.homolog - 1)
        self.aligned.push(self.homolog and self.given)
        self.steps_end.push(self.steps.count)
        self.kinds.count = self.lines.count = self.homolog = 0
        return 0

    cdef int _check_alignment(self) except -1 nogil:
        """Its letters are there; one without steps begins nowhere."""
        cdef int32_t* place = self.places.data + self.places.count - 2
        cdef int64_t[2] end
        cdef int64_t k, size, before = self.steps_end.data[self.steps_end.count - 1]
        cdef int which
        end[0], end[1] = place[0], place[1]
        for k in range(before, self.steps.count):
            end[0] += self.steps.data[k] != INSERTION
            end[1] += self.steps.data[k] != DELETION
        for which in range(2):
            size = self._size(self.homolog if which else 0)
            if end[which] > size:
                with gil:
                    raise TextError(
                        self.lines.data[self.homolog],
                        f'the alignment ends behind letter {end[which]} of {self._named(self.homolog * which)}',
                        f'expected at most {size}, as many as it has')
            if self.whole and self.require and (place[which] != 0 or end[which] != size):
                with gil:
                    raise TextError(
                        self.lines.data[self.homolog],
                        f'the alignment reads letters {place[which]} to {end[which]} of '
                        f'{self._named(self.homolog * which)}', f'expected 0 to {size} for --align global')
        if self.steps.count == before:
            place[0] = place[1] = 0
        return 0

    cdef int64_t _size(self, Py_ssize_t k) noexcept nogil:
        """How many letters a record of the open example has."""
        cdef int64_t at = self.starts.count - self.kinds.count + k
        return (self.starts.data[at + 1] if at + 1 < self.starts.count else self.letters.size) - self.starts.data[at]

    cdef str _named(self, Py_ssize_t k):
        name = self.ids[self.starts.count - self.kinds.count + k]
        return f'{KINDS[self.kinds.data[k]]} {name.decode("utf-8", "backslashreplace")}'

    cdef int _incomplete(self) except -1:
        """Says what an example lacks."""
        if self.kinds.count == 1:
            what, expected = f'{self._named(0)} has no candidates', 'expected >homolog or >decoy behind it'
        elif self.homolog == 0:
            what, expected = f'{self._named(0)} has no homolog', 'expected >homolog ID among its candidates'
        else:
            what = f'{self._named(self.homolog)} has no alignment'
            raise TextError(self.lines.data[self.homolog], what,
                            'expected NATIVE_START:HOMOLOG_START:OPS behind its ID')
        raise TextError(self.lines.data[0], what, expected)


cdef inline bint is_letter(char c) noexcept nogil:
    """What is printed, but for signs of gaps and of headers."""
    return b'!' <= c <= b'~' and c != b'-' and c != b'.' and c != b'>'


cdef inline bint is_space(char c) noexcept nogil:
    return c == b' ' or 9 <= c <= 13


cdef inline const char* word_of(const char* p, const char* end) noexcept nogil:
    """The end of the word that begins here."""
    while p < end and not is_space(p[0]):
        p += 1
    return p


cdef inline const char* after_space(const char* p, const char* end) noexcept nogil:
    while p < end and is_space(p[0]):
        p += 1
    return p


cdef int kind_of(const char* p, const char* end) noexcept nogil:
    if end - p == 6 and memcmp(p, b'native', 6) == 0:
        return NATIVE
    if end - p == 7 and memcmp(p, b'homolog', 7) == 0:
        return HOMOLOG
    return DECOY if end - p == 5 and memcmp(p, b'decoy', 5) == 0 else OTHER


cdef bint place_at(const char** at, const char* end, Ints places) except -1 nogil:
    """Reads digits and a colon; whether they are there."""
    cdef const char* p = at[0]
    cdef int32_t value = 0
    while p < end and is_digit(p[0]) and p - at[0] < DIGITS:
        value = 10 * value + (p[0] - <char>b'0')
        p += 1
    if p == at[0] or p == end or p[0] != b':':
        return False
    at[0] = p + 1
    places.push(value)
    return True
