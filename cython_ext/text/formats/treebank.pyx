"""CoNLL-X and CoNLL-U: a word a line in ten columns parted by TABs, blank lines between sentences."""

import unicodedata

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memchr

from cython_ext.text.numbers cimport is_digit
from cython_ext.text.output cimport Text
from cython_ext.text.parser cimport Parser, is_line_end, skip_blanks
from cython_ext.text.rows cimport Ints, Longs
from cython_ext.text.vocabulary cimport Vocabulary

cdef enum:
    ID, FORM, LEMMA, COARSE, FINE, FEATS, HEAD, RELATION, DEPS, MISC, COLUMNS
    WORD, RANGE, EMPTY      # kinds of rows
    LONGEST = 100000000     # words of a sentence: numbers have nine digits at most
    MEMO = 10000            # forms of which is remembered whether they are punctuation

NAMES = ('ID', 'FORM', 'LEMMA', 'coarse tag', 'fine tag', 'FEATS', 'HEAD', 'DEPREL')


cdef struct Row:
    const char* start[10]
    const char* end[10]
    int64_t count           # columns
    int64_t first, second   # the number of a word; of a range or an empty node, both numbers
    int kind


cdef class TreebankParser(Parser):
    """Parser of CoNLL-X and CoNLL-U.

    universal : CoNLL-U: ten columns in each row, ranges and empty nodes, which are skipped; CoNLL-X: words only, the
        last two columns may be missing, and HEAD and DEPREL too where no `trees` are wanted
    trees : refuse sentences that are no complete trees, and where single_root those of several roots
    labelled : read relations; otherwise all are the same
    words, tags, relations : vocabularies that are kept to; None: they are learned

    Sentences of nothing but comments and empty nodes are `empties` (data_formats.datasets.empties).
    """

    cdef bint universal, trees, single_root, labelled, frozen
    cdef Vocabulary words, tags, relations
    cdef Ints word_ids, coarse_ids, fine_ids, heads, relation_ids, marks
    cdef Longs lines            # of the words of the open sentence
    cdef Longs empties
    cdef bint begun             # a line of the open sentence was read
    cdef int64_t first          # word of the open sentence
    cdef int64_t covered        # number of the last word of the last range of the open sentence
    cdef int64_t covered_line   # that this range stands in
    cdef int64_t empty          # empty nodes behind the last word
    cdef Vocabulary odd         # forms that do not begin with an ASCII letter or digit
    cdef Ints odd_marks         # whether they are punctuation
    cdef Ints colour            # scratch of the search for cycles

    def __cinit__(self, bint universal, bint trees, bint single_root, bint labelled, Vocabulary words=None,
                  Vocabulary tags=None, Vocabulary relations=None):
        self.universal, self.trees, self.single_root, self.labelled = universal, trees, single_root, labelled
        self.frozen = words is not None
        if self.frozen and (tags is None or relations is None):
            raise ValueError('all vocabularies or none')
        self.words, self.tags, self.relations = ((words, tags, relations) if self.frozen else
                                                 (Vocabulary(), Vocabulary(), Vocabulary()))
        for names in (self.words, self.tags, self.relations):
            (<Vocabulary>names)._index(2 * (<Vocabulary>names).count + 2)
        if not labelled and not self.frozen:
            self.relations.add(b'_')
        self.word_ids, self.coarse_ids, self.fine_ids = Ints(), Ints(), Ints()
        self.heads, self.relation_ids, self.marks = Ints(), Ints(), Ints()
        self.lines, self.empties, self.colour = Longs(), Longs(), Ints()
        self.odd, self.odd_marks = Vocabulary(), Ints()

    def take(self):
        """`tags` are the fine ones and `coarse` the coarse ones, whatever of them is of use."""
        offsets = self.offsets.take()
        self.offsets.push(0)
        self.first = 0
        return {'offsets': offsets, 'words': self.word_ids.take(), 'tags': self.fine_ids.take(),
                'coarse': self.coarse_ids.take(), 'heads': self.heads.take(), 'relations': self.relation_ids.take(),
                'punctuation': self.marks.take().astype(bool), 'empties': self.empties.take()}

    def learned(self, parts):
        """Names in order of first appearance (training)."""
        parts.update(word_names=self.words, tag_names=self.tags, label_names=self.relations)

    cdef int parse(self, const char* p, const char* end) except -1 nogil:
        Parser.parse(self, p, end)
        return self.end_example()

    cdef const char* take_line(self, const char* p, const char* end) except NULL nogil:
        cdef const char* nothing = b''
        cdef Row row
        if is_line_end(skip_blanks(p)[0]):
            self.end_example()
            return p
        if p[0] != b'#':
            self.begun = True
            p = self._columns(p, &row)
            self._number(&row)
            if row.kind == WORD:
                self._word(&row)
            return p
        if self.heads.count > self.first or self.empty or self.covered:
            with gil:
                self.fail('a comment inside a sentence', nothing, nothing,
                          'expected comments before the first word, a blank line behind the last')
        self.begun = True
        return p

    cdef const char* _columns(self, const char* p, Row* row) except NULL nogil:
        """Part a row at its TABs; returns its newline."""
        cdef int64_t k = 0
        row.start[0] = p
        while True:
            while p[0] != b'\t' and not is_line_end(p[0]):
                p += 1
            if k < COLUMNS:
                row.end[k] = p
            k += 1
            if is_line_end(p[0]):
                break
            p += 1
            if k < COLUMNS:
                row.start[k] = p
        row.count = k
        if k != COLUMNS and (self.universal or k > COLUMNS or k < (HEAD if not self.trees else DEPS)):
            with gil:
                self._wrong_width(k)
        return p + 1 if p[0] == b'\r' else p

    cdef int _wrong_width(self, int64_t count) except -1:
        cdef const char* nothing = b''
        fewer = '' if self.universal else ', or 8' if self.trees else ', 8, or 6 without trees'
        return self.fail(f'{count} column{"s" * (count != 1)}', nothing, nothing,
                         f'expected {<int64_t>COLUMNS}{fewer}, parted by TABs')

    cdef int _number(self, Row* row) except -1 nogil:
        """What a row is, and that it stands where it may."""
        cdef const char* p = row.start[ID]
        cdef int64_t words = self.heads.count - self.first
        row.first = whole(&p, row.end[ID])
        row.second = -1
        row.kind = WORD
        if p < row.end[ID] and (p[0] == b'-' or p[0] == b'.'):
            row.kind = RANGE if p[0] == b'-' else EMPTY
            p += 1
            row.second = whole(&p, row.end[ID])
        if row.first < 0 or p != row.end[ID] or (row.kind != WORD and (row.second < 0 or not self.universal)):
            with gil:
                self.fail('ID {}', row.start[ID], row.end[ID], f'expected {words + 1}' if self.universal or
                          row.kind == WORD else f'expected {words + 1}; only CoNLL-U has ranges and empty nodes')
        if row.kind == WORD:
            if row.first != words + 1:
                with gil:
                    self._wrong_order(row, words)
            self.empty = 0
        elif row.kind == RANGE:
            if row.first != words + 1 or row.second < row.first or row.first <= self.covered:
                with gil:
                    self.fail('range {}', row.start[ID], row.end[ID],
                              f'expected one from {words + 1}, the next word, that overlaps with no other')
            self.covered, self.covered_line = row.second, self.line
        else:
            if row.first != words or row.second != self.empty + 1:
                with gil:
                    self.fail('empty node {}', row.start[ID], row.end[ID], f'expected {words}.{self.empty + 1}')
            self.empty += 1
        return 0

    cdef int _wrong_order(self, Row* row, int64_t words) except -1:
        if words == 0:
            return self.fail('a sentence that begins with ID {}', row.start[ID], row.end[ID], 'expected 1')
        return self.fail(f'ID {{}} after {words}', row.start[ID], row.end[ID],
                         f'expected {words + 1}, or a blank line before a new sentence')

    cdef int _word(self, Row* row) except -1 nogil:
        self.lines.push(self.line)
        self._name(self.words, self.word_ids, row, FORM)
        self._name(self.tags, self.coarse_ids, row, COARSE)
        self._name(self.tags, self.fine_ids, row, FINE)
        self.marks.push(self._is_punctuation(row.start[FORM], row.end[FORM] - row.start[FORM]))
        cdef int32_t head = self._head(row)
        self.heads.push(head)
        if head < 0:
            self.relation_ids.push(-1)
        elif not self.labelled:
            self.relation_ids.push(0)
        else:
            self._name(self.relations, self.relation_ids, row, RELATION)
        return 0

    cdef int _name(self, Vocabulary names, Ints ids, Row* row, int column) except -1 nogil:
        """One more id of a name, -1 if it is not known."""
        cdef const char* text = row.start[column]
        cdef Py_ssize_t size = row.end[column] - text
        if size == 0:
            with gil:
                self.fail(f'the {NAMES[column]} is empty', text, text, 'expected _ where there is nothing')
        return ids.push(names.find(text, size) if self.frozen else names.intern(text, size))

    cdef int32_t _head(self, Row* row) except -2 nogil:
        """The number in HEAD, -1 without one."""
        cdef const char* p
        cdef int64_t head
        if row.count <= HEAD:
            return -1
        p = row.start[HEAD]
        if row.end[HEAD] - p == 1 and p[0] == b'_':
            if self.trees:
                with gil:
                    self.fail('HEAD {}', p, row.end[HEAD], 'expected a number: trees to learn from are complete')
            return -1
        head = whole(&p, row.end[HEAD])
        if head < 0 or p != row.end[HEAD]:
            with gil:
                self.fail('HEAD {}', row.start[HEAD], row.end[HEAD],
                          'expected the number of a word, 0 for the root, or _ for none')
        if row.count <= RELATION:
            with gil:
                self._wrong_width(row.count)
        return <int32_t>head

    cdef int _is_punctuation(self, const char* text, Py_ssize_t size) except -1 nogil:
        """Whether all characters of a form are of the Unicode categories P."""
        cdef char c = text[0]
        cdef int32_t id
        if is_digit(c) or b'a' <= c <= b'z' or b'A' <= c <= b'Z':
            return 0
        if self.odd.count == MEMO:
            self.odd.clear()
            self.odd_marks.count = 0
        id = self.odd.intern(text, size)
        if id == self.odd_marks.count:
            with gil:
                form = text[:size].decode('utf-8', 'surrogateescape')
                self.odd_marks.push(all(unicodedata.category(c)[0] == 'P' for c in form))
        return self.odd_marks.data[id]

    # ------------------------------------------------------------------------------------------- sentences

    cdef int end_example(self) except -1 nogil:
        """Close a sentence, if there is one."""
        cdef const char* nothing = b''
        cdef int64_t words = self.heads.count - self.first
        if self.covered > words:
            with gil:
                self.line = self.covered_line
                self.fail(f'a range up to word {self.covered}', nothing, nothing,
                          f'expected at most {words}, the number of words')
        self.covered = self.empty = 0
        if words == 0:
            if self.begun:
                self.empties.push(self.offsets.count - 1)
            self.begun = False
            return 0
        self.begun = False
        self._check_heads(words)
        if self.trees:
            self._check_roots(words)
            self._check_cycles(words)
        self.first = self.heads.count
        self.lines.count = 0
        self.offsets.push(self.heads.count)
        return 0

    cdef int _check_heads(self, int64_t words) except -1 nogil:
        cdef int64_t k
        for k in range(words):
            if self.heads.data[self.first + k] > words:
                with gil:
                    self._fail_at(k, f'HEAD {self.heads.data[self.first + k]} of word {k + 1}',
                                  f'expected at most {words}, the number of words')
        return 0

    cdef int _check_roots(self, int64_t words) except -1 nogil:
        cdef int64_t k, root = -1
        for k in range(words):
            if self.heads.data[self.first + k] == 0:
                if root >= 0 and self.single_root:
                    with gil:
                        self._fail_at(k, f'a second root, word {k + 1} besides word {root + 1}',
                                      'expected one HEAD 0 in a sentence; --multi-root takes several')
                root = k
        if root < 0:
            with gil:
                self._fail_at(0, 'no word of the sentence has HEAD 0', 'expected a tree')
        return 0

    cdef int _check_cycles(self, int64_t words) except -1 nogil:
        """Every word leads to the root: a walk upwards ends there, or at a word that an earlier walk has passed."""
        cdef int64_t k, at
        cdef int32_t* heads = self.heads.data + self.first
        self.colour.reserve(words)
        for k in range(words):
            self.colour.data[k] = -1
        for k in range(words):
            at = k
            while self.colour.data[at] < 0:
                self.colour.data[at] = <int32_t>k
                at = heads[at] - 1
                if at < 0:
                    break
            if at >= 0 and self.colour.data[at] == k:
                with gil:
                    self._fail_at(at, f'word {at + 1} is its own head' if heads[at] == at + 1 else
                                  f'word {at + 1} is in a cycle of heads', 'expected a tree')
        return 0

    cdef int _fail_at(self, int64_t k, what, expected) except -1:
        """Raise a TextError about word k (from 0) of the open sentence."""
        cdef const char* nothing = b''
        self.line = self.lines.data[k]
        return self.fail(what, nothing, nothing, expected)


