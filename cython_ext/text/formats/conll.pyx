"""CoNLL columns: a row of cells for each token, blank lines between sequences, the label in the last column."""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memchr

from cython_ext.text.templates.expansion cimport Cell, Expander
from cython_ext.text.output cimport Text
from cython_ext.text.parser cimport Labels, Parser, is_blank, is_line_end, skip_blanks, word_end
from cython_ext.text.rows cimport SparseRows
from cython_ext.text.vocabulary cimport Vocabulary

cdef const char* DOCSTART = b'-DOCSTART-'


cdef class ColumnParser(Parser):
    """Parser of CoNLL columns.

    columns : how many columns the training file has, the label included; rows of a file that is being tagged may
        lack the label, and columns that the template does not use
    needed : how many columns the template uses
    learning : whether this is the training file
    fields : what `take` adds to the arrays
    """

    cdef Expander expander
    cdef SparseRows edge_rows
    cdef dict fields
    cdef int64_t columns, needed, label_column
    cdef int64_t width         # columns of this file, 0: no row yet
    cdef int64_t width_line    # the line that showed it
    cdef bint learning, edges
    cdef int32_t* source       # column -> its place among the expander's cells, or -1
    cdef Cell* cells           # of the open sequence, used columns only
    cdef int64_t room, used, length

    def __cinit__(self, Expander expander, int64_t columns, int64_t needed, bint learning,
                  Vocabulary label_names=None, fields=()):
        cdef int64_t i
        if columns < 1 or (expander.sources and max(expander.sources) >= columns):
            raise ValueError('the template uses columns that the file does not have')
        self.fields = dict(fields)
        self.expander = expander
        self.labels = Labels(label_names)
        self.columns = columns
        self.label_column = columns - 1
        self.needed = needed
        self.learning = learning
        self.edges = expander.edges.size > 0
        self.edge_rows = SparseRows()
        expander.rows = self.rows
        expander.edge_rows = self.edge_rows if self.edges else None
        self.used = len(expander.sources)
        self.source = <int32_t*>malloc((columns + 1) * sizeof(int32_t))
        if self.source == NULL:
            raise MemoryError()
        for i in range(columns + 1):
            self.source[i] = -1
        for i, number in enumerate(expander.sources):
            self.source[<int64_t>number] = <int32_t>i

    def __dealloc__(self):
        free(self.source)
        free(self.cells)

    def begin(self, carried):
        cdef int64_t line = self.line
        self.width, self.width_line = carried or (0, 0)
        if self.width:              # the part that showed it is another parser's, which may not have come to it yet
            self.line = self.width_line
            self._check_enough(self.width)
            self.line = line

    def take(self):
        self.end_example()
        parts = super().take()
        parts.update(self.fields, columns=self.columns)
        if self.edges:
            rows = self.edge_rows.take()
            parts.update(zip(('edge_indptr', 'edge_indices', 'edge_values'), rows))
        return parts

    def learned(self, parts):
        """Attributes in order of first appearance, sequence by sequence (training)."""
        parts['attributes'] = self.expander.attributes
        if self.edges:
            parts['edge_attributes'] = self.expander.edge_attributes
        parts['label_names'] = self.labels.names

    cdef int end_example(self) except -1 nogil:
        if self.length:
            self.expander.expand(self.cells, self.length)
            self.length = 0
        return Parser.end_example(self)

    cdef const char* take_line(self, const char* p, const char* end) except NULL nogil:
        cdef const char* start = p
        p = skip_blanks(p)
        if is_line_end(p[0]) or is_docstart(p):
            self.end_example()
            return p
        if p != start:
            with gil:
                self.fail('a row that begins with a blank', p, p,
                          'expected the first column at the beginning of the line, or an empty line')
        return self._row(p)

    cdef const char* _row(self, const char* p) except NULL nogil:
        """Read a row; returns its newline."""
        cdef const char* start
        cdef const char* label = NULL
        cdef const char* label_end = NULL
        cdef int64_t column = 0
        if (self.length + 1) * self.used > self.room:
            self._more_cells()
        cdef Cell* cells = self.cells + self.length * self.used
        while not is_line_end(p[0]):
            start = p
            p = word_end(p)
            if column == self.label_column:
                label, label_end = start, p
            elif column < self.label_column and self.source[column] >= 0:
                cells[self.source[column]].text = start
                cells[self.source[column]].size = p - start
            column += 1
            p = skip_blanks(p)
        if column != self.width:
            with gil:
                self._check_width(column)
        if label == NULL:
            self.labels.push(p, 0)
        else:
            self.labels.push(label, label_end - label)
        self.length += 1
        return p + 1 if p[0] == b'\r' else p

    cdef int _check_width(self, int64_t count) except -1:
        """Every row has as many columns as the first one, and that one has enough."""
        cdef const char* nothing = b''
        if self.width:
            self.fail(f'{count} column{"s" * (count != 1)}', nothing, nothing,
                      f'expected {self.width} as in line {self.width_line}')
        self._check_enough(count)
        self.width = count
        self.width_line = self.line
        return 0

    cdef int _check_enough(self, int64_t count) except -1:
        """The first row has as many columns as the template uses, and all of the file where it is learned from."""
        cdef const char* nothing = b''
        if self.learning and count != self.columns:
            self.fail(f'{count} columns', nothing, nothing, f'expected {self.columns} as in the first row')
        if count < self.needed:
            known = f'{self.columns - 1}, or {self.columns} with the label'
            self.fail(f'{count} column{"s" * (count != 1)}', nothing, nothing,
                      f'expected {known}; the template uses {self.needed}')
        return 0

    cdef int _more_cells(self) except -1 nogil:
        cdef int64_t room = max(2 * self.room, 256 * max(self.used, 1))
        cdef void* p = realloc(self.cells, room * sizeof(Cell))
        if p == NULL:
            with gil:
                raise MemoryError()
        self.cells = <Cell*>p
        self.room = room
        return 0


cdef bint is_docstart(const char* p) noexcept nogil:
    """Whether a line's first cell is -DOCSTART-."""
    cdef int64_t i
    for i in range(10):
        if p[i] != DOCSTART[i]:
            return False
    return is_blank(p[10]) or is_line_end(p[10])


def echo_rows(bytes block, const int32_t[::1] labels, Vocabulary names, stream):
    """The lines of a block, each row with its label as one more column.

    The label follows a TAB where the row has one, otherwise a space. A -DOCSTART- row repeats its last column, so
    that all rows stay of one width. Blank lines become empty.
    """
    cdef const char* p = block
    cdef const char* end = p + len(block)
    cdef const char* line_end
    cdef const char* text_end
    cdef const char* cell
    cdef const char* cell_end
    cdef Text out = Text(stream)
    cdef int64_t t = 0
    with nogil:
        while p < end:
            line_end = <const char*>memchr(p, b'\n', end - p)
            text_end = line_end - 1 if line_end > p and (line_end - 1)[0] == b'\r' else line_end
            if not is_line_end(skip_blanks(p)[0]):
                out.put(p, text_end - p)
                out.byte(b'\t' if memchr(p, b'\t', text_end - p) != NULL else b' ')
                if is_docstart(p):
                    cell_end = text_end
                    while is_blank((cell_end - 1)[0]):
                        cell_end -= 1
                    cell = cell_end
                    while cell > p and not is_blank((cell - 1)[0]):
                        cell -= 1
                    out.put(cell, cell_end - cell)
                else:
                    out.put_name(names, labels[t])
                    t += 1
            out.put(text_end, line_end + 1 - text_end)
            p = line_end + 1
    out.flush(0)
