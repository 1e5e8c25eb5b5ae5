"""Rows of ARFF files whose attributes are inputs and labels."""

import numpy as np

from libc.stdint cimport int8_t, int32_t, int64_t
from libc.string cimport memcmp

from cython_ext.text.numbers cimport GOOD, INFINITE, is_digit, read_number
from cython_ext.text.parser cimport Parser, is_blank, is_line_end, skip_blanks
from cython_ext.text.rows cimport Ints, Longs
from cython_ext.text.vocabulary cimport Vocabulary

from cython_ext.text.errors import TextError, shown
from cython_ext.text.formats.multilabel import set_arrays

cdef enum:
    NUMBER
    NOMINAL
    TEXT
    LABEL

KINDS = {'number': NUMBER, 'nominal': NOMINAL, 'text': TEXT, 'label': LABEL}
SPARSE = 'expected {INDEX VALUE, INDEX VALUE, ...}'
BLANK_FIRST = '; a comment begins behind a blank'
ESCAPES = {b't': b'\t', b'n': b'\n', b'r': b'\r'}


def unescaped(text):
    """The text (bytes) between quotes without its backslashes."""
    parts = text.split(b'\\')
    out, k = [parts[0]], 1
    while k < len(parts):
        part = parts[k]
        if not part and k + 1 < len(parts):  # of two backslashes one stays
            out += [b'\\', parts[k + 1]]
            k += 1
        else:
            out += [ESCAPES.get(part[:1], part[:1]), part[1:]]
        k += 1
    return b''.join(out)


