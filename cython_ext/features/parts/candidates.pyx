"""Sparse linear features of candidates: phi(x_i, y) is the row of candidate y, one weight for each attribute."""

from libc.stdint cimport int32_t, int64_t

from cython_ext.features.capabilities cimport Radius
from cython_ext.features.parts.rows cimport PartRows


cdef class CandidateFeatures(PartRows):
    """As PartRows; the rows of an example are its candidates."""

    helpers = {Radius: CandidateRadius}


cdef class CandidateRadius(Radius):
    def radius2(self, Py_ssize_t i, const int32_t[::1] ids, const double[::1] counts, double most):
        """max_y ||x_{y_i} - x_y||^2 itself. ids: the gold candidate alone."""
        cdef CandidateFeatures map = self.features
        cdef int64_t first = map.offset_data[i]
        cdef Py_ssize_t c
        cdef double total, largest = 0.0
        for c in range(map.rows_of(i)):
            map.add_row(first + c, -1.0, map.spare_data)
            map.add_row(first + ids[0], 1.0, map.spare_data)
            total = map.clear_row(first + c, map.spare_data)
            largest = max(largest, total + map.clear_row(first + ids[0], map.spare_data))
        return largest
