from libc.stdint cimport int32_t, int64_t, uint64_t

from cython_ext.text.templates.derivation cimport Derivation
from cython_ext.text.rows cimport Buffer, Ints, SparseRows
from cython_ext.text.vocabulary cimport Vocabulary


cdef struct Cell:
    const char* text
    Py_ssize_t size


cdef class Column:
    cdef Vocabulary cells      # everything that has stood in this column, pads included
    cdef Ints ids              # of the padded sequence
    cdef int64_t left, right   # how far features look beyond the sequence
    cdef Ints pads             # ids of `_B-left` .. `_B-1`, then of `_B+1` .. `_B+right`
    cdef Column source         # of a derived column; None: the column is read from the file
    cdef Derivation derivation  # how
    cdef Ints derived          # id in source -> id here, -1: not yet

    cdef int read(self, const Cell* cells, int64_t stride, int64_t length) except -1 nogil
    cdef int follow(self) except -1 nogil
    cdef int _pad(self, int64_t begin, int64_t end) except -1 nogil
    cdef int _learn(self, int32_t id) except -1 nogil
    cdef int _learn_pads(self) except -1
    cdef int clear(self) except -1


cdef class Shape:
    cdef Column column         # of the last cell
    cdef Shape parent          # the cells before it; None: it is the only one
    cdef int64_t offset        # row of the last cell, counted from the first
    cdef int64_t first, last   # rows of the first cell, counted from the token, that features ask for
    cdef Ints states           # of the padded sequence, by the place of the first cell; cells themselves without parent
    cdef uint64_t* keys        # hash table: state of the parent and cell, never 0 (free)
    cdef int32_t* values       # -> state
    cdef int64_t mask, count

    cdef int64_t size(self) noexcept nogil
    cdef int update(self, int64_t left, int64_t length) except -1 nogil
    cdef int32_t _state(self, uint64_t key) except -1 nogil
    cdef int _grow(self) except -1 nogil
    cdef int clear(self) except -1


cdef struct Piece:
    void* column               # of a cell, a Column; NULL: this piece is
    const char* text           # literal text
    Py_ssize_t size
    int64_t row                # of the cell, counted from the token


cdef class Feature:
    cdef Shape shape           # None: the feature is constant
    cdef int64_t row           # of the first cell, counted from the token
    cdef Ints known            # state -> attribute id, or one of the marks in expansion.pyx
    cdef list kept             # what the pieces point to
    cdef Piece* pieces
    cdef int64_t count
    cdef Buffer name

    cdef int fill(self, int32_t* out, int64_t stride, int64_t length, int64_t left) except -1 nogil
    cdef int32_t resolve(self, int64_t place, Vocabulary names, bint frozen) except -3 nogil
    cdef int32_t _name(self, int64_t place, Vocabulary names, bint frozen) except -3 nogil


cdef class Group:
    cdef list members
    cdef void** at             # the same, to be cast to their type
    cdef int64_t size


cdef class Expander:
    cdef readonly Vocabulary attributes, edge_attributes
    cdef readonly list sources   # column numbers to be read from the file, ascending
    cdef readonly int64_t left, right
    cdef bint frozen
    cdef Group read_columns, derived_columns, shapes, states, edges
    cdef SparseRows rows, edge_rows
    cdef Ints ids

    cdef int expand(self, const Cell* cells, int64_t length) except -1 nogil
    cdef int _fill(self, Group features, int64_t length, Vocabulary names, SparseRows rows,
                   int64_t start) except -1 nogil
    cdef int64_t _cached(self) noexcept nogil
    cdef int forget(self) except -1
