cimport cython
from libc.stdint cimport int32_t, int64_t

from cython_ext.relaxations.agreements cimport Agreements
from cython_ext.structures.choice cimport Choice
from cython_ext.structures.graph.factor_graphs cimport FactorGraphs
from cython_ext.structures.graph.graph cimport Graph


@cython.final
cdef class FactorBlocks(Choice):
    cdef readonly FactorGraphs graphs
    cdef readonly Agreements agreements
    cdef readonly Graph inside              # the global factors
    cdef readonly object multipliers        # float64 [agreements.n], or None
    cdef readonly double times              # B / M, blocks of a graph on average
    cdef list memory
    cdef object examples_of_blocks
    cdef const int32_t *example             # of each block
    cdef const int32_t *kind                # its number among the blocks of all shapes
    cdef const int32_t *gold_codes         # the gold outputs of global factors,
    cdef const int64_t *gold_begin         # and where that of each block begins
    cdef const int64_t *part_begin          # [examples + 1], where the parts of their blocks begin
    cdef const int64_t *block_begin         # [shapes + 1], where the blocks of a shape begin among those of all
    # by kind
    cdef const int64_t *first               # its first factor in the tables
    cdef const int64_t *last                # and the one behind its last
    cdef const int64_t *place               # where its parts begin among those of the example
    cdef const int64_t *whole               # its number inside, -1 where it is no global factor
    cdef const int32_t *single              # whether it is the factor of a node

    cdef inline int64_t inner(self, Py_ssize_t b) noexcept nogil:
        """The number of a global factor among those inside, -1 of another block."""
        return self.whole[self.kind[b]]

    cdef inline int64_t factor_of(self, Py_ssize_t b) noexcept nogil:
        """The number of a block's first factor in the tables: the only one, but of global factors."""
        return self.first[self.kind[b]]

    cdef inline int64_t end_of(self, Py_ssize_t b) noexcept nogil:
        """The one behind its last factor."""
        return self.last[self.kind[b]]

    cdef inline int64_t part_of(self, Py_ssize_t b) noexcept nogil:
        """Where its parts begin among those of all blocks of all examples."""
        return self.part_begin[self.example[b]] + self.place[self.kind[b]]

    cdef inline bint is_node(self, Py_ssize_t b) noexcept nogil:
        """Whether a block is the factor of a single node."""
        return self.single[self.kind[b]]

    cdef Py_ssize_t number(self, Py_ssize_t b) noexcept nogil
    cdef Py_ssize_t node_part(self, Py_ssize_t b, Py_ssize_t v) noexcept nogil
    cdef Py_ssize_t node_parts(self, Py_ssize_t b) noexcept nogil
    cdef Py_ssize_t offset(self, Py_ssize_t b, int64_t f) noexcept nogil
