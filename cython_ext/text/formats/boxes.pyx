"""Pictures as bags of words: `picture WIDTH HEIGHT [LEFT TOP RIGHT BOTTOM]`, then a line `X Y WORD` for each point."""

from libc.stdint cimport int32_t, int64_t

from cython_ext.text.numbers cimport is_digit
from cython_ext.text.parser cimport Parser, is_blank, is_line_end, line_start, skip_blanks, word_end
from cython_ext.text.rows cimport Ints
from cython_ext.text.vocabulary cimport Vocabulary

cdef enum:
    LARGEST = 4096          # side of a picture

cdef str HEADER = 'expected picture WIDTH HEIGHT [LEFT TOP RIGHT BOTTOM]'
cdef str BOX = 'expected LEFT TOP RIGHT BOTTOM, places from 0 inside the picture that all belong to the box'


cdef class PictureParser(Parser):
    """words: those that are known, None while they are learned; boxes: whether every picture must have its box."""

    cdef Vocabulary words
    cdef bint frozen, boxes
    cdef Ints points, ids, sizes, gold
    cdef int32_t width, height          # of the open picture, 0: none

    def __cinit__(self, Vocabulary words=None, bint boxes=True):
        self.frozen, self.boxes = words is not None, boxes
        self.words = words if self.frozen else Vocabulary()
        self.words._index(2 * self.words.count + 2)
        self.points, self.ids, self.sizes, self.gold = Ints(), Ints(), Ints(), Ints()

    def begin(self, carried):
        self.width = 0

    def take(self):
        """The arrays of everything read since the last call, by their names in PictureDataset."""
        if self.sizes.count:
            self.offsets.push(self.ids.count)
        offsets = self.offsets.take()
        self.offsets.push(0)
        return {'offsets': offsets, 'points': self.points.take().reshape(-1, 2), 'words': self.ids.take(),
                'sizes': self.sizes.take().reshape(-1, 2), 'gold': self.gold.take().reshape(-1, 4)}

    def learned(self, parts):
        parts['attributes'] = self.words

    cdef const char* take_line(self, const char* p, const char* end) except NULL nogil:
        cdef const char* line = skip_blanks(p)
        if not is_line_end(line[0]) and line[0] != b'#':
            p = word_end(line)
            if is_header(line, p):
                self._header(line, p)
            else:
                self._point(line)
        return p

    cdef int _header(self, const char* line, const char* p) except -1 nogil:
        cdef int64_t[6] numbers
        cdef Py_ssize_t count = 0, k
        while True:
            p = skip_blanks(p)
            if is_line_end(p[0]):
                break
            if count == 6 or read_whole(&p, numbers + count) < 0:
                with gil:
                    self.fail('header {}', line, line_end(line), HEADER)
            count += 1
        if count != 2 and count != 6:
            with gil:
                self.fail('header {}', line, line_end(line), HEADER)
        if not (1 <= numbers[0] <= LARGEST and 1 <= numbers[1] <= LARGEST):
            with gil:
                self.fail(f'a picture of {numbers[0]} x {numbers[1]}', line, line,
                          f'expected sides from 1 to {LARGEST}')
        if count == 6 and not (numbers[2] <= numbers[4] < numbers[0] and numbers[3] <= numbers[5] < numbers[1]):
            with gil:
                self.fail(f'box {numbers[2]} {numbers[3]} {numbers[4]} {numbers[5]} in a picture of {numbers[0]} x '
                          f'{numbers[1]}', line, line, BOX)
        if count == 2 and self.boxes:
            with gil:
                self.fail('a picture without a box', line, line, HEADER.replace('[', '').replace(']', ''))
        if self.sizes.count:
            self.offsets.push(self.ids.count)
        self.width, self.height = <int32_t> numbers[0], <int32_t> numbers[1]
        self.sizes.push(self.width)
        self.sizes.push(self.height)
        for k in range(2, 6):
            self.gold.push(<int32_t> numbers[k] if count == 6 else -1)
        return 0

    cdef int _point(self, const char* line) except -1 nogil:
        cdef const char* p = line
        cdef const char* word
        cdef int64_t x = 0, y = 0
        cdef bint good = read_whole(&p, &x) == 0
        p = skip_blanks(p)
        good = good and read_whole(&p, &y) == 0
        p = word = skip_blanks(p)
        p = word_end(p)
        if not good or p == word or not is_line_end(skip_blanks(p)[0]):
            with gil:
                self.fail('{}', line, line_end(line),
                          'expected X Y WORD, or picture WIDTH HEIGHT [LEFT TOP RIGHT BOTTOM]')
        if self.width == 0:
            with gil:
                self.fail('{} before any picture', line, line_end(line), HEADER)
        if x >= self.width or y >= self.height:
            with gil:
                self.fail(f'point {x} {y} in a picture of {self.width} x {self.height}', line, line,
                          f'expected 0 0 to {self.width - 1} {self.height - 1}')
        self.points.push(<int32_t> x)
        self.points.push(<int32_t> y)
        return self.ids.push(self.words.find(word, p - word) if self.frozen else self.words.intern(word, p - word))


cdef bint is_header(const char* p, const char* end) noexcept nogil:
    """Whether a word is `picture`."""
    cdef const char* wanted = b'picture'
    cdef Py_ssize_t k
    if end - p != 7:
        return False
    for k in range(7):
        if p[k] != wanted[k]:
            return False
    return True


cdef int read_whole(const char** at, int64_t* value) noexcept nogil:
    """A whole number of at most 9 digits that is a word of its own; `at` moves behind it. -1 if there is none."""
    cdef const char* p = at[0]
    cdef const char* start = p
    value[0] = 0
    while is_digit(p[0]) and p - start < 10:
        value[0] = value[0] * 10 + (p[0] - 48)
        p += 1
    if p == start or p - start > 9 or not (is_blank(p[0]) or is_line_end(p[0])):
        return -1
    at[0] = p
    return 0


cdef const char* line_end(const char* p) noexcept nogil:
    while not is_line_end(p[0]):
        p += 1
    return p


def before_last_picture(bytes buffer):
    """Where the last picture begins, which may go on behind the buffer."""
    cdef const char* text = buffer
    cdef int64_t start, end = buffer.rfind(b'\n') + 1
    cdef const char* p
    with nogil:
        while end > 0:
            start = line_start(text, end - 1)
            p = skip_blanks(text + start)
            if is_header(p, word_end(p)):
                break
            end = start
    return start if end > 0 else 0
