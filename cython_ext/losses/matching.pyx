"""The number of wrong links of a matching: gold ones that are missing, and others that are there, where a possible
link is no error. A link in place of the gold one of its row counts twice, once for each; a possible one counts once
then."""

from libc.stdint cimport int32_t, int64_t

from cython_ext.kernels.vectors cimport vector
from cython_ext.losses.loss cimport DecomposableLoss
from cython_ext.structures.matching.matching cimport Matching


cdef class WrongLinks(DecomposableLoss):
    """structure: a Matching, whose layout has the cost of each part."""

    cdef Matching outputs
    cdef object arrays
    cdef const double *costs
    cdef const int64_t *indptr

    def __init__(self, Matching structure not None):
        cdef const double[::1] costs = structure.layout.costs
        cdef const int64_t[::1] indptr = structure.part_indptr()
        self.structure = self.outputs = structure
        self.arrays, self.costs, self.indptr = (costs, indptr), &costs[0], &indptr[0]

    cdef double value(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        cdef Py_ssize_t r
        cdef double total = 0.0
        for r in range(self.outputs.code_length(i)):
            total += self.costs[self.indptr[i] + self.outputs.part_of(i, r, code[r])]
        return total

    cdef void add_costs(self, Py_ssize_t i, double scale, double *theta) noexcept nogil:
        vector.axpy(self.outputs.num_parts(i), scale, self.costs + self.indptr[i], theta)

    cdef double expected(self, Py_ssize_t i, const double *mean) noexcept nogil:
        return vector.dot(self.outputs.num_parts(i), self.costs + self.indptr[i], mean)
