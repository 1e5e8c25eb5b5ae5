"""Log loss: l_i = log sum_y exp<theta, s(y)> - <theta, s(y_i)>, the CRF."""

from cython_ext.objectives.objective cimport SumObjective
from cython_ext.structures.structure cimport SummedStructure
from cython_ext.structures.workspace cimport Workspace


cdef class Log(SumObjective):
    cdef double value(self, Py_ssize_t i, double *theta, Workspace work) noexcept nogil:
        return self.mean(i, theta, work, work.mean)

    cdef double mean(self, Py_ssize_t i, double *theta, Workspace work, double *mean) noexcept nogil:
        cdef double right = self.right_score(i, theta, work)
        return (<SummedStructure> self.structure).exp(i, theta, work.scratch, mean) - right
