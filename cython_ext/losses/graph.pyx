"""Hamming loss of graphs: how many nodes have a wrong state. It is a cost of the nodes' own factors."""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from cython_ext.losses.loss cimport DecomposableLoss
from cython_ext.losses.position_costs cimport PositionCosts
from cython_ext.losses.position_costs import hamming
from cython_ext.relaxations.factor_blocks cimport FactorBlocks
from cython_ext.structures.graph.factor_graphs cimport FactorGraphs
from cython_ext.structures.graph.labels_apart cimport LabelsApart
from cython_ext.structures.structure cimport Structure


cdef class NodeCosts(DecomposableLoss):
    """structure: one whose outputs are states of nodes, and whose parts are the joint states of the factors of
    graphs."""

    cdef FactorGraphs graphs

    def __init__(self, Structure structure not None):
        self.structure, self.graphs = structure, structure.graphs

    @classmethod
    def on(cls, structure):
        """The one for labelings of graphs, or for what a relaxation, or labels without pairs, have made of them."""
        from cython_ext.relaxations.local_polytope import LocalPolytope

        if isinstance(structure, LabelsApart):
            return CostsApart(structure)
        if isinstance(structure, FactorBlocks):
            return BlockCosts(structure)
        return RelaxedCosts(structure) if isinstance(structure, LocalPolytope) else NodeCosts(structure)

    cdef double value(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        cdef const int32_t *gold = self.structure.gold(i)
        cdef Py_ssize_t v
        cdef double total = 0.0
        for v in range(self.structure.code_length(i)):
            total += code[v] != gold[v]
        return total

    cdef void add_costs(self, Py_ssize_t i, double scale, double *theta) noexcept nogil:
        cdef const int32_t *gold = self.graphs.labels + self.graphs.label_begin[i]
        cdef int64_t f = self.graphs.factor_begin[self.graphs.shape_of[i]]
        cdef Py_ssize_t v, a
        for v in range(self.graphs.nodes[self.graphs.shape_of[i]]):
            for a in range(self.graphs.size[self.graphs.type_of[f + v]]):
                if a != gold[v]:
                    theta[self.graphs.part[f + v] + a] += scale

    cdef double expected(self, Py_ssize_t i, const double *mean) noexcept nogil:
        cdef const int32_t *gold = self.graphs.labels + self.graphs.label_begin[i]
        cdef int64_t f = self.graphs.factor_begin[self.graphs.shape_of[i]]
        cdef Py_ssize_t v, a
        cdef double total = 0.0
        for v in range(self.graphs.nodes[self.graphs.shape_of[i]]):
            for a in range(self.graphs.size[self.graphs.type_of[f + v]]):
                if a != gold[v]:
                    total += mean[self.graphs.part[f + v] + a]
        return total


cdef class RelaxedCosts(NodeCosts):
    """The same where an output is a point of the local marginal polytope: how much of each node is in wrong states."""

    cdef double value(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        cdef const int32_t *gold = self.graphs.labels + self.graphs.label_begin[i]
        cdef int64_t f = self.graphs.factor_begin[self.graphs.shape_of[i]]
        cdef Py_ssize_t v, a
        cdef double total = 0.0, share
        for v in range(self.graphs.nodes[self.graphs.shape_of[i]]):
            for a in range(self.graphs.size[self.graphs.type_of[f + v]]):
                if a != gold[v]:
                    memcpy(&share, code + (self.graphs.part[f + v] + a) * (sizeof(double) // sizeof(int32_t)),
                           sizeof(double))
                    total += share
        return total


cdef class CostsApart(PositionCosts):
    """The same where every label of a set is an example of its own: a wrong one costs as much as there are labels."""

    def __init__(self, LabelsApart structure not None):
        PositionCosts.__init__(self, structure, structure.times * hamming(2))


cdef class BlockCosts(DecomposableLoss):
    """The same where every factor is an example of its own (FactorBlocks): a node's wrong states cost `times`, as many
    as there are factors for a graph on average; factors of several nodes cost nothing. Multipliers are a cost of all
    factors, which may be below 0; their sum over the gold states of a graph's factors is 0."""

    cdef FactorBlocks blocks
    cdef const double *multipliers
    cdef object memory

    def __init__(self, FactorBlocks structure not None):
        self.structure = self.blocks = structure
        cdef const double[::1] multipliers
        if structure.multipliers is not None:
            self.memory = multipliers = structure.multipliers
            self.multipliers = &multipliers[0]

    cdef double pull(self, Py_ssize_t b, const int32_t *code) noexcept nogil:
        """What an output meets of the multipliers."""
        cdef Py_ssize_t v
        cdef double total = 0.0
        cdef const double *own
        if self.multipliers == NULL:
            return 0.0
        if self.blocks.inner(b) < 0:
            return self.blocks.agreements.score(self.blocks.example[b], self.blocks.factor_of(b), code[0],
                                                self.multipliers)
        own = self.multipliers + self.blocks.agreements.run(self.blocks.example[b], self.blocks.factor_of(b))
        for v in range(self.blocks.code_length(b)):
            total -= own[self.blocks.node_part(b, v) + code[v]]
        return total

    cdef double cost(self, Py_ssize_t b, int32_t joint, double gold) noexcept nogil:
        """Of a joint state of a factor; gold: the pull of the gold one."""
        if joint == self.blocks.gold_data[b]:
            return 0.0
        return self.blocks.times * (self.blocks.is_node(b) - gold + self.pull(b, &joint))

    cdef double value(self, Py_ssize_t b, const int32_t *code) noexcept nogil:
        cdef double gold = self.pull(b, self.blocks.gold(b))
        if self.blocks.inner(b) < 0:
            return self.cost(b, code[0], gold)
        return self.blocks.times * (self.pull(b, code) - gold)

    cdef void add_costs(self, Py_ssize_t b, double scale, double *theta) noexcept nogil:
        cdef double gold
        cdef int32_t a
        if self.blocks.inner(b) >= 0:
            self.add_whole(b, scale, NULL, theta)
        elif self.multipliers != NULL or self.blocks.is_node(b):
            gold = self.pull(b, self.blocks.gold(b))
            for a in range(self.blocks.count(b)):
                theta[a] += scale * self.cost(b, a, gold)

    cdef double expected(self, Py_ssize_t b, const double *mean) noexcept nogil:
        cdef int32_t a
        cdef double total = 0.0, gold
        if self.blocks.inner(b) >= 0:
            return self.add_whole(b, 1.0, mean, NULL)
        if self.multipliers != NULL or self.blocks.is_node(b):
            gold = self.pull(b, self.blocks.gold(b))
            for a in range(self.blocks.count(b)):
                total += mean[a] * self.cost(b, a, gold)
        return total

    cdef double add_whole(self, Py_ssize_t b, double scale, const double *mean, double *theta) noexcept nogil:
        """The costs of a global factor's node states, which are 0 for the gold ones: added to theta, or those that
        mean expects."""
        cdef Py_ssize_t v, p
        cdef double total = 0.0, gold
        cdef const double *own
        if self.multipliers == NULL:
            return 0.0
        own = self.multipliers + self.blocks.agreements.run(self.blocks.example[b], self.blocks.factor_of(b))
        for v in range(self.blocks.code_length(b)):
            gold = own[self.blocks.node_part(b, v) + self.blocks.gold(b)[v]]
            for p in range(self.blocks.node_part(b, v), self.blocks.node_part(b, v + 1)):
                if theta != NULL:
                    theta[p] += scale * self.blocks.times * (gold - own[p])
                else:
                    total += mean[p] * self.blocks.times * (gold - own[p])
        return total
