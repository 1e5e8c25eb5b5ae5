from libc.stdint cimport int32_t, int64_t

from cython_ext.structures.partition cimport Choices
from cython_ext.structures.structure cimport RankedStructure


cdef class Matching(RankedStructure):
    cdef readonly object layout
    cdef Choices choices
    cdef const int64_t *offsets
    cdef const int64_t *first_row
    cdef const int64_t *begin
    cdef const int32_t *column
    cdef const int32_t *part
    cdef const int32_t *columns
    cdef const int32_t *gold_codes
    cdef Py_ssize_t most_columns

    cdef Py_ssize_t links(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t links_of(self, Py_ssize_t i, Py_ssize_t r) noexcept nogil
    cdef Py_ssize_t part_of(self, Py_ssize_t i, Py_ssize_t r, Py_ssize_t v) noexcept nogil
    cdef double max_again(self, Py_ssize_t i, Py_ssize_t r, const double *theta, const double *potentials,
                          const int32_t *known, double *scratch, int32_t *code) noexcept nogil


cdef class RowChoices(Choices):
    cdef Matching structure
