"""Strata: the best output for each value of the task loss, where there are few (Tsochantaridis et al. 2005, section
4.5.2 and appendix; the gold output is a stratum of its own).

Needed by losses in which Delta multiplies the score. Memory for the values and for a dynamic program's table is
taken from the workspace, which asks for their number (room()).
"""

from libc.stdint cimport int32_t
from libc.string cimport memcmp, memcpy

from cython_ext.losses.loss cimport TaskLoss
from cython_ext.structures.choice cimport Choice
from cython_ext.structures.structure cimport RankedStructure, Structure
from cython_ext.structures.workspace cimport Workspace


cdef class Strata:
    def room(self):
        """(strata, doubles of a table): what a Workspace has to have for find() and decode()."""
        return self.most, self.table_size

    cdef Py_ssize_t find(self, Py_ssize_t i, const double *theta, Workspace work) noexcept nogil:
        """Writes the losses to work.deltas and the highest score of an output of each to work.values, -inf for one that
        no output has; how many."""
        return 0

    cdef void decode(self, Py_ssize_t i, Py_ssize_t r, const double *theta, Workspace work,
                     int32_t *code) noexcept nogil:
        """The output of stratum r, right after find()."""


cdef class ChoiceStrata(Strata):
    """One of several alternatives: each is a stratum."""

    cdef Choice choices
    cdef TaskLoss loss

    def __init__(self, Choice structure not None, TaskLoss loss not None):
        self.structure = self.choices = structure
        self.loss = loss
        self.most = structure.most

    cdef Py_ssize_t find(self, Py_ssize_t i, const double *theta, Workspace work) noexcept nogil:
        cdef int32_t k, count = <int32_t> self.choices.count(i)
        for k in range(count):
            work.deltas[k], work.values[k] = self.loss.value(i, &k), theta[k]
        return count

    cdef void decode(self, Py_ssize_t i, Py_ssize_t r, const double *theta, Workspace work,
                     int32_t *code) noexcept nogil:
        code[0] = <int32_t> r


cdef class ZeroOneStrata(Strata):
    """Zero-one loss on any structure with the topk oracle: the gold output, and the best of the others."""

    def __init__(self, Structure structure not None):
        self.structure = structure
        self.most = 2

    cdef Py_ssize_t find(self, Py_ssize_t i, const double *theta, Workspace work) noexcept nogil:
        cdef double[2] values
        cdef Py_ssize_t c, r, length = self.structure.code_length(i)
        cdef const int32_t *gold = self.structure.gold(i)
        cdef Py_ssize_t count = self.structure.parts(i, gold, work.ids, work.counts)
        work.deltas[0] = work.values[0] = 0.0
        for c in range(count):
            work.values[0] += theta[work.ids[c]] * work.counts[c]
        count = (<RankedStructure> self.structure).topk(i, theta, 2, work.scratch, values, work.codes)
        for r in range(count):
            if memcmp(work.codes + r * length, gold, length * sizeof(int32_t)):
                work.deltas[1], work.values[1] = 1.0, values[r]
                memcpy(work.codes, work.codes + r * length, length * sizeof(int32_t))
                return 2
        return 1

    cdef void decode(self, Py_ssize_t i, Py_ssize_t r, const double *theta, Workspace work,
                     int32_t *code) noexcept nogil:
        memcpy(code, self.structure.gold(i) if r == 0 else work.codes, self.structure.code_length(i) * sizeof(int32_t))
