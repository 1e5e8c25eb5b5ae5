"""Labelings of factor graphs: what outputs are, and the K best of them by partition (partition.pyx); the best one is
for subclasses to find, each in its way.

Parts are the joint states of all factors, those of the nodes first; a code is the state of every node.
"""

from libc.stdint cimport int32_t

from cython_ext.structures cimport partition
from cython_ext.structures.graph.factor_graphs cimport FactorGraphs
from cython_ext.structures.partition cimport Choices
from cython_ext.structures.structure cimport SummedStructure


cdef class NodeStates(Choices):
    """The state of each node; it is a part of the node's own factor."""

    def __init__(self, FactorGraphs graphs not None):
        self.graphs = graphs

    cdef Py_ssize_t positions(self, Py_ssize_t i) noexcept nogil:
        return self.graphs.nodes[self.graphs.shape_of[i]]

    cdef Py_ssize_t values(self, Py_ssize_t i, Py_ssize_t p) noexcept nogil:
        return self.graphs.size[self.graphs.type_of[self.graphs.factor_begin[self.graphs.shape_of[i]] + p]]

    cdef Py_ssize_t part(self, Py_ssize_t i, Py_ssize_t p, Py_ssize_t v) noexcept nogil:
        return self.graphs.part[self.graphs.factor_begin[self.graphs.shape_of[i]] + p] + v

    cdef bint valid(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        """Whether a code has a state for each node."""
        cdef Py_ssize_t v
        for v in range(self.positions(i)):
            if not 0 <= code[v] < self.values(i, v):
                return False
        return True


cdef class GraphLabelings(SummedStructure):
    """graphs: a FactorGraphs."""

    def __init__(self, FactorGraphs graphs not None):
        self.graphs, self.choices, self.n, self.memory = graphs, NodeStates(graphs), graphs.n, []
        for s, shape in enumerate(graphs.layout.shapes):
            self.max_size = max(self.max_size, graphs.parts[s])
            self.max_code = max(self.max_code, shape.nodes)
            self.max_parts = max(self.max_parts, len(shape.types))

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        return self.graphs.parts[self.graphs.shape_of[i]]

    cdef Py_ssize_t _code_length(self, Py_ssize_t i) noexcept nogil:
        return self.graphs.nodes[self.graphs.shape_of[i]]

    cdef const int32_t *gold(self, Py_ssize_t i) noexcept nogil:
        return self.graphs.labels + self.graphs.label_begin[i]

    cdef Py_ssize_t _parts(self, Py_ssize_t i, const int32_t *code, int32_t *ids, double *counts) noexcept nogil:
        return self.graphs.parts_of(i, code, ids, counts)

    cdef bint valid(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        return self.choices.valid(i, code)

    def labelings(self, codes, indptr):
        """The state of every node, int32, of all examples; as of LocalPolytope."""
        return codes

    cdef Py_ssize_t scratch_size(self, Py_ssize_t k) noexcept nogil:
        return self.work + partition.scratch_size(self, k)

    cdef Py_ssize_t topk(self, Py_ssize_t i, const double *theta, Py_ssize_t k, double *scratch, double *values,
                         int32_t *codes) noexcept nogil:
        return partition.topk(self, self.choices, i, theta, k, scratch, values, codes)
