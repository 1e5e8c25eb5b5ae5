"""Softmax margin: l_i = log sum_y exp(Delta(y_i, y) + <theta, s(y)>) - <theta, s(y_i)>, the loss-augmented CRF."""

from cython_ext.objectives.objective cimport SumObjective
from cython_ext.structures.workspace cimport Workspace


cdef class SoftmaxMargin(SumObjective):
    cdef double value(self, Py_ssize_t i, double *theta, Workspace work) noexcept nogil:
        return self.mean(i, theta, work, work.mean)

    cdef double mean(self, Py_ssize_t i, double *theta, Workspace work, double *mean) noexcept nogil:
        cdef double right = self.right_score(i, theta, work)
        return self.loss.exp(i, theta, work, mean) - right
