"""1 - intersection over union of a box with the gold one. It does not add up over the words in it, but the bounds of
the search for the best box do with it (structures/boxes/boxes.pyx)."""

from libc.stdint cimport int32_t

from cython_ext.losses.loss cimport TaskLoss
from cython_ext.structures.boxes.boxes cimport Boxes
from cython_ext.structures.workspace cimport Workspace


cdef class Overlap(TaskLoss):
    cdef Boxes boxes

    def __init__(self, Boxes structure not None):
        self.structure = self.boxes = structure

    cdef double value(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        return self.boxes.loss(i, code)

    cdef double max(self, Py_ssize_t i, double *theta, Workspace work, int32_t *code, double *delta) noexcept nogil:
        cdef double value
        self.boxes.search(i, theta, True, 1, work.scratch, &value, code)
        delta[0] = self.boxes.loss(i, code)
        return value

    cdef double log_partition(self, Py_ssize_t i, double *theta, Workspace work, double *mean) noexcept nogil:
        return self.boxes.total(i, theta, True, work.scratch, mean)
