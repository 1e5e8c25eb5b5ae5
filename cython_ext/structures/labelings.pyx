"""Labelings of factor graphs, and nothing of how the best one is found: what structures of them share.

Parts are the joint states of all factors, those of the nodes first; a code is the state of every node.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from cython_ext.structures.factor_graphs cimport FactorGraphs
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


cdef class Labelings(SummedStructure):
    """graphs: a FactorGraphs. Which oracles there are is for subclasses to say."""

    def __init__(self, FactorGraphs graphs not None):
        layout = graphs.layout
        self.graphs, self.choices, self.n = graphs, NodeStates(graphs), graphs.n
        for s, shape in enumerate(layout.shapes):
            self.max_size = max(self.max_size, graphs.parts[s])
            self.max_code = max(self.max_code, shape.nodes)
            self.max_parts = max(self.max_parts, len(shape.types))

    cdef Py_ssize_t size_of(self, Py_ssize_t i) noexcept nogil:
        return self.graphs.parts[self.graphs.shape_of[i]]

    cdef Py_ssize_t code_of(self, Py_ssize_t i) noexcept nogil:
        return self.graphs.nodes[self.graphs.shape_of[i]]

    cdef const int32_t *gold(self, Py_ssize_t i) noexcept nogil:
        return self.graphs.labels + self.graphs.label_begin[i]

    cdef Py_ssize_t parts(self, Py_ssize_t i, const int32_t *code, int32_t *ids, double *counts) noexcept nogil:
        cdef Py_ssize_t s = self.graphs.shape_of[i], count = 0
        cdef int64_t f
        for f in range(self.graphs.factor_begin[s], self.graphs.factor_begin[s + 1]):
            ids[count] = <int32_t> (self.graphs.part[f] + self.graphs.joint_state(f, code))
            counts[count] = 1.0
            count += 1
        return count

    cdef bint valid(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        cdef Py_ssize_t v
        for v in range(self.code_of(i)):
            if not 0 <= code[v] < self.choices.values(i, v):
                return False
        return True

    def labelings(self, codes, indptr):
        """The state of every node, int32, of all examples; as of LocalPolytope."""
        return codes

    cdef void centre(self, Py_ssize_t i, double *theta) noexcept nogil:
        """Every output has one joint state of each factor."""
        cdef Py_ssize_t s = self.graphs.shape_of[i], a
        cdef int64_t f
        cdef double top
        cdef double *scores
        for f in range(self.graphs.factor_begin[s], self.graphs.factor_begin[s + 1]):
            scores, top = theta + self.graphs.part[f], -INFINITY
            for a in range(self.graphs.size[self.graphs.type_of[f]]):
                top = max(top, scores[a])
            if top > -INFINITY:
                for a in range(self.graphs.size[self.graphs.type_of[f]]):
                    scores[a] -= top
