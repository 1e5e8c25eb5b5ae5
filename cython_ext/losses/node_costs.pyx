"""Hamming loss of graphs: how many nodes have a wrong state. It is a cost of the nodes' own factors."""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from cython_ext.losses.loss cimport DecomposableLoss
from cython_ext.structures.factor_blocks cimport FactorBlocks
from cython_ext.structures.factor_graphs cimport FactorGraphs
from cython_ext.structures.structure cimport Structure


cdef class NodeCosts(DecomposableLoss):
    """structure: one whose outputs are states of nodes, and whose parts are the joint states of the factors of graphs."""

    cdef FactorGraphs graphs

    def __init__(self, Structure structure not None):
        self.structure, self.graphs = structure, structure.graphs

    cdef double value(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        cdef const int32_t *right = self.structure.gold(i)
        cdef Py_ssize_t v
        cdef double total = 0.0
        for v in range(self.structure.code_of(i)):
            total += code[v] != right[v]
        return total

    cdef void add_costs(self, Py_ssize_t i, double scale, double *theta) noexcept nogil:
        cdef const int32_t *right = self.graphs.labels + self.graphs.label_begin[i]
        cdef int64_t f = self.graphs.factor_begin[self.graphs.shape_of[i]]
        cdef Py_ssize_t v, a
        for v in range(self.graphs.nodes[self.graphs.shape_of[i]]):
            for a in range(self.graphs.size[self.graphs.type_of[f + v]]):
                if a != right[v]:
                    theta[self.graphs.part[f + v] + a] += scale

    cdef double expected(self, Py_ssize_t i, const double *mean) noexcept nogil:
        cdef const int32_t *right = self.graphs.labels + self.graphs.label_begin[i]
        cdef int64_t f = self.graphs.factor_begin[self.graphs.shape_of[i]]
        cdef Py_ssize_t v, a
        cdef double total = 0.0
        for v in range(self.graphs.nodes[self.graphs.shape_of[i]]):
            for a in range(self.graphs.size[self.graphs.type_of[f + v]]):
                if a != right[v]:
                    total += mean[self.graphs.part[f + v] + a]
        return total


cdef class RelaxedCosts(NodeCosts):
    """The same where an output is a point of the local marginal polytope: how much of each node is in wrong states."""

    cdef double value(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        cdef const int32_t *right = self.graphs.labels + self.graphs.label_begin[i]
        cdef int64_t f = self.graphs.factor_begin[self.graphs.shape_of[i]]
        cdef Py_ssize_t v, a
        cdef double total = 0.0, share
        for v in range(self.graphs.nodes[self.graphs.shape_of[i]]):
            for a in range(self.graphs.size[self.graphs.type_of[f + v]]):
                if a != right[v]:
                    memcpy(&share, code + (self.graphs.part[f + v] + a) * (sizeof(double) // sizeof(int32_t)), sizeof(double))
                    total += share
        return total


cdef class BlockCosts(DecomposableLoss):
    """The same where every factor is an example of its own (FactorBlocks): a node's wrong states cost `times`, as many
    as there are factors for a graph on average; factors of several nodes cost nothing. Multipliers are a cost of all
    factors, which may be below 0; their sum over the right states of a graph's factors is 0."""

    cdef FactorBlocks blocks
    cdef const double *multipliers
    cdef object memory

    def __init__(self, FactorBlocks structure not None):
        self.structure = self.blocks = structure
        cdef const double[::1] multipliers
        if structure.multipliers is not None:
            self.memory = multipliers = structure.multipliers
            self.multipliers = &multipliers[0]

    cdef double pull(self, Py_ssize_t b, Py_ssize_t joint) noexcept nogil:
        """What a joint state meets of the multipliers."""
        if self.multipliers == NULL:
            return 0.0
        return self.blocks.agreements.score(self.blocks.example[b], self.blocks.factor_of(b), joint, self.multipliers)

    cdef double value(self, Py_ssize_t b, const int32_t *code) noexcept nogil:
        cdef Py_ssize_t right = self.blocks.right_data[b]
        if code[0] == right:
            return 0.0
        return self.blocks.times * (self.blocks.is_node(b) - self.pull(b, right) + self.pull(b, code[0]))

    cdef void add_costs(self, Py_ssize_t b, double scale, double *theta) noexcept nogil:
        cdef Py_ssize_t a, right = self.blocks.right_data[b]
        cdef double wrong
        if self.multipliers != NULL or self.blocks.is_node(b):
            wrong = self.blocks.is_node(b) - self.pull(b, right)
            for a in range(self.blocks.count(b)):
                if a != right:
                    theta[a] += scale * self.blocks.times * (wrong + self.pull(b, a))

    cdef double expected(self, Py_ssize_t b, const double *mean) noexcept nogil:
        cdef Py_ssize_t a, right = self.blocks.right_data[b]
        cdef double total = 0.0, wrong
        if self.multipliers != NULL or self.blocks.is_node(b):
            wrong = self.blocks.is_node(b) - self.pull(b, right)
            for a in range(self.blocks.count(b)):
                if a != right:
                    total += mean[a] * self.blocks.times * (wrong + self.pull(b, a))
        return total