cdef class ArffParser(Parser):
    """Parser of the rows behind `@data`; the header is read in Python.

    read_header : (text, line, what was carried) -> (a header, or what is to be carried on; what is left of the text;
        the number of its first line)
    layout : header -> for each attribute (kind, one of KINDS; name; values that it may have or None), names in bytes
    require : labels must be given
    """

    cdef object read_header, layout, columns
    cdef bint require, learning
    cdef Vocabulary attributes, label_names
    cdef int32_t known              # labels with a smaller id are those of label_names, or all while learning
    cdef list unknown               # names of the others
    cdef const int8_t[::1] kinds
    cdef const int32_t[::1] ids     # of a numeric attribute or a label
    cdef const int64_t[::1] first   # the values of attribute a are first[a]:first[a + 1]
    cdef const int32_t[::1] value_ids       # of each value: an attribute or -1; of those of labels: 1 if it is there
    cdef const int64_t[::1] value_offsets   # the text of value v is value_text[value_offsets[v]:value_offsets[v + 1]]
    cdef const unsigned char[::1] value_text
    cdef Ints label_ids
    cdef Longs label_ends
    cdef Ints present_unless_said   # attributes of labels that an entry which is left out gives
    cdef Longs seen                 # attribute of a label -> line of its last entry
    cdef bytes scratch

    def __cinit__(self, read_header, layout, bint require, Vocabulary attributes=None, Vocabulary label_names=None):
        self.read_header = read_header
        self.layout = layout
        self.require = require
        self.learning = attributes is None
        self.attributes = Vocabulary() if attributes is None else attributes
        self.attributes._index(2 * self.attributes.count + 2)
        self.label_names = Vocabulary() if label_names is None else label_names
        self.label_ids = Ints()
        self.label_ends = Longs()
        self.label_ends.push(0)

    @property
    def has_header(self):
        """Whether the header is complete."""
        return self.columns is not None

    def feed(self, bytes block, int64_t line, carried=None):
        """Read whole lines of the header or of rows, as Parser.feed."""
        header, rest, line = self.read_header(block, line, carried)
        if rest is not None:
            self._use(header)
            super().feed(rest, line)

    def take(self):
        """The arrays of everything read since the last call, by their names in LabelSetDataset, and `offsets`; ids of
        labels in the order of the rows."""
        indptr, indices, values = self.rows.take()
        ends, ids = self.label_ends.take(), self.label_ids.take()
        self.label_ends.push(0)
        names = {int(at): self.unknown[ids[at] - self.known].decode('utf-8', 'surrogateescape')
                 for at in np.flatnonzero(ids >= self.known)}
        ids[ids >= self.known] = -1
        return {'indptr': indptr, 'indices': indices, 'values': values, **set_arrays(ids, names, ends)}

    def learned(self, parts):
        """Add the vocabularies that were learned (training)."""
        parts['attributes'] = self.attributes
        parts['label_names'] = self.label_names

    def _use(self, header):
        """Lay out the columns, once."""
        if self.columns is not None:
            return
        columns = self.layout(header)
        kinds, ids, counts, value_ids, texts, self.unknown = [], [], [0], [], [], []
        self.present_unless_said, self.seen = Ints(), Longs()
        if self.learning:
            for kind, name, _ in columns:
                if kind == 'label':
                    self.label_names.add(name)
        self.known = <int32_t>self.label_names.count
        for a, (kind, name, own) in enumerate(columns):
            self.seen.push(0)
            kinds.append(KINDS[kind])
            ids.append(-1)
            if kind == 'number':
                ids[a] = self._attribute(name)
            elif kind == 'nominal':
                texts += own
                value_ids += [-1 if k == 0 else self._attribute(name + b'=' + value) for k, value in enumerate(own)]
            elif kind == 'label':
                ids[a] = self.label_names.get(name)
                if ids[a] < 0:
                    ids[a] = self.known + len(self.unknown)
                    self.unknown.append(name)
                texts += own
                value_ids += [int(value == b'1') for value in own]
                if own[0] == b'1':
                    self.present_unless_said.push(a)
            counts.append(len(texts))
        self.kinds, self.ids = np.array(kinds, np.int8), np.array(ids, np.int32)
        self.first, self.value_ids = np.array(counts, np.int64), np.array(value_ids, np.int32)
        self.value_offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        self.value_text = np.frombuffer(b''.join(texts) + b'\0', np.uint8)
        self.columns = columns

    def _attribute(self, bytes name):
        """The id of an attribute, -1 if it is not known."""
        if not self.learning:
            return self.attributes.get(name)
        cdef int64_t count = self.attributes.count
        k = self.attributes.add(name)
        if k < count:
            raise TextError(None, f'attribute {shown(name)} twice', 'expected different names')
        return k

    cdef const char* take_line(self, const char* p, const char* end) except NULL nogil:
        p = skip_blanks(p)
        if not is_line_end(p[0]) and p[0] != b'%':
            p = self._sparse_row(p) if p[0] == b'{' else self._dense_row(p)
            self.rows.end_row()
            self.label_ends.push(self.label_ids.count)
        return p

    cdef const char* _dense_row(self, const char* p) except NULL nogil:
        cdef int64_t a = 0, n = self.kinds.shape[0]
        cdef bint comma = False
        while not is_line_end(p[0]) and p[0] != b'%':
            if p[0] == b'{' and a == n:
                return self._weight(p)
            if a == n:
                with gil:
                    self.fail('{} behind the last value', p, token_end(p, False),
                              f'expected {n} values, one for each attribute')
            p = skip_blanks(self._value(p, a, False))
            a += 1
            comma = p[0] == b','
            p = skip_blanks(p + comma)
        if a < n or comma:
            with gil:
                if comma:
                    self.fail('a comma without a value at the end', p, p, f'expected {n} values')
                self.fail(f'{a} value{"s" * (a != 1)}', p, p, f'expected {n}, one for each attribute')
        return p

    cdef const char* _sparse_row(self, const char* p) except NULL nogil:
        cdef const char* word
        cdef int64_t a, last = -1, k, n = self.kinds.shape[0]
        p = skip_blanks(p + 1)
        while p[0] != b'}':
            word = p
            a = 0
            while is_digit(p[0]):
                a = min(a * 10 + (p[0] - 48), n)
                p += 1
            if p == word or not is_blank(p[0]):
                with gil:
                    self.fail('{} in a sparse row', word, token_end(word, True), SPARSE)
            if a >= n or a <= last:
                with gil:
                    self._bad_index(word, p, a, last)
            last = a
            p = skip_blanks(self._value(skip_blanks(p), a, True))
            if p[0] == b',':
                p = skip_blanks(p + 1)
            elif p[0] != b'}':
                with gil:
                    self.fail('no comma behind the value of attribute {}', word, token_end(word, True), SPARSE)
        for k in range(self.present_unless_said.count):
            a = self.present_unless_said.data[k]
            if self.seen.data[a] != self.line:
                self.label_ids.push(self.ids[a])
        p = skip_blanks(p + 1)
        if p[0] == b',':
            p = skip_blanks(p + 1)
            if p[0] != b'{':
                with gil:
                    self.fail('{} behind a sparse row', p, token_end(p, False), 'expected the end of the line')
            return self._weight(p)
        return self._row_end(p, b'a sparse row')

    cdef const char* _weight(self, const char* p) except NULL nogil:
        """Behind the `{weight}` of a row, which must be 1."""
        cdef const char* word = p
        cdef double weight = 0
        p = skip_blanks(p + 1)
        if read_number(&p, &weight) != GOOD or skip_blanks(p)[0] != b'}' or weight != 1:
            with gil:
                self.fail('{} behind a row: weights of single examples are not supported', word, token_end(word, False),
                          'expected no weight, or {1}')
        p = skip_blanks(skip_blanks(p) + 1)
        return self._row_end(p, b'the weight of a row')

    cdef const char* _row_end(self, const char* p, const char* what) except NULL nogil:
        """p, where the line ends or a comment begins behind what is said and blanks."""
        if not is_line_end(p[0]) and not (p[0] == b'%' and is_blank((p - 1)[0])):
            with gil:
                self.fail(f'{{}} behind {what.decode()}', p, token_end(p, False),
                          f'expected the end of the line{BLANK_FIRST if p[0] == b"%" else ""}')
        return p

    cdef const char* _value(self, const char* p, int64_t a, bint sparse) except NULL nogil:
        """Take the value of attribute a, and return its end."""
        cdef const char* text = p
        cdef const char* end
        cdef char quote = p[0]
        if quote == b"'" or quote == b'"':
            end = quote_end(p)
            if end == NULL:
                with gil:
                    self.fail('a quote that is not closed', p, p, 'expected its end in the same line')
            with gil:
                self.scratch = unescaped(p[1:end - p])
                self._take(a, self.scratch, len(self.scratch), True)
                if end[1] == b'%':
                    self._refuse(a, '{1} behind the value of {0}', f'expected a comma{BLANK_FIRST}',
                                 end[1:token_end(end + 1, sparse) - end])
            return end + 1
        end = token_end(p, sparse)
        if end == p:
            with gil:
                self._refuse(a, 'no value of {}', 'expected one, or ? if it is missing')
        self._take(a, text, end - text, False)
        return end

    cdef int _take(self, int64_t a, const char* text, int64_t size, bint quoted) except -1 nogil:
        """Store the value of attribute a; what is missing, zero or the first of its values is left out."""
        cdef int kind = self.kinds[a]
        cdef const char* p = text
        cdef double value = 0
        cdef int64_t v
        if size == 1 and text[0] == b'?' and not quoted:
            if kind == LABEL and self.require:
                with gil:
                    self._refuse(a, 'no value of label {}', 'expected 0 or 1')
            self.seen.data[a] = self.line
        elif kind == NUMBER:
            if read_number(&p, &value) != GOOD or p != text + size:
                with gil:
                    self._bad_number(a, text, size)
            if value != 0 and self.ids[a] >= 0:
                self.rows.push(self.ids[a], value)
        elif kind == TEXT:
            with gil:
                self._take_text(a, text[:size])
        else:
            v = self._find(a, text, size)
            if kind == NOMINAL and self.value_ids[v] >= 0:
                self.rows.push(self.value_ids[v], 1.0)
            if kind == LABEL:
                self.seen.data[a] = self.line
                if self.value_ids[v]:
                    self.label_ids.push(self.ids[a])
        return 0

    cdef int64_t _find(self, int64_t a, const char* text, int64_t size) except -1 nogil:
        """Which value of attribute a a text is."""
        cdef int64_t v, start
        for v in range(self.first[a], self.first[a + 1]):
            start = self.value_offsets[v]
            if self.value_offsets[v + 1] - start == size and memcmp(&self.value_text[start], text, size) == 0:
                return v
        with gil:
            self._bad_value(a, text[:size])
        return -1

    cdef int _take_text(self, int64_t a, bytes value) except -1:
        cdef bytes name = self.columns[a][1] + b'=' + value
        cdef int32_t k
        if self.learning:
            k = self.attributes.intern(name, len(name))
        else:
            k = self.attributes.find(name, len(name))
        if k >= 0:
            self.rows.push(k, 1.0)
        return 0

    cdef int _bad_value(self, int64_t a, bytes text) except -1:
        values = [value.decode('utf-8', 'backslashreplace') for value in self.columns[a][2]]
        values[10:] = ['...'] * (len(values) > 10)
        self._refuse(a, '{1} is no value of {0}', f'expected one of {", ".join(values)}', text)
        return 0

    cdef int _bad_number(self, int64_t a, const char* text, int64_t size) except -1:
        cdef double value = 0
        cdef const char* p = text
        what = 'too large' if read_number(&p, &value) == INFINITE else 'not a number'
        self._refuse(a, f'{{1}} of {{0}} is {what}',
                     f'expected a finite number{BLANK_FIRST if b"%" in text[:size] else ""}', text[:size])
        return 0

    cdef int _refuse(self, int64_t a, what, expected, bytes text=b'') except -1:
        """Raise a TextError about attribute a, whose name takes the place of {0}; text that of {1}."""
        raise TextError(self.line, what.format(shown(self.columns[a][1]), shown(text)), expected)

    cdef int _bad_index(self, const char* word, const char* end, int64_t a, int64_t last) except -1:
        n = self.kinds.shape[0]
        if a >= n:
            self.fail('attribute number {}', word, end, f'expected 0 to {n - 1}, as there are {n} attributes')
        how = 'twice' if a == last else f'after {last}'
        self.fail(f'attribute number {a} {how}', word, end, 'expected ascending numbers')
        return 0


cdef const char* token_end(const char* p, bint sparse) noexcept nogil:
    """The end of a value without quotes: a blank, a comma, the end of the line, or of a sparse row."""
    while not is_blank(p[0]) and not is_line_end(p[0]) and p[0] != b',' and not (sparse and p[0] == b'}'):
        p += 1
    return p


cdef const char* quote_end(const char* p) noexcept nogil:
    """The quote that closes the one at p, or NULL; a backslash hides what follows it."""
    cdef char quote = p[0]
    p += 1
    while p[0] != quote:
        if p[0] == b'\\' and p[1] != b'\n':
            p += 1
        if p[0] == b'\n':
            return NULL
        p += 1
    return p
