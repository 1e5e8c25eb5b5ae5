"""Feature templates applied to sequences of cells, without building the features' names.

Cells are interned per column. What several macros see together is one number, a *state*: for `%x[-1,1]/%x[0,1]` the
pair (cell, cell), found in a hash table of pairs, for three macros the pair (state of the first two, cell), and so
on. Templates with the same columns at the same distances share their *shape*, that is, the states along the
sequence; each looks at them from its own row. From the state to the attribute is one array per template. Only when
a template meets a state for the first time is the name put together and looked up in the vocabulary.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from cython_ext.text.templates.derivation cimport Derivation
from cython_ext.text.hashing cimport mix
from cython_ext.text.rows cimport Buffer, Ints, SparseRows
from cython_ext.text.vocabulary cimport Vocabulary

cdef int32_t UNSEEN = -1      # not looked up yet
cdef int32_t ABSENT = -2   # a given vocabulary does not have it

# states and cells that a stream may collect before they are forgotten
cdef int64_t CACHE_ENTRIES = 1 << 19


cdef class Column:
    """One column of the padded sequence: `left` cells `_B-k`, the sequence, `right` cells `_B+k`."""

    def __cinit__(self, int64_t left, int64_t right, Column source=None, Derivation derivation=None):
        self.cells = Vocabulary()
        self.ids = Ints()
        self.left = left
        self.right = right
        self.source = source
        self.derivation = derivation
        self.derived = Ints()
        self._learn_pads()

    cdef int read(self, const Cell* cells, int64_t stride, int64_t length) except -1 nogil:
        """Take a sequence; its cells in this column are cells[0], cells[stride], ..."""
        cdef int64_t t
        self.ids.count = 0
        self._pad(0, self.left)
        for t in range(length):
            self.ids.push(self.cells.intern(cells[t * stride].text, cells[t * stride].size))
        return self._pad(self.left, self.left + self.right)

    cdef int follow(self) except -1 nogil:
        """Derive this column from its source; what stands for places beyond the sequence stays."""
        cdef int64_t t
        cdef int32_t id
        self.ids.count = 0
        while self.derived.count < self.source.cells.count:
            self.derived.push(-1)
        self._pad(0, self.left)
        for t in range(self.left, self.source.ids.count - self.right):
            id = self.source.ids.data[t]
            if self.derived.data[id] < 0:
                self._learn(id)
            self.ids.push(self.derived.data[id])
        return self._pad(self.left, self.left + self.right)

    cdef int _pad(self, int64_t begin, int64_t end) except -1 nogil:
        cdef int64_t t
        for t in range(begin, end):
            self.ids.push(self.pads.data[t])
        return 0

    cdef int _learn(self, int32_t id) except -1 nogil:
        """Derive from a cell that is new."""
        cdef Py_ssize_t size
        cdef const char* text = self.source.cells.text(id, &size)
        self.derivation.apply(text, size)
        self.derived.data[id] = self.cells.intern(self.derivation.text, self.derivation.size)
        return 0

    cdef int _learn_pads(self) except -1:
        cdef bytes text
        self.pads = Ints()
        for k in (*range(-self.left, 0), *range(1, self.right + 1)):
            text = b'_B%+d' % k
            self.pads.push(self.cells.intern(text, len(text)))
        return 0

    cdef int clear(self) except -1:
        self.cells.clear()
        self.derived = Ints()
        return self._learn_pads()


cdef class Shape:
    """The columns of a template's macros and their distances."""

    def __cinit__(self, Column column, Shape parent, int64_t offset):
        self.column = column
        self.parent = parent
        self.offset = offset
        self.first = 0x7FFFFFFF
        self.last = -0x7FFFFFFF
        self.states = column.ids if parent is None else Ints()
        self.mask = -1

    def __dealloc__(self):
        free(self.keys)
        free(self.values)

    cdef int64_t size(self) noexcept nogil:
        """How many states there are."""
        return self.column.cells.count if self.parent is None else self.count

    cdef int update(self, int64_t left, int64_t length) except -1 nogil:
        """The states of a new sequence."""
        cdef int64_t place
        cdef int32_t* before
        cdef int32_t* cells
        if self.parent is None:
            return 0
        self.states.count = left + self.first
        self.states.reserve(left + length + self.last)
        before = self.parent.states.data
        cells = self.column.ids.data + self.offset
        for place in range(left + self.first, left + length + self.last):
            self.states.push(self._state((<uint64_t>before[place] << 32 | <uint64_t>cells[place]) + 1))
        return 0

    cdef int32_t _state(self, uint64_t key) except -1 nogil:
        cdef int64_t at
        if 2 * (self.count + 1) > self.mask + 1:
            self._grow()
        at = <int64_t>mix(key) & self.mask
        while self.keys[at]:
            if self.keys[at] == key:
                return self.values[at]
            at = (at + 1) & self.mask
        self.keys[at] = key
        self.values[at] = <int32_t>self.count
        self.count += 1
        return self.values[at]

    cdef int _grow(self) except -1 nogil:
        cdef int64_t size = max(2 * (self.mask + 1), 1024), i, at
        cdef uint64_t* keys = <uint64_t*>calloc(size, sizeof(uint64_t))
        cdef int32_t* values = <int32_t*>calloc(size, sizeof(int32_t))
        if keys == NULL or values == NULL:
            free(keys)
            free(values)
            with gil:
                raise MemoryError()
        for i in range(self.mask + 1):
            if self.keys[i]:
                at = <int64_t>mix(self.keys[i]) & (size - 1)
                while keys[at]:
                    at = (at + 1) & (size - 1)
                keys[at] = self.keys[i]
                values[at] = self.values[i]
        free(self.keys)
        free(self.values)
        self.keys = keys
        self.values = values
        self.mask = size - 1
        return 0

    cdef int clear(self) except -1:
        free(self.keys)
        free(self.values)
        self.keys = NULL
        self.values = NULL
        self.mask = -1
        self.count = 0
        return 0


