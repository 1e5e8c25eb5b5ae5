"""Lines of `target [qid:n] index:value ... [# comment]`: SVMlight and svm_hmm; candidates.pyx reads groups of them."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from cython_ext.text.hashing cimport mix
from cython_ext.text.numbers cimport GOOD, is_digit, read_number
from cython_ext.text.parser cimport Labels, Parser, is_blank, is_line_end, skip_blanks, word_end
from cython_ext.text.rows cimport Longs
from cython_ext.text.vocabulary cimport Vocabulary

from cython_ext.text.errors import TextError, shown
from cython_ext.text.rows import renumber

cdef int64_t TABLE_NUMBERS = 1 << 22           # numbers below this are looked up in a plain table
cdef uint64_t LARGEST_NUMBER = 999999999999999999


cdef class NumberIds:
    """Whole numbers to ids: a plain table for small numbers, open addressing for the others."""

    def __cinit__(self):
        self.numbers = Longs()
        self.mask = -1

    def __dealloc__(self):
        free(self.table)
        free(self.slots)

    cdef int _grow_table(self, int64_t size) except -1 nogil:
        cdef int64_t room = max(self.size * 2, 1024)
        cdef void* p
        while room < size:
            room *= 2
        p = realloc(self.table, room * sizeof(int32_t))
        if p == NULL:
            with gil:
                raise MemoryError()
        self.table = <int32_t*>p
        memset(self.table + self.size, 0xFF, (room - self.size) * sizeof(int32_t))
        self.size = room
        return 0

    cdef int _grow_slots(self) except -1 nogil:
        cdef int64_t size = max(2 * (self.mask + 1), 1024), i, at
        cdef void* p = realloc(self.slots, size * sizeof(int32_t))
        if p == NULL:
            with gil:
                raise MemoryError()
        self.slots = <int32_t*>p
        self.mask = size - 1
        memset(self.slots, 0xFF, size * sizeof(int32_t))
        for i in range(self.numbers.count):
            if self.numbers.data[i] >= TABLE_NUMBERS:
                at = <int64_t>mix(self.numbers.data[i]) & self.mask
                while self.slots[at] >= 0:
                    at = (at + 1) & self.mask
                self.slots[at] = <int32_t>i
        return 0

    cdef int32_t _get(self, int64_t number) except -2 nogil:
        cdef int32_t i = <int32_t>self.numbers.count
        cdef int64_t at
        if number < TABLE_NUMBERS:
            if self.frozen:
                return -1
            if number >= self.size:
                self._grow_table(number + 1)
            self.table[number] = i
        else:
            if 2 * (self.large + 1) > self.mask + 1:
                self._grow_slots()
            at = <int64_t>mix(number) & self.mask
            while self.slots[at] >= 0:
                if self.numbers.data[self.slots[at]] == number:
                    return self.slots[at]
                at = (at + 1) & self.mask
            if self.frozen:
                return -1
            self.slots[at] = i
            self.large += 1
        if i == 0x7FFFFFFF:
            with gil:
                raise OverflowError('more than 2,147,483,647 different feature numbers')
        self.numbers.push(number)
        return i

    cdef int freeze(self, Vocabulary names) except -1:
        """Give the number that each name spells the name's id; names that are no numbers have none.

        Ids without a number are filled with -1, which no file can hold.
        """
        cdef int64_t i, number
        cdef Py_ssize_t size
        cdef const char* text
        for i in range(names.count):
            text = names.text(<int32_t>i, &size)
            number = whole_number(text, size)
            if number < 0:
                self.numbers.push(-1)
            else:
                self._get(number)
        self.frozen = True
        return 0


cdef int64_t whole_number(const char* text, Py_ssize_t size) noexcept nogil:
    """The value of a plain decimal number without leading zeros of at most 18 digits, or -1."""
    cdef int64_t value = 0
    cdef Py_ssize_t i
    if size == 0 or size > 18 or (text[0] == b'0' and size > 1):
        return -1
    for i in range(size):
        if not is_digit(text[i]):
            return -1
        value = value * 10 + (text[i] - 48)
    return value


cdef class PairLines(Parser):
    """Reads lines; what target and qid mean is for subclasses to say."""

    def __cinit__(self):
        self.ids = NumberIds()
        self.qid = -1
        self.least = 1

    def count_from(self, int64_t least):
        """Let feature numbers begin at 0 or 1; the parser itself."""
        self.least = least
        return self

    cdef int end_line(self, int64_t qid, const char* target, Py_ssize_t size) except -1 nogil:
        """After the pairs of a line: its qid, -1 if it has none, and its target."""
        return 0

    def learned(self, parts):
        """Renumber what was read so that the ids ascend with the feature numbers, and name them (training)."""
        numbers = self.ids.numbers.take()
        order = np.argsort(numbers)
        new = np.empty(len(order), dtype=np.int32)
        new[order] = np.arange(len(order))
        renumber(parts['indices'], new)
        parts['attributes'] = Vocabulary(b'%d' % number for number in numbers[order].tolist())

    cdef const char* take_line(self, const char* p, const char* end) except NULL nogil:
        """Read a line from its target to its comment or end. `#` in a target is a letter like any other."""
        cdef const char* target = skip_blanks(p)
        cdef const char* target_end
        cdef int64_t qid = -1
        p = target
        if is_line_end(p[0]) or p[0] == b'#':
            return p
        while not is_blank(p[0]) and not is_line_end(p[0]) and p[0] != b':':
            p += 1
        target_end = p
        if p[0] == b':':
            with gil:
                self.fail('{} where the target should be', target, word_end(p), f'expected {self.form}')
        p = self._pairs(p, &qid)
        self.end_line(qid, target, target_end - target)
        return p

    cdef const char* _pairs(self, const char* p, int64_t* qid) except NULL nogil:
        """Read a row of `index:value` words up to the comment or the end of the line, where it returns."""
        cdef const char* word
        cdef const char* value_text
        cdef uint64_t number
        cdef int64_t last = self.least - 1
        cdef int32_t i
        cdef double value = 0.0
        cdef int kind
        while True:
            p = skip_blanks(p)
            word = p
            number = 0
            while is_digit(p[0]):
                number = number * 10 + <uint64_t>(p[0] - 48)
                p += 1
            if p[0] != b':' or p == word:
                if is_line_end(p[0]) and p == word or p[0] == b'#' and p == word:
                    break
                with gil:
                    p = self._other_word(word, qid)
                continue
            if p - word > 18 or <int64_t>number <= last:
                with gil:
                    self.last = last
                    self._bad_index(word, p)
            last = <int64_t>number
            p += 1
            value_text = p
            kind = read_number(&p, &value)
            if kind != GOOD or not (is_blank(p[0]) or is_line_end(p[0])):
                with gil:
                    self.fail_value(word, value_text, word_end(word), kind, 'index:value')
            i = self.ids.get(last)
            if i >= 0:
                self.rows.push(i, value)
        self.last = last
        if self.ids.frozen:
            self.rows.end_row()
        else:
            self.rows.end_ascending_row()  # in the order of the numbers, which decides the final ids
        return p

    cdef const char* _other_word(self, const char* word, int64_t* qid) except NULL:
        """Take `qid:n`, `sid:n` and `cost:1`; refuse anything else. Returns the end of the word."""
        cdef const char* end = word_end(word)
        cdef bytes text = word[:end - word]
        cdef bytes name = text.partition(b':')[0], value = text.partition(b':')[2]
        if name == b'qid' or name == b'sid':
            if not value.isdigit() or len(value) > 18:
                self.fail('{} is no sequence number' if name == b'qid' else '{} is no slack number', word, end,
                          f'expected {name.decode()}: and a whole number')
            if name == b'qid':
                if qid[0] >= 0:
                    self.fail('a second qid, {}', word, end, 'expected one')
                qid[0] = int(value)
        elif name == b'cost':
            if number_value(value) != 1:
                self.fail('{}: weights of single examples are not supported', word, end, 'expected no cost:')
        elif b':' not in text:
            self.fail('{} without a colon', word, end, 'expected index:value')
        else:
            self.fail(f'index of {{}} is not a whole number from {self.least}', word, end, 'expected index:value')
        return end

    cdef int _bad_index(self, const char* word, const char* colon) except -1:
        cdef bytes text = word[:colon - word]
        if len(text) > 18:
            self.fail('feature number {} is too large', word, colon, f'expected at most {LARGEST_NUMBER}')
        if int(text) < self.least:
            self.fail('feature number 0 in {}', word, word_end(word),
                      'expected numbers from 1 as in the training data, which were read without --zero-based'
                      if self.ids.frozen else 'expected numbers from 1; --zero-based reads files that count from 0')
        if int(text) == self.last:
            self.fail(f'feature number {self.last} twice', word, colon, 'expected each number once in a line')
        self.fail(f'feature number {int(text)} after {self.last}', word, colon, 'expected ascending numbers')
        return 0


cdef class PairParser(PairLines):
    """Parser of SVMlight lines (every line an example) or svm_hmm lines (an example ends where qid grows)."""

    def __cinit__(self, bint sequences, Vocabulary attributes=None, Vocabulary label_names=None):
        self.sequences = sequences
        self.form = 'TAG qid:N index:value ...' if sequences else 'a label, then index:value pairs'
        self.labels = Labels(label_names, canonical_label)
        if attributes is not None:
            self.ids.freeze(attributes)

    def begin(self, carried):
        self.qid = -1 if carried is None else carried

    def take(self):
        self.end_example()
        return super().take()

    def learned(self, parts):
        super().learned(parts)
        parts['label_names'] = self.labels.names

    cdef int end_line(self, int64_t qid, const char* target, Py_ssize_t size) except -1 nogil:
        if not self.sequences:
            self.labels.push(target, size)
            return self.end_example()
        if qid < 0:
            with gil:
                self.fail('no qid', target, target, f'expected {self.form}; without qid the tokens of different '
                          'sequences cannot be told apart')
        if qid < self.qid:
            with gil:
                self.fail(f'qid {qid} after qid {self.qid}', target, target,
                          'expected numbers that never decrease: one qid for each sequence, its lines together')
        if qid > self.qid:
            self.end_example()
            self.qid = qid
        return self.labels.push(target, size)


def canonical_label(name):
    """One spelling for labels that are the same number: 1 for `+1`, `1.0` and `1e0`; words stay."""
    if name.lower().lstrip(b'+-') == b'nan':
        raise TextError(None, f'label {shown(name)} is not a number', 'expected a finite number or a word')
    if b',' in name and number_value(name.partition(b',')[0]) is not None:
        raise TextError(None, f'several numbers for a label, {shown(name)}',
                        'expected LABEL INDEX:VALUE ...; --task multilabel takes sets of labels')
    value = number_value(name)
    if value is None:
        return name
    if value == int(value) and abs(value) < 2**53:
        return b'%d' % int(value)
    return repr(value).encode()


def number_value(text):
    """The value of a decimal number (bytes), or None."""
    cdef bytes line = text + b'\n'
    cdef const char* p = line
    cdef double value = 0.0
    if read_number(&p, &value) != GOOD or p[0] != b'\n':
        return None
    return value
