"""Objective: the loss l_i(w) of one example as a function of its scores theta_i(w).

A MaxObjective is a maximum over outputs and gives the maximiser; a SumObjective is a log of a sum and gives mean
statistics. Either way a (sub)gradient of l_i is Phi_i (s - s(y_i)) with the s that it gives. The methods may
overwrite theta.
"""

from libc.stdint cimport int32_t


cdef class Objective:
    """structure: a Structure; loss: a TaskLoss on it, or None where the objective has none."""

    def __init__(self, Structure structure not None, TaskLoss loss):
        self.structure, self.loss = structure, loss

    cdef double right_score(self, Py_ssize_t i, const double *theta, Workspace work) noexcept nogil:
        """<theta, s(y_i)>."""
        cdef Py_ssize_t c, count = self.structure.parts(i, self.structure.gold(i), work.gold_ids, work.gold_counts)
        cdef double total = 0.0
        for c in range(count):
            total += theta[work.gold_ids[c]] * work.gold_counts[c]
        return total

    cdef double value(self, Py_ssize_t i, double *theta, Workspace work) noexcept nogil:
        """l_i."""
        return 0.0


cdef class MaxObjective(Objective):
    cdef double best(self, Py_ssize_t i, double *theta, Workspace work, int32_t *code, double *delta) noexcept nogil:
        """l_i; writes a maximiser and its Delta(y_i, y)."""
        return 0.0


cdef class SumObjective(Objective):
    cdef double mean(self, Py_ssize_t i, double *theta, Workspace work, double *mean) noexcept nogil:
        """l_i; writes the mean statistics of the distribution whose log-partition function it is."""
        return 0.0
