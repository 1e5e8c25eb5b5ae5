from libc.stdint cimport int32_t, int64_t

from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.features.tokens.sparse_rows cimport SparseRows


cdef class PartRows(FeatureMap):
    cdef readonly SparseRows rows
    cdef object offsets, blanks, spare
    cdef const int64_t *offset_data
    cdef const int64_t *blank_data
    cdef double *spare_data                 # [dim] zeros

    cdef Py_ssize_t rows_of(self, Py_ssize_t i) noexcept nogil
    cdef void add_row(self, int64_t r, double scale, double *w) noexcept nogil
    cdef double row_score(self, int64_t r, const double *w) noexcept nogil
    cdef double clear_row(self, int64_t r, double *w) noexcept nogil
