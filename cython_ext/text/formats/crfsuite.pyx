"""CRFsuite attribute lines: `LABEL TAB NAME[:VALUE] TAB ...`, blank lines between sequences."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr

from cython_ext.text.hashing cimport hash_bytes
from cython_ext.text.numbers cimport GOOD, read_number
from cython_ext.text.parser cimport Labels, Parser, is_blank, is_line_end, skip_blanks
from cython_ext.text.vocabulary cimport Vocabulary

NAMED = r'NAME or NAME:VALUE, and \: for a colon in a name'

cdef struct Field:
    const char* text    # name, unescaped
    Py_ssize_t size
    uint64_t hash
    double value


cdef class AttributeParser(Parser):
    """Parser of CRFsuite files. In names and labels `\\:` is a colon and `\\\\` a backslash; only TABs part fields.

    A first field that is empty means no label, which is an error if labels are `required`.
    """

    cdef Vocabulary attributes
    cdef bint frozen, required
    cdef Field* fields      # of the open line
    cdef int64_t room
    cdef char* scratch      # unescaped names of the open line
    cdef int64_t scratch_room

    def __cinit__(self, Vocabulary attributes=None, Vocabulary label_names=None, bint required=False):
        self.required = required
        self.frozen = attributes is not None
        self.attributes = Vocabulary() if attributes is None else attributes
        self.attributes._index(2 * self.attributes.count + 2)
        self.labels = Labels(label_names)

    def __dealloc__(self):
        free(self.fields)
        free(self.scratch)

    def take(self):
        self.end_example()
        return super().take()

    def learned(self, parts):
        """Attributes in order of first appearance (training)."""
        parts['attributes'] = self.attributes
        parts['label_names'] = self.labels.names

    cdef const char* take_line(self, const char* p, const char* end) except NULL nogil:
        cdef const char* line_end = <const char*>memchr(p, b'\n', end - p)
        if is_line_end(skip_blanks(p)[0]):
            self.end_example()
        else:
            self._line(p, line_end - 1 if line_end > p and (line_end - 1)[0] == b'\r' else line_end)
        return line_end

    cdef int _line(self, const char* p, const char* end) except -1 nogil:
        """Read one token, first all fields with their hashes, then the vocabulary, whose memory is far."""
        cdef Field label
        cdef int64_t n = 0, i
        cdef int32_t id
        cdef char* free_scratch
        if end - p > self.scratch_room:
            self._more_scratch(end - p)
        free_scratch = self.scratch
        if p[0] == b'@':
            with gil:
                self._check_declaration(p, end)
        p = self._field(p, end, &label, &free_scratch, True)
        if p == end or is_blank(label.text[0]):
            with gil:
                self._check_label(label.text, label.size, p == end)
        if label.size == 0 and self.required:
            with gil:
                self.fail('no label', p, p, 'expected LABEL TAB ATTRIBUTE ...')
        while p < end:
            p += 1  # the TAB
            if p == end:
                break  # a TAB at the end of the line
            if n == self.room:
                self._more_fields()
            p = self._field(p, end, &self.fields[n], &free_scratch, False)
            self.attributes.prefetch(self.fields[n].hash)
            n += 1
        for i in range(n):
            if self.frozen:
                id = self.attributes.find_hashed(self.fields[i].text, self.fields[i].size, self.fields[i].hash)
            else:
                id = self.attributes.intern_hashed(self.fields[i].text, self.fields[i].size, self.fields[i].hash)
            if id >= 0:
                self.rows.push(id, self.fields[i].value)
        self.rows.end_row()
        return self.labels.push(label.text, label.size)

    cdef const char* _field(self, const char* p, const char* end, Field* field, char** scratch,
                            bint is_label) except NULL nogil:
        """Read up to the next TAB or the end of the line; returns that place."""
        cdef const char* start = p
        cdef const char* name_end
        cdef int kind
        while p < end and p[0] != b'\t' and p[0] != b':' and p[0] != b'\\':
            p += 1
        field.text = start
        field.size = p - start
        field.value = 1.0
        if p < end and p[0] == b'\\':
            p = self._escaped(start, end, field, scratch)
        name_end = p
        if p < end and p[0] == b':':
            p += 1
            if is_label:
                with gil:
                    self.fail('unescaped colon in label {}', start, field_end(p, end), r'expected \: for a colon')
            if p < end and p[0] != b'\t':
                kind = read_number(&p, &field.value)
                if kind != GOOD or (p < end and p[0] != b'\t'):
                    with gil:
                        self.fail_value(start, name_end + 1, field_end(name_end, end), kind, NAMED, comments=False)
        if field.size == 0 and not is_label:
            with gil:
                if name_end == p:
                    self.fail('an empty attribute between two TABs', p, p, 'expected NAME or NAME:VALUE')
                self.fail('no name before the value in {}', start, p,
                          r'expected NAME:VALUE, and \: for a colon in a name')
        field.hash = hash_bytes(field.text, field.size)
        return p

    cdef const char* _escaped(self, const char* p, const char* end, Field* field, char** scratch) except NULL nogil:
        """Copy a name without its escapes; returns where it ends in the line."""
        cdef char* to = scratch[0]
        field.text = to
        while p < end and p[0] != b'\t' and p[0] != b':':
            if p[0] == b'\\' and p + 1 < end and (p[1] == b':' or p[1] == b'\\'):
                p += 1
            to[0] = p[0]
            to += 1
            p += 1
        field.size = to - field.text
        scratch[0] = to
        return p

    cdef int _more_fields(self) except -1 nogil:
        cdef int64_t room = max(2 * self.room, 64)
        cdef void* p = realloc(self.fields, room * sizeof(Field))
        if p == NULL:
            with gil:
                raise MemoryError()
        self.fields = <Field*>p
        self.room = room
        return 0

    cdef int _more_scratch(self, int64_t size) except -1 nogil:
        cdef void* p = realloc(self.scratch, 2 * size)
        if p == NULL:
            with gil:
                raise MemoryError()
        self.scratch = <char*>p
        self.scratch_room = 2 * size
        return 0

    cdef int _check_label(self, const char* text, Py_ssize_t size, bint alone) except -1:
        """Refuse labels of nothing but blanks, and lines in which blanks seem to stand for TABs."""
        cdef bytes label = text[:size]
        if size and not label.strip(b' '):
            self.fail('label {} is blank', text, text + size, 'expected LABEL TAB ATTRIBUTE ...')
        if alone and b' ' in label:
            self.fail('{} has blanks but no TAB', text, text + size, 'expected LABEL TAB ATTRIBUTE ...')
        return 0

    cdef int _check_declaration(self, const char* p, const char* end) except -1:
        """Refuse `@weight:x` and other words that CRFsuite takes for declarations; a plain `@` label may stand."""
        cdef const char* word = p
        cdef bytes text
        p = field_end(p, end)
        text = word[:p - word].replace(b'\\:', b'')
        if text.startswith(b'@weight:'):
            self.fail('{}: weights of sequences are not supported', word, p, 'expected no @weight lines')
        if b':' in text:
            self.fail('unknown declaration {}', word, p, r'expected a label, with \: for a colon in it')
        return 0


cdef const char* field_end(const char* p, const char* end) noexcept nogil:
    while p < end and p[0] != b'\t':
        p += 1
    return p
