"""Lines of `label,label,... index:value ... [# comment]`: sets of labels."""

import re

import numpy as np

from libc.stdint cimport int32_t, int64_t

from cython_ext.text.formats.index_value cimport PairParser
from cython_ext.text.parser cimport Labels, is_blank, is_line_end, skip_blanks, word_end
from cython_ext.text.rows cimport Longs
from cython_ext.text.vocabulary cimport Vocabulary

COUNTS = re.compile(rb'(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t]*\r?')
LINE = 'expected LABEL,LABEL,... INDEX:VALUE ...'


def counts_of(text):
    """(examples, features, labels), which the first line of a text (bytes) may say, or None."""
    counts = COUNTS.fullmatch(text[:text.find(b'\n')])
    return None if counts is None else tuple(map(int, counts.groups()))


def set_arrays(labels, unknown, ends):
    """The fields of a LabelSetDataset about labels, and `offsets`.

    labels : int32, ids of the labels of all examples, -1 for one that is not known
    unknown : {place in labels: name} of these
    ends : int64 [n + 1], where the labels of each example end
    """
    missing = {}
    for at, name in unknown.items():
        missing.setdefault(int(np.searchsorted(ends, at, side='right')) - 1, []).append(name)
    known = labels >= 0
    return {'offsets': np.arange(len(ends), dtype=np.int64), 'label_ids': labels[known],
            'label_indptr': np.concatenate([[0], np.cumsum(known)])[ends], 'unknown_labels': missing}


cdef class LabelSetParser(PairParser):
    """Parser of lines that begin with their labels, or with a blank where they have none."""

    cdef readonly object counts     # what the first line of the file says (counts_of), or None
    cdef int64_t features           # the number of features of these, or -1
    cdef Longs label_ends
    cdef Longs seen                 # label -> line it was last seen in

    def __cinit__(self, bint sequences=False, Vocabulary attributes=None, Vocabulary label_names=None):
        self.labels = Labels(label_names)
        self.least = 0
        self.features = -1
        self.label_ends = Longs()
        self.label_ends.push(0)
        self.seen = Longs()

    def begin(self, carried):
        self._count(carried)

    def take(self):
        """The arrays of everything read since the last call, by their names in LabelSetDataset, and `offsets`; ids of
        labels in the order of the lines."""
        labels, unknown = self.labels.take()
        indptr, indices, values = self.rows.take()
        ends = self.label_ends.take()
        self.label_ends.push(0)
        return {'indptr': indptr, 'indices': indices, 'values': values, **set_arrays(labels, unknown, ends)}

    cdef int _count(self, counts) except -1:
        self.counts = counts
        self.features = -1 if counts is None else counts[1]
        return 0

    cdef int parse(self, const char* p, const char* end) except -1 nogil:
        if self.line == 1:
            with gil:
                p = self._first_line(p, end)
        return PairParser.parse(self, p, end)

    cdef const char* _first_line(self, const char* p, const char* end) except NULL:
        """Behind the counts that the first line may hold."""
        cdef const char* q = p
        while q[0] != b'\n':
            q += 1
        self._count(counts_of(p[:q + 1 - p]))
        if self.counts is None:
            return p
        self.line += 1
        return q + 1

    cdef const char* take_line(self, const char* p, const char* end) except NULL nogil:
        cdef int64_t qid = -1
        cdef const char* word = p
        if is_line_end(p[0]) or p[0] == b'#':
            return p
        p = skip_blanks(self._set(p))
        if p[0] == b',':
            with gil:
                self.fail('a blank before a comma in {}', word, word_end(p), LINE)
        if is_blank(word[0]) and not is_line_end(p[0]) and not holds_colon(p):
            with gil:
                self.fail('{} behind a blank', p, word_end(p), f'{LINE}; a line that begins with a blank has no labels')
        p = self._pairs(p, &qid)
        if 0 <= self.features < self.last:
            with gil:
                self.fail(f'feature number {self.last}', p, p, f'expected at most {self.features}, as many features as '
                          'the first line says')
        self.label_ends.push(self.labels.ids.count)
        return p

    cdef const char* _set(self, const char* p) except NULL nogil:
        """Read the labels up to the blank behind them."""
        cdef const char* start = p
        cdef const char* label
        if is_blank(p[0]):
            return p
        while True:
            label = p
            while not is_blank(p[0]) and not is_line_end(p[0]) and p[0] != b',' and p[0] != b':':
                p += 1
            if p[0] == b':':
                with gil:
                    self.fail('{} where the labels should be', start, word_end(p),
                              f'{LINE}; a line without labels begins with a blank')
            if p == label:
                with gil:
                    self.fail('a comma without a label in {}', start, word_end(p),
                              'expected labels parted by commas, without blanks')
            if label[0] == b'#':  # alone it would be a comment
                with gil:
                    self.fail('label {} begins with #', label, p, 'expected labels that begin otherwise')
            self.labels.push(label, p - label)
            self._mark(label, p)
            if p[0] != b',':
                return p
            p += 1

    cdef int _mark(self, const char* label, const char* end) except -1 nogil:
        """Refuse the label that was pushed last if the line has it already."""
        cdef int32_t k = self.labels.meaning.data[self.labels.spelled.find(label, end - label)]
        while self.seen.count <= k:
            self.seen.push(0)
        if self.seen.data[k] == self.line:
            with gil:
                self.fail('label {} twice', label, end, 'expected each label once in a line')
        self.seen.data[k] = self.line
        return 0


cdef bint holds_colon(const char* p) noexcept nogil:
    """Whether there is a colon in the word at p, or a comment begins there."""
    if p[0] == b'#':
        return True
    while not is_blank(p[0]) and not is_line_end(p[0]):
        if p[0] == b':':
            return True
        p += 1
    return False
