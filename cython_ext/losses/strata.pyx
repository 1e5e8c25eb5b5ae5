"""Strata: the best output for each value of the task loss, where there are few (Tsochantaridis et al. 2005, section
4.5.2 and appendix; the gold output is a stratum of its own).

Needed by losses in which Delta multiplies the score. Memory for the values and for a dynamic program's table is
taken from the workspace, which asks for their number (room()).
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcmp, memcpy

from cython_ext.kernels.labels cimport chain as kernel
from cython_ext.losses.loss cimport TaskLoss
from cython_ext.structures.labels.chain cimport Chain
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


cdef class HammingStrata(Strata):
    """Chains, number of wrong positions: the Viterbi recursion with the errors so far as a second state, V[t, e, k]
    the best score of a prefix that ends in label k at t with e errors. width: values of the table for each t and e."""

    def __init__(self, Chain structure not None, Py_ssize_t width=0):
        self.structure = self.chain = structure
        self.n_labels, self.stride = structure.n_labels, structure.stride
        longest = structure.longest
        size = (longest + 1) * longest * max(width, self.stride)
        if size * 8 > TABLE_LIMIT:
            raise ValueError(f'a sequence of {longest} tokens is too long for this loss (its table would take '
                             f'{size * 8 / 2**30:.1f} GB): use margin rescaling with slack norm 1')
        self.most, self.table_size = longest + 1, size

    cdef Py_ssize_t find(self, Py_ssize_t i, const double *theta, Workspace work) noexcept nogil:
        cdef Py_ssize_t T = self.chain.length(i), S = self.stride, K = self.n_labels
        cdef Py_ssize_t e, k, plane = (T + 1) * S
        cdef double *v = work.table
        if T == 0:
            work.deltas[0] = work.values[0] = 0.0
            return 1
        kernel.viterbi_by_errors(T, K, S, theta, theta + T * S, self.chain.step(), self.structure.gold(i), v)
        for e in range(T + 1):
            work.deltas[e] = <double> e
            work.values[e] = -INFINITY
            for k in range(K):
                work.values[e] = max(work.values[e], v[(T - 1) * plane + e * S + k])
        while T > 0 and work.values[T] == -INFINITY:          # with one label there are no errors
            T -= 1
        return T + 1

    cdef void decode(self, Py_ssize_t i, Py_ssize_t r, const double *theta, Workspace work,
                     int32_t *code) noexcept nogil:
        cdef Py_ssize_t T = self.chain.length(i), S = self.stride, K = self.n_labels
        cdef Py_ssize_t t, j, k, from_label, errors = r, plane = (T + 1) * S, step = self.chain.step()
        cdef const int32_t *gold = self.structure.gold(i)
        cdef const double *block
        cdef const double *before
        cdef double *v = work.table
        cdef double top
        if T == 0:
            return
        k = 0
        for j in range(1, K):
            if v[(T - 1) * plane + errors * S + j] > v[(T - 1) * plane + errors * S + k]:
                k = j
        for t in range(T - 1, -1, -1):
            code[t] = <int32_t> k
            errors -= k != gold[t]
            if t == 0:
                break
            block = theta + T * S + (t - 1) * step
            before = v + (t - 1) * plane + errors * S
            from_label, top = -1, -INFINITY
            for j in range(K):
                if before[j] + block[j * S + k] > top:
                    from_label, top = j, before[j] + block[j * S + k]
            k = from_label if from_label >= 0 else 0


TABLE_LIMIT = 1 << 31       # bytes of a thread's table
