"""Zero-one loss: Delta = 1 for every wrong output. It does not decompose over parts; the best of two outputs is
enough for the max oracle (papers: Tsochantaridis et al., section 2.2.1), and for sums the gold output is taken
out of the structure's own sum."""

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t
from libc.string cimport memcmp, memcpy

from cython_ext.losses.loss cimport TaskLoss
from cython_ext.losses.strata import ZeroOneStrata
from cython_ext.structures.structure cimport RankedStructure, Structure, SummedStructure
from cython_ext.structures.workspace cimport Workspace


cdef class ZeroOne(TaskLoss):
    """structure: any one with the topk oracle (for the max) and the exp oracle (for the sum), not that of a
    relaxation."""

    unstratified = None

    def __init__(self, Structure structure not None):
        if not structure.exact:
            raise ValueError('a relaxation takes a loss that is a sum over nodes (--task-loss hamming)')
        self.structure = structure

    def make_strata(self):
        return ZeroOneStrata(self.structure)

    cdef double value(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        return 1.0 if memcmp(code, self.structure.gold(i), self.structure.code_length(i) * sizeof(int32_t)) else 0.0

    cdef double max(self, Py_ssize_t i, double *theta, Workspace work, int32_t *code, double *delta) noexcept nogil:
        cdef double[2] values
        cdef Py_ssize_t length = self.structure.code_length(i), r, best = 0
        cdef Py_ssize_t count = (<RankedStructure> self.structure).topk(i, theta, 2, work.scratch, values, work.codes)
        for r in range(count):
            values[r] += self.value(i, work.codes + r * length)
            if values[r] > values[best]:
                best = r
        memcpy(code, work.codes + best * length, length * sizeof(int32_t))
        delta[0] = self.value(i, code)
        return values[best]

    cdef double log_partition(self, Py_ssize_t i, double *theta, Workspace work, double *mean) noexcept nogil:
        """With z = log sum_y exp<theta, s(y)> and p the probability of y_i under it, the sum that gives every other
        output a factor e is exp(z) (p + e (1 - p))."""
        cdef double z = (<SummedStructure> self.structure).log_partition(i, theta, work.scratch, mean)
        cdef double gold = 0.0, p, total, keep
        cdef Py_ssize_t c, count = self.structure.parts(i, self.structure.gold(i), work.gold_ids, work.gold_counts)
        if z == -INFINITY:
            return z
        for c in range(count):
            gold += theta[work.gold_ids[c]] * work.gold_counts[c]
        p = exp(min(gold - z, 0.0))
        total = p + exp(1.0) * (1.0 - p)
        keep = exp(1.0) / total                       # mean = keep * mean + (1 - keep) * s(y_i), taken apart
        for c in range(self.structure.num_parts(i)):
            mean[c] *= keep
        for c in range(count):
            mean[work.gold_ids[c]] += (1.0 - keep) * work.gold_counts[c]
        return z + log(total)