cdef int64_t whole(const char** at, const char* end) noexcept nogil:
    """The whole number that begins at `at`, which moves behind it; -1 for none, or one that is too large."""
    cdef const char* p = at[0]
    cdef int64_t value = 0
    if p == end or not is_digit(p[0]) or (p[0] == b'0' and p + 1 < end and is_digit(p[1])):
        return -1
    while p < end and is_digit(p[0]):
        value = value * 10 + (p[0] - 48)
        p += 1
        if value >= LONGEST:
            return -1
    at[0] = p
    return value


def echo_trees(bytes block, const int32_t[::1] heads, const int32_t[::1] relations, Vocabulary names, stream,
               extra=None):
    """The lines of a block, each word with the HEAD and DEPREL given, all others as they are.

    relations : ids in `names`, -1 for `_`
    extra : None, or for each word the bytes of one more column, where other rows get `_`
    """
    cdef const char* p = block
    cdef const char* end = p + len(block)
    cdef const char* line_end
    cdef const char* text_end
    cdef const char* before
    cdef Text out = Text(stream)
    cdef int64_t t = 0
    cdef bint more = extra is not None
    cdef bytes column
    with nogil:
        while p < end:
            line_end = <const char*>memchr(p, b'\n', end - p)
            text_end = line_end - 1 if line_end > p and (line_end - 1)[0] == b'\r' else line_end
            if p[0] == b'#' or skip_blanks(p) == text_end:
                out.put(p, text_end - p)
            elif is_word(p):
                before = column_end(p, text_end, HEAD)
                out.put(p, before - p)
                out.byte(b'\t')
                out.put_whole(heads[t])
                out.byte(b'\t')
                if relations[t] < 0:
                    out.byte(b'_')
                else:
                    out.put_name(names, relations[t])
                before = column_end(p, text_end, DEPS)
                out.put(before, text_end - before)
                if more:
                    with gil:
                        column = extra[t]
                        out.byte(b'\t')
                        out.put(column, len(column))
                t += 1
            else:
                out.put(p, text_end - p)
                if more:
                    out.put(b'\t_', 2)
            out.put(text_end, line_end + 1 - text_end)
            p = line_end + 1
    out.flush(0)


cdef bint is_word(const char* p) noexcept nogil:
    """Whether a row is a word, and no range or empty node: digits and a TAB."""
    while is_digit(p[0]):
        p += 1
    return p[0] == b'\t'


cdef const char* column_end(const char* p, const char* end, int columns) noexcept nogil:
    """The end of so many columns of a row, or of all if there are not more."""
    cdef const char* tab
    while columns:
        tab = <const char*>memchr(p, b'\t', end - p)
        if tab == NULL:
            return end
        columns -= 1
        if columns == 0:
            return tab
        p = tab + 1
    return p
