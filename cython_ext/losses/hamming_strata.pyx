"""Strata of chains, the number of wrong positions: Viterbi recursions with the errors so far as one more state."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from cython_ext.kernels.labels cimport chain, chain2
from cython_ext.kernels.vectors cimport vector
from cython_ext.losses.strata cimport Strata
from cython_ext.structures.labels.chain cimport Chain
from cython_ext.structures.labels.chain2 cimport SecondOrderChain
from cython_ext.structures.workspace cimport Workspace

TABLE_LIMIT = 1 << 31       # bytes of a thread's table


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
        chain.viterbi_by_errors(T, K, S, theta, theta + T * S, self.chain.step(), self.structure.gold(i), v)
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


cdef class SecondOrderHammingStrata(HammingStrata):
    """Of second-order chains: V[t, e, q, r] is the best score of a prefix that ends in labels q and r at t with e
    errors. Sequences of less than three positions are first-order ones."""

    def __init__(self, SecondOrderChain structure not None):
        self.triplets, self.plane = structure, structure.plane
        HammingStrata.__init__(self, structure, self.plane)

    cdef Py_ssize_t find(self, Py_ssize_t i, const double *theta, Workspace work) noexcept nogil:
        cdef Py_ssize_t T = self.chain.length(i), S = self.stride, K = self.n_labels
        cdef Py_ssize_t e, q
        cdef double *last = work.table + (T - 2) * (T + 1) * self.plane
        if T < 3:
            return HammingStrata.find(self, i, theta, work)
        chain2.viterbi_by_errors(T, K, S, theta, theta + T * S, self.chain.step(), self.triplets.triples(T, theta),
                                 self.structure.gold(i), work.table)
        for e in range(T + 1):
            work.deltas[e] = <double> e
            work.values[e] = -INFINITY
            for q in range(K):
                work.values[e] = max(work.values[e], vector.maximum(K, last + e * self.plane + q * S))
        while T > 0 and work.values[T] == -INFINITY:          # with one label there are no errors
            T -= 1
        return T + 1

    cdef void decode(self, Py_ssize_t i, Py_ssize_t r, const double *theta, Workspace work,
                     int32_t *code) noexcept nogil:
        cdef Py_ssize_t T = self.chain.length(i), S = self.stride, K = self.n_labels
        cdef Py_ssize_t P = self.plane, group = (T + 1) * self.plane, t, p, best, q = 0, k = 0, errors = r
        cdef const int32_t *gold = self.structure.gold(i)
        cdef const double *c
        cdef const double *v = work.table + (T - 2) * group + errors * P
        if T < 3:
            HammingStrata.decode(self, i, r, theta, work, code)
            return
        c = self.triplets.triples(T, theta)
        for p in range(K):
            for best in range(K):
                if v[p * S + best] > v[q * S + k]:
                    q, k = p, best
        code[T - 1], code[T - 2] = <int32_t> k, <int32_t> q
        for t in range(T - 1, 1, -1):
            errors -= k != gold[t]
            v = work.table + (t - 2) * group + errors * P + q
            best = 0
            for p in range(1, K):
                if v[p * S] + c[q * P + p * S + k] > v[best * S] + c[q * P + best * S + k]:
                    best = p
            code[t - 2] = <int32_t> best
            q, k = best, q
