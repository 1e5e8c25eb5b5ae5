"""Attachment loss of dependency trees: the number of words with a wrong head, or with the wrong relation to it."""

from libc.stdint cimport int32_t

from cython_ext.losses.loss cimport DecomposableLoss
from cython_ext.structures.dependency.dependency cimport Dependency


cdef class Attachment(DecomposableLoss):
    """structure: a Dependency."""

    cdef Py_ssize_t n_labels, stride

    def __init__(self, Dependency structure not None):
        self.structure, self.n_labels, self.stride = structure, structure.n_labels, structure.stride

    cdef double value(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        cdef const int32_t *gold = self.structure.gold(i)
        cdef Py_ssize_t d, T = self.structure.code_length(i) // 2
        cdef double wrong = 0.0
        for d in range(T):
            wrong += code[d] != gold[d] or code[T + d] != gold[T + d]
        return wrong

    cdef void add_costs(self, Py_ssize_t i, double scale, double *theta) noexcept nogil:
        cdef const int32_t *gold = self.structure.gold(i)
        cdef Py_ssize_t d, h, r, T = self.structure.code_length(i) // 2, relation
        for d in range(T):
            for h in range(T + 1):
                relation = gold[T + d] if h == gold[d] else -1
                for r in range(self.n_labels):
                    theta[r] += 0.0 if r == relation else scale
                theta += self.stride

    cdef double expected(self, Py_ssize_t i, const double *mean) noexcept nogil:
        cdef const int32_t *gold = self.structure.gold(i)
        cdef Py_ssize_t d, h, r, T = self.structure.code_length(i) // 2, relation
        cdef double total = 0.0
        for d in range(T):
            for h in range(T + 1):
                relation = gold[T + d] if h == gold[d] else -1
                for r in range(self.n_labels):
                    total += 0.0 if r == relation else mean[r]
                mean += self.stride
        return total
