from libc.stdint cimport int32_t, int64_t, uint8_t

from cython_ext.structures.cfg.cfg cimport Cfg
from cython_ext.structures.cfg.chart cimport GrammarTables
from cython_ext.structures.cfg.forest cimport Forest


cdef class BracketCounts:
    cdef Cfg tree
    cdef GrammarTables g
    cdef object arrays
    cdef const uint8_t *counted         # [labels]
    cdef const int64_t *gold_at         # [n + 1] the brackets of the gold trees,
    cdef const int32_t *gold_span       # in the order of their spans
    cdef const int32_t *gold_label

    cdef Py_ssize_t gold_count(self, Py_ssize_t i) noexcept nogil
    cdef void of_code(self, Py_ssize_t i, const int32_t *code, Py_ssize_t *hits, Py_ssize_t *brackets) noexcept nogil
    cdef void of_edge(self, Py_ssize_t i, const Forest *f, Py_ssize_t x, int32_t e, Py_ssize_t *hits,
                      Py_ssize_t *brackets) noexcept nogil
    cdef Py_ssize_t brackets(self, Py_ssize_t chain, Py_ssize_t base) noexcept nogil
    cdef Py_ssize_t hits(self, Py_ssize_t i, int32_t span, Py_ssize_t chain, Py_ssize_t base) noexcept nogil
    cdef void _walk(self, Py_ssize_t i, const int32_t *code, Py_ssize_t *at, Py_ssize_t *word, Py_ssize_t *hits,
                    Py_ssize_t *brackets) noexcept nogil
