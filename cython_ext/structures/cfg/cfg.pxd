from libc.stdint cimport int32_t, int64_t

from cython_ext.structures.cfg.chart cimport ChartGrammar, GrammarTables
from cython_ext.structures.cfg.forest cimport Forest
from cython_ext.structures.structure cimport SummedStructure


cdef struct Derivation:
    const Forest *forest
    Py_ssize_t i, k
    const int32_t *edge         # [items, k]
    const int32_t *left_rank    # [items, k], NULL: all 0
    const int32_t *right_rank
    int32_t *code
    Py_ssize_t length


cdef class Cfg(SummedStructure):
    cdef readonly ChartGrammar tables
    cdef GrammarTables g
    cdef readonly object offsets, parts_indptr, part_rules, parsed, counted
    cdef object arrays, kept
    cdef object memory                  # of a chart, while the parses of one sentence after the other are found
    cdef const int64_t *offset_data
    cdef const int32_t *word_data
    cdef const int32_t *tag_data
    cdef const int32_t *gold_data
    cdef const int64_t *part_at         # [n + 1] the parts of each example
    cdef const int32_t *part_rule       # their rules, ascending
    cdef const int64_t *chain_at        # [n + 1] the chains of several rules of each example
    cdef const int32_t *chain_number    # ascending
    cdef const int64_t *chain_part_at   # [chains + 1] the parts of each of these
    cdef const int32_t *chain_part
    cdef const int32_t *sizes           # [n, 4] items and edges of the forest, of the chart before it is cut
    cdef const int64_t *forest_data     # [n] where the forest is kept, 0 where it is not
    cdef readonly Py_ssize_t longest, most_items, most_edges, most_events, chart_room
    cdef readonly Py_ssize_t unweighted     # parts behind the rules, which only costs make matter

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t rules_of(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t events(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t part_of(self, Py_ssize_t i, int32_t rule) noexcept nogil
    cdef double *forest(self, Py_ssize_t i, const double *theta, double *scratch, Forest *f,
                        double **score) noexcept nogil
    cdef Py_ssize_t forest_doubles(self) noexcept nogil
    cdef Py_ssize_t chain_of(self, Py_ssize_t i, int32_t event) noexcept nogil
    cdef void means(self, Py_ssize_t i, const double *events, double *mean) noexcept nogil
    cdef void write(self, Derivation *d, Py_ssize_t x, Py_ssize_t rank) noexcept nogil
    cdef void _write_sequence(self, Derivation *d, Py_ssize_t x, Py_ssize_t rank) noexcept nogil
    cdef void no_tree(self, Py_ssize_t i, int32_t *code) noexcept nogil
    cdef bint _matches(self, Py_ssize_t i, const int32_t *code, Py_ssize_t *at, Py_ssize_t *word,
                       int32_t label) noexcept nogil
