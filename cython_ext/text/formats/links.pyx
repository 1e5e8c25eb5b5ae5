"""Lines of `TARGET [qid:N] ROW-COLUMN name:value ... [# comment]`: links of matchings."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from cython_ext.text.hashing cimport mix
from cython_ext.text.numbers cimport GOOD, is_digit, read_number
from cython_ext.text.parser cimport Parser, is_line_end, skip_blanks, word_end
from cython_ext.text.rows cimport Ints, Longs
from cython_ext.text.vocabulary cimport Vocabulary

LINE = 'expected TARGET [qid:N] ROW-COLUMN name:value ...'
TARGETS = 'expected 1 (a right link), 0 (none) or P (possible)'

cdef enum:
    NO, SURE, POSSIBLE
    PLACES = 1000000000     # rows, and columns
    NOWHERE = 0xFFFFFFFF    # in place of a row or a column


cdef class Places:
    """Which link of the open example has a row and a column: a table that forgets quickly."""

    cdef uint64_t* keys
    cdef int32_t* links     # -1: free
    cdef int64_t mask
    cdef Longs used         # slots that are not free

    def __cinit__(self):
        self.mask, self.used = -1, Longs()

    def __dealloc__(self):
        free(self.keys)
        free(self.links)

    cdef int32_t put(self, uint64_t row, uint64_t column, int32_t link) except -2 nogil:
        """The link that has been put there before, or -1."""
        cdef uint64_t key = row << 32 | column
        cdef int64_t at
        if 2 * (self.used.count + 1) > self.mask + 1:
            self._grow()
        at = self._slot(key)
        if self.links[at] >= 0:
            return self.links[at]
        self.keys[at], self.links[at] = key, link
        self.used.push(at)
        return -1

    cdef int64_t _slot(self, uint64_t key) noexcept nogil:
        cdef int64_t at = <int64_t>mix(key) & self.mask
        while self.links[at] >= 0 and self.keys[at] != key:
            at = (at + 1) & self.mask
        return at

    cdef int _grow(self) except -1 nogil:
        """Twice as many slots; they are empty then, and filled again from copies at the end of the new room."""
        cdef int64_t size = max(2 * (self.mask + 1), 256), count = self.used.count, k, at
        cdef uint64_t* keys = <uint64_t*>realloc(self.keys, (size + count) * sizeof(uint64_t))
        cdef int32_t* links = NULL
        if keys != NULL:
            self.keys = keys
            links = <int32_t*>realloc(self.links, (size + count) * sizeof(int32_t))
        if links == NULL:
            with gil:
                raise MemoryError()
        self.links = links
        for k in range(count):
            keys[size + k], links[size + k] = keys[self.used.data[k]], links[self.used.data[k]]
        memset(links, 0xFF, size * sizeof(int32_t))
        self.mask = size - 1
        for k in range(count):
            at = self._slot(keys[size + k])
            keys[at], links[at], self.used.data[k] = keys[size + k], links[size + k], at
        return 0

    cdef void clear(self) noexcept nogil:
        cdef int64_t k
        for k in range(self.used.count):
            self.links[self.used.data[k]] = -1
        self.used.count = 0


cdef class LinkParser(Parser):
    """attributes: those of a model, None to learn them; check: refuse right links that are no matching."""

    cdef Vocabulary attributes
    cdef bint frozen, check
    cdef Ints link_rows, link_columns, targets
    cdef Longs lines        # numbers, of the links of the open example
    cdef Places places
    cdef int64_t qid        # of the line before; -1: it has none

    def __cinit__(self, Vocabulary attributes=None, bint check=False):
        self.frozen, self.check = attributes is not None, check
        self.attributes = Vocabulary() if attributes is None else attributes
        self.attributes._index(2 * self.attributes.count + 2)
        self.link_rows, self.link_columns, self.targets = Ints(), Ints(), Ints()
        self.lines, self.places, self.qid = Longs(), Places(), -1

    def begin(self, carried):
        self.qid = -1 if carried is None else carried

    def take(self):
        self.end_example()
        indptr, indices, values = self.rows.take()
        offsets = self.offsets.take()
        self.offsets.push(0)
        return {'offsets': offsets, 'link_rows': self.link_rows.take(), 'link_columns': self.link_columns.take(),
                'targets': self.targets.take(), 'indptr': indptr, 'indices': indices, 'values': values}

    def learned(self, parts):
        """Attributes in order of first appearance (training)."""
        parts['attributes'] = self.attributes

    cdef int end_example(self) except -1 nogil:
        if self.lines.count:
            self.offsets.push(self.targets.count)
            self.lines.count = 0
            self.places.clear()
        return 0

    cdef const char* take_line(self, const char* p, const char* end) except NULL nogil:
        """Read one link."""
        cdef const char* word = skip_blanks(p)
        cdef const char* target_end = word_end(word)
        cdef int64_t qid = -1
        cdef int32_t target = NO
        if is_line_end(word[0]):
            self.end_example()
            return word
        if word[0] == b'#':
            return word
        if target_end != word + 1 or (word[0] != b'0' and word[0] != b'1' and word[0] != b'P'):
            with gil:
                self.fail('target {}', word, target_end, TARGETS)
        if word[0] != b'0':
            target = SURE if word[0] == b'1' else POSSIBLE
        p = skip_blanks(target_end)
        if p[0] == b'q' and p[1] == b'i' and p[2] == b'd' and p[3] == b':':
            p = skip_blanks(self._qid(p, &qid))
        if qid < 0 <= self.qid:
            with gil:
                self.fail('no qid', p, p, 'expected qid:N in every line, or in none')
        if qid < self.qid:
            with gil:
                self.fail(f'qid {qid} after qid {self.qid}', p, p,
                          'expected numbers that never decrease: one qid for each example, its lines together')
        if qid > self.qid:
            self.end_example()
            self.qid = qid
        p = skip_blanks(self._link(p, target))
        while not is_line_end(p[0]) and p[0] != b'#':
            p = skip_blanks(self._attribute(p))
        self.rows.end_row()
        return p

    cdef const char* _qid(self, const char* word, int64_t* qid) except NULL nogil:
        cdef const char* p = word + 4
        cdef int64_t number = 0
        while is_digit(p[0]) and p - word < 22:
            number = number * 10 + (p[0] - 48)
            p += 1
        if p == word + 4 or p != word_end(word):
            with gil:
                self.fail('{} is no number of an example', word, word_end(word), 'expected qid: and a whole number')
        qid[0] = number
        return p

    cdef const char* _link(self, const char* word, int32_t target) except NULL nogil:
        """Read `ROW-COLUMN`."""
        cdef const char* p = word
        cdef int64_t row = place(&p), column = -1
        cdef int32_t link = <int32_t>self.targets.count, other
        if row >= 0 and p[0] == b'-':
            p += 1
            column = place(&p)
        if row < 0 or column < 0 or p != word_end(word):
            with gil:
                self._bad_link(word, word_end(word))
        other = self.places.put(<uint64_t>row, <uint64_t>column, link)
        if other >= 0:
            with gil:
                self._fail_again('the link {} twice in an example', other, word, p, 'expected each link once')
        self.link_rows.push(<int32_t>row)
        self.link_columns.push(<int32_t>column)
        self.targets.push(target)
        self.lines.push(self.line)
        if self.check and target == SURE:
            self._check_side(self.places.put(<uint64_t>row, NOWHERE, link), 'row', word, p)
            self._check_side(self.places.put(NOWHERE, <uint64_t>column, link), 'column', word, p)
        return p

    cdef int _check_side(self, int32_t other, side, const char* word, const char* end) except -1 nogil:
        if other >= 0:
            with gil:
                self._fail_again(f'{{}} is a second right link of its {side}', other, word, end,
                                 'expected a matching: keep one as 1 and make the others P, or 0')
        return 0

    cdef int _fail_again(self, what, int32_t other, const char* word, const char* end, expected) except -1:
        cdef int64_t line = self.lines.data[other - self.offsets.data[self.offsets.count - 1]]
        return self.fail(f'{what}, after {self.link_rows.data[other]}-{self.link_columns.data[other]} in line {line}',
                         word, end, expected)

    cdef const char* _attribute(self, const char* word) except NULL nogil:
        """Read `name:value`; a name may have colons."""
        cdef const char* end = word_end(word)
        cdef const char* colon = end
        cdef const char* p
        cdef double value = 0.0
        cdef int kind
        cdef int32_t i
        while colon > word and colon[0] != b':':
            colon -= 1
        if colon == word:
            with gil:
                self.fail('{} without a value' if word[0] != b':' else '{} without a name', word, end,
                          'expected name:value without blanks')
        if colon - word == 3 and word[0] == b'q' and word[1] == b'i' and word[2] == b'd':
            with gil:
                self.fail('{} behind the link', word, end, LINE)
        p = colon + 1
        kind = read_number(&p, &value)
        if kind != GOOD or p != end:
            with gil:
                self.fail_value(word, colon + 1, end, kind, 'name:value')
        if self.frozen:
            i = self.attributes.find(word, colon - word)
        else:
            i = self.attributes.intern(word, colon - word)
        if i >= 0:
            self.rows.push(i, value)
        return end

    cdef int _bad_link(self, const char* word, const char* end) except -1:
        cdef bytes text = word[:end - word]
        if not text or text.startswith(b'#'):
            return self.fail('no link', word, word, LINE)
        if len(text) > 10 and text.replace(b'-', b'', 1).isdigit():
            return self.fail('link {} has too large a number', word, end, f'expected less than {PLACES}')
        return self.fail('{} is no link', word, end, 'expected ROW-COLUMN, two numbers from 0 such as 0-2')


cdef int64_t place(const char** at) noexcept nogil:
    """The number at a place, which moves behind it; -1 where there is none or it is too large."""
    cdef const char* p = at[0]
    cdef int64_t number = 0
    while is_digit(p[0]) and number < PLACES:
        number = number * 10 + (p[0] - 48)
        p += 1
    if p == at[0] or number >= PLACES:
        return -1
    at[0] = p
    return number