cdef class Feature:
    """One template line; pieces: for each part of its name bytes, or (Column, row)."""

    def __cinit__(self, Shape shape, int64_t row, list pieces):
        self.shape = shape
        self.row = row
        self.known = Ints()
        self.name = Buffer('b')
        self.kept = pieces
        self.count = len(pieces)
        self.pieces = <Piece*>calloc(max(self.count, 1), sizeof(Piece))
        if self.pieces == NULL:
            raise MemoryError()
        for i, piece in enumerate(pieces):
            if type(piece) is bytes:
                self.pieces[<int64_t>i].text = piece
                self.pieces[<int64_t>i].size = len(piece)
            else:
                self.pieces[<int64_t>i].column = <void*>(<Column?>piece[0])
                self.pieces[<int64_t>i].row = piece[1]

    def __dealloc__(self):
        free(self.pieces)

    cdef int fill(self, int32_t* out, int64_t stride, int64_t length, int64_t left) except -1 nogil:
        """The attribute ids of this feature along the sequence (or UNSEEN or ABSENT) to out[0], out[stride], ..."""
        cdef int64_t t
        cdef int64_t size = 1 if self.shape is None else self.shape.size()
        cdef const int32_t* states
        while self.known.count < size:
            self.known.push(UNSEEN)
        if self.shape is None:
            for t in range(length):
                out[t * stride] = self.known.data[0]
        else:
            states = self.shape.states.data + left + self.row
            for t in range(length):
                out[t * stride] = self.known.data[states[t]]
        return 0

    cdef int32_t resolve(self, int64_t place, Vocabulary names, bint frozen) except -3 nogil:
        """The attribute of the token at a place of the padded sequence, which was UNSEEN when the sequence began."""
        cdef int32_t state = 0 if self.shape is None else self.shape.states.data[place + self.row]
        if self.known.data[state] == UNSEEN:
            self.known.data[state] = self._name(place, names, frozen)
        return self.known.data[state]

    cdef int32_t _name(self, int64_t place, Vocabulary names, bint frozen) except -3 nogil:
        """Put the name together and look it up."""
        cdef const char* text
        cdef Py_ssize_t size
        cdef int64_t total = 0, i
        cdef int32_t id
        for i in range(self.count):
            text, size = self.pieces[i].text, self.pieces[i].size
            if self.pieces[i].column != NULL:
                id = (<Column>self.pieces[i].column).ids.data[place + self.pieces[i].row]
                text = (<Column>self.pieces[i].column).cells.text(id, &size)
            self.name.grow(total + size)
            memcpy(self.name.data + total, text, size)
            total += size
        if not frozen:
            return names.intern(self.name.data, total)
        id = names.find(self.name.data, total)
        return ABSENT if id < 0 else id


cdef class Group:
    """Objects of one extension type, to be walked through without the GIL."""

    def __cinit__(self, list members):
        self.members = members
        self.size = len(members)
        self.at = <void**>calloc(max(self.size, 1), sizeof(void*))
        if self.at == NULL:
            raise MemoryError()
        for i, member in enumerate(members):
            self.at[<int64_t>i] = <void*>member

    def __dealloc__(self):
        free(self.at)


