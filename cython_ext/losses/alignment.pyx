"""Zero-one loss over candidates: 1 for every output with another candidate than the gold one, whatever else it says
(Tsochantaridis et al. 2005, section 4.4.1). It is a cost of the parts that stand for candidates."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from cython_ext.losses.loss cimport DecomposableLoss
from cython_ext.losses.strata cimport Strata
from cython_ext.structures.alignment.alignment cimport Alignment
from cython_ext.structures.workspace cimport Workspace


cdef class CandidateLoss(DecomposableLoss):
    unstratified = None

    cdef Alignment outputs

    def __init__(self, Alignment structure not None):
        self.structure = self.outputs = structure

    def make_strata(self):
        return CandidateStrata(self.structure)

    cdef double value(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        return 1.0 if code[0] != self.outputs.gold_candidates[i] else 0.0

    cdef void add_costs(self, Py_ssize_t i, double scale, double *theta) noexcept nogil:
        cdef Py_ssize_t c
        for c in range(self.outputs.candidates(i)):
            if c != self.outputs.gold_candidates[i]:
                theta[self.outputs.first_candidate_part() + c] += scale

    cdef double expected(self, Py_ssize_t i, const double *mean) noexcept nogil:
        cdef Py_ssize_t c
        cdef double total = 0.0
        for c in range(self.outputs.candidates(i)):
            if c != self.outputs.gold_candidates[i]:
                total += mean[self.outputs.first_candidate_part() + c]
        return total


cdef class CandidateStrata(Strata):
    """The gold output, and the best one with another candidate."""

    cdef Alignment outputs

    def __init__(self, Alignment structure not None):
        self.structure = self.outputs = structure
        self.most = 2

    cdef Py_ssize_t find(self, Py_ssize_t i, const double *theta, Workspace work) noexcept nogil:
        work.deltas[0], work.values[0] = 0.0, self.outputs.gold_score(i, theta)
        work.deltas[1] = 1.0
        work.values[1] = self.outputs.best_of(i, theta, self.outputs.gold_candidates[i], work.scratch, work.codes)
        return 2 if work.values[1] > -INFINITY else 1

    cdef void decode(self, Py_ssize_t i, Py_ssize_t r, const double *theta, Workspace work,
                     int32_t *code) noexcept nogil:
        memcpy(code, self.structure.gold(i) if r == 0 else work.codes, self.structure.code_length(i) * sizeof(int32_t))
