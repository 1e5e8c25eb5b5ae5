"""Sums over examples; see accumulators.pyx."""

from libc.stdint cimport int32_t

from cython_ext.features.capabilities cimport Helper


cdef class Accumulator(Helper):
    cdef readonly Py_ssize_t chunks
    cdef object totals
    cdef double *total_data

    cdef void put(self, Py_ssize_t chunk, Py_ssize_t i, const double *a) noexcept nogil
    cdef void put_parts(self, Py_ssize_t chunk, Py_ssize_t i, Py_ssize_t count, const int32_t *ids,
                        const double *a, double scale) noexcept nogil


cdef class StatisticsAccumulator(Accumulator):
    cdef object statistics
    cdef double *statistic_data

    cdef keep(self, Py_ssize_t chunks, Py_ssize_t size, Py_ssize_t numbers)


cdef class NormWindows(Helper):
    pass
