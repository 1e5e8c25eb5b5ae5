"""One of the candidates that come with each example: a choice among a number of alternatives of the example's own."""

import numpy as np

from libc.stdint cimport int64_t

from cython_ext.structures.choice cimport Choice

cdef enum:
    WIDTH = 4       # the scores of an example are padded to a multiple of this


cdef class Candidates(Choice):
    """offsets: int64[n + 1], where the candidates of each example begin, one at least; costs: float64[N], what each
    candidate costs more than the best one of its example. The gold output is the first that costs nothing."""

    def __init__(self, offsets, costs):
        cdef const int64_t[::1] view = np.ascontiguousarray(offsets, np.int64)
        self.offsets, self.offset_data = np.asarray(view), &view[0]
        self.costs = np.ascontiguousarray(costs, np.float64)
        self.total = len(self.costs)
        starts, free = self.offsets[:len(view) - 1], np.flatnonzero(self.costs == 0)
        self.gold_places = (free[np.searchsorted(free, starts)] - starts).astype(np.int32)
        self._set(self.gold_places, np.diff(self.offsets).max(initial=0))

    cdef Py_ssize_t count(self, Py_ssize_t i) noexcept nogil:
        return <Py_ssize_t> (self.offset_data[i + 1] - self.offset_data[i])

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        return (self.count(i) + WIDTH - 1) // WIDTH * WIDTH

    def padding(self):
        """How many scores stand behind those of the candidates of each example, int64[n]."""
        return -np.diff(self.offsets) % WIDTH
