"""Structured hinge loss with margin rescaling: l_i = max_y Delta(y_i, y) + <theta, s(y)> - <theta, s(y_i)>."""

from libc.stdint cimport int32_t

from cython_ext.objectives.objective cimport MaxObjective
from cython_ext.workspace cimport Workspace


cdef class Hinge(MaxObjective):
    cdef double value(self, Py_ssize_t i, double *theta, Workspace work) noexcept nogil:
        cdef double delta
        return self.best(i, theta, work, work.code, &delta)

    cdef double best(self, Py_ssize_t i, double *theta, Workspace work, int32_t *code, double *delta) noexcept nogil:
        cdef double right = self.right_score(i, theta, work)
        return self.loss.max(i, theta, work, code, delta) - right
