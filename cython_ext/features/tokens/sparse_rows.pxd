from libc.stdint cimport int32_t, int64_t


cdef class SparseRows:
    cdef readonly Py_ssize_t n, columns
    cdef readonly object indptr_array, index_array, value_array
    cdef const int64_t *indptr
    cdef const int32_t *index
    cdef const double *value                # NULL: all ones

    cdef const double *values(self, int64_t p) noexcept nogil
    cdef double inner(self, Py_ssize_t r, Py_ssize_t s) noexcept nogil
