"""The losses that are logarithms of sums over all outputs.

    log               l_i = log sum_y exp<theta, s(y)> - <theta, s(y_i)>                     the CRF
    softmax-margin    l_i = log sum_y exp(Delta(y_i, y) + <theta, s(y)>) - <theta, s(y_i)>   the loss-augmented CRF
"""

from cython_ext.objectives.objective cimport SumObjective
from cython_ext.structures.structure cimport SummedStructure
from cython_ext.structures.workspace cimport Workspace


cdef class Log(SumObjective):
    cdef double value(self, Py_ssize_t i, double *theta, Workspace work) noexcept nogil:
        return self.mean(i, theta, work, work.mean)

    cdef double mean(self, Py_ssize_t i, double *theta, Workspace work, double *mean) noexcept nogil:
        cdef double gold = self.gold_score(i, theta, work)
        return (<SummedStructure> self.structure).log_partition(i, theta, work.scratch, mean) - gold


cdef class SoftmaxMargin(SumObjective):
    cdef double value(self, Py_ssize_t i, double *theta, Workspace work) noexcept nogil:
        return self.mean(i, theta, work, work.mean)

    cdef double mean(self, Py_ssize_t i, double *theta, Workspace work, double *mean) noexcept nogil:
        cdef double gold = self.gold_score(i, theta, work)
        return self.loss.log_partition(i, theta, work, mean) - gold