cdef class Expander:
    """A template made ready for a file.

    states, edges : for each feature of tokens and of transitions its pieces, bytes or (row, column, derivation), where
        derivation is None for the cell itself or (kind, size, function), see Derivation
    """

    def __cinit__(self, states, edges, Vocabulary attributes=None, Vocabulary edge_attributes=None):
        rows = [piece[0] for pieces in (*states, *edges) for piece in pieces if type(piece) is not bytes]
        self.left = max(0, -min(rows, default=0))
        self.right = max(0, max(rows, default=0))
        self.frozen = attributes is not None
        self.attributes = Vocabulary() if attributes is None else attributes
        self.edge_attributes = Vocabulary() if edge_attributes is None else edge_attributes
        self.attributes._index(2 * self.attributes.count + 2)
        self.edge_attributes._index(2 * self.edge_attributes.count + 2)
        self.ids = Ints()
        columns, shapes = {}, {}
        numbers = {piece[1] for pieces in (*states, *edges) for piece in pieces if type(piece) is not bytes}
        self.sources = sorted(numbers)
        for number in self.sources:
            columns[number, None] = Column(self.left, self.right)
        self.read_columns = Group(list(columns.values()))
        self.states = Group([self._feature(pieces, columns, shapes) for pieces in states])
        self.edges = Group([self._feature(pieces, columns, shapes) for pieces in edges])
        self.derived_columns = Group(list(columns.values())[len(self.sources):])
        self.shapes = Group(list(shapes.values()))

    def _feature(self, pieces, columns, shapes):
        """Build a feature, and the shapes and derived columns that it is the first to need."""
        cdef Shape shape = None
        named = []
        path = ()
        first = 0
        for piece in pieces:
            if type(piece) is bytes:
                named.append(piece)
                continue
            row, number, derivation = piece
            key = number, derivation and derivation[:2]
            if key not in columns:
                columns[key] = Column(self.left, self.right, columns[number, None], Derivation(*derivation))
            named.append((columns[key], row))
            if not path:
                first = row
            path += ((row - first, key),)
            if path not in shapes:
                shapes[path] = Shape(columns[key], shape, row - first)
            shape = shapes[path]
            shape.first = min(shape.first, first)
            shape.last = max(shape.last, first)
        return Feature(shape, first, named)

    cdef int expand(self, const Cell* cells, int64_t length) except -1 nogil:
        """Add a sequence of `length` rows, each of len(sources) cells, as rows of attributes."""
        cdef int64_t i
        if self.frozen and self._cached() > CACHE_ENTRIES:
            with gil:
                self.forget()
        for i in range(self.read_columns.size):
            (<Column>self.read_columns.at[i]).read(cells + i, self.read_columns.size, length)
        for i in range(self.derived_columns.size):
            (<Column>self.derived_columns.at[i]).follow()
        for i in range(self.shapes.size):
            (<Shape>self.shapes.at[i]).update(self.left, length)
        self._fill(self.states, length, self.attributes, self.rows, 0)
        if self.edge_rows is not None:
            self._fill(self.edges, length, self.edge_attributes, self.edge_rows, 1)
        return 0

    cdef int _fill(self, Group features, int64_t length, Vocabulary names, SparseRows rows,
                   int64_t start) except -1 nogil:
        """Rows of the features' attributes; those of the first `start` tokens stay empty."""
        cdef int64_t width = features.size, t, k
        cdef int32_t id
        self.ids.reserve(width * length)
        for k in range(width):
            (<Feature>features.at[k]).fill(self.ids.data + k + start * width, width, length - start, self.left + start)
        for t in range(length):
            if t >= start:
                for k in range(width):
                    id = self.ids.data[t * width + k]
                    if id == UNSEEN:
                        id = (<Feature>features.at[k]).resolve(self.left + t, names, self.frozen)
                    if id >= 0:
                        rows.push(id, 1.0)
            rows.end_row()
        return 0

    cdef int64_t _cached(self) noexcept nogil:
        """Roughly how many things are remembered."""
        cdef int64_t total = 0, i
        for i in range(self.read_columns.size):
            total += (<Column>self.read_columns.at[i]).cells.count
        for i in range(self.derived_columns.size):
            total += (<Column>self.derived_columns.at[i]).cells.count
        for i in range(self.shapes.size):
            total += (<Shape>self.shapes.at[i]).count
        return total

    cdef int forget(self) except -1:
        """Drop cells, states and what is known of them: a stream's memory must not grow with its length."""
        cdef Column column
        cdef Shape shape
        cdef Feature feature
        for column in (*self.read_columns.members, *self.derived_columns.members):
            column.clear()
        for shape in self.shapes.members:
            shape.clear()
        for feature in (*self.states.members, *self.edges.members):
            feature.known = Ints()
        return 0
