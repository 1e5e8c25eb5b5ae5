"""Structured hinge loss with margin rescaling: l_i = max_y Delta(y_i, y) + <theta, s(y)> - <theta, s(y_i)>."""

from libc.stdint cimport int32_t

from cython_ext.objectives.objective cimport MaxObjective
from cython_ext.structures.workspace cimport Workspace


cdef class Hinge(MaxObjective):
    cdef double best(self, Py_ssize_t i, double *theta, Workspace work, int32_t *code, double *bias,
                     double *scale) noexcept nogil:
        cdef double right = self.right_score(i, theta, work)
        scale[0] = 1.0
        return self.loss.max(i, theta, work, code, bias) - right
