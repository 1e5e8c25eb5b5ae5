from libc.stdint cimport int32_t, int64_t

from cython_ext.structures.structure cimport SummedStructure


cdef void lower(Py_ssize_t rows, Py_ssize_t K, Py_ssize_t S, double *x) noexcept nogil


cdef class Chain(SummedStructure):
    cdef readonly Py_ssize_t n_labels
    cdef readonly Py_ssize_t stride
    cdef readonly bint tied                  # one block of transition scores for all positions
    cdef readonly Py_ssize_t longest
    cdef readonly object labels, offsets
    cdef const int32_t *label_data
    cdef const int64_t *offset_data

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t step(self) noexcept nogil
    cdef double log_space_exp(self, Py_ssize_t T, const double *u, const double *a, double *scratch,
                              double *mean) noexcept nogil
