from libc.stdint cimport int32_t, int64_t

from cython_ext.structures.boxes.box_sets cimport Sums
from cython_ext.structures.structure cimport SummedStructure


cdef class Boxes(SummedStructure):
    cdef readonly object sizes, gold_boxes, part_at, part_words, part_counts
    cdef object arrays
    cdef const int32_t *size_data       # [n, 2] width, height
    cdef const int32_t *gold_data      # [n, 4]
    cdef const int64_t *part_data       # [n + 1] the parts of each picture
    cdef const int64_t *point_at        # [n + 1] the points of each picture
    cdef const int32_t *point_data      # [points, 3] x, y, part; in the order of parts
    cdef Py_ssize_t most_cells

    cdef Sums sums(self, Py_ssize_t i, const double *theta, double *scratch) noexcept nogil
    cdef double score(self, Py_ssize_t i, const double *theta, const int32_t *box) noexcept nogil
    cdef double loss(self, Py_ssize_t i, const int32_t *box) noexcept nogil
    cdef Py_ssize_t search(self, Py_ssize_t i, const double *theta, bint with_loss, Py_ssize_t k, double *scratch,
                           double *values, int32_t *codes) noexcept nogil
    cdef Py_ssize_t take(self, Py_ssize_t i, const double *theta, bint with_loss, const int32_t *box, Py_ssize_t k,
                         Py_ssize_t found, double *values, int32_t *codes) noexcept nogil
    cdef double total(self, Py_ssize_t i, const double *theta, bint with_loss, double *scratch,
                      double *mean) noexcept nogil
