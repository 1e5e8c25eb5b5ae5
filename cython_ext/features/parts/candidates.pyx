"""Sparse linear features of candidates: phi(x_i, y) is the row of candidate y, one weight for each attribute."""

from libc.stdint cimport int32_t, int64_t

from cython_ext.features.parts.rows cimport PartRows


cdef class CandidateFeatures(PartRows):
    """As PartRows; the rows of an example are its candidates."""

    def spread2(self, Py_ssize_t i, const int32_t[::1] ids, const double[::1] counts, double most):
        """max_y ||x_{y_i} - x_y||^2 itself. ids: the right candidate alone."""
        cdef int64_t first = self.offset_data[i]
        cdef Py_ssize_t c
        cdef double total, largest = 0.0
        for c in range(self.rows_of(i)):
            self.add_row(first + c, -1.0, self.spare_data)
            self.add_row(first + ids[0], 1.0, self.spare_data)
            total = self.clear_row(first + c, self.spare_data)
            largest = max(largest, total + self.clear_row(first + ids[0], self.spare_data))
        return largest
