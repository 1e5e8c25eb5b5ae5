"""Strata of second-order chains, number of wrong positions: V[t, e, q, r] is the best score of a prefix that ends in
labels q and r at t with e errors. Sequences of less than three positions are first-order ones."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from cython_ext.kernels.labels cimport chain2 as kernel
from cython_ext.kernels.vectors cimport vector
from cython_ext.losses.strata cimport HammingStrata
from cython_ext.structures.labels.chain2 cimport SecondOrderChain
from cython_ext.structures.workspace cimport Workspace


cdef class SecondOrderHammingStrata(HammingStrata):
    def __init__(self, SecondOrderChain structure not None):
        self.triplets, self.plane = structure, structure.plane
        HammingStrata.__init__(self, structure, self.plane)

    cdef Py_ssize_t find(self, Py_ssize_t i, const double *theta, Workspace work) noexcept nogil:
        cdef Py_ssize_t T = self.chain.length(i), S = self.stride, K = self.n_labels
        cdef Py_ssize_t e, q
        cdef double *last = work.table + (T - 2) * (T + 1) * self.plane
        if T < 3:
            return HammingStrata.find(self, i, theta, work)
        kernel.viterbi_by_errors(T, K, S, theta, theta + T * S, self.chain.step(), self.triplets.triples(T, theta),
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
