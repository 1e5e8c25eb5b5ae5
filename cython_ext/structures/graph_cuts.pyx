"""Labelings of graphs of any size with binary nodes, in pairs at most, by cuts (kernels/cut.h).

Where the scores of every pair are supermodular (being the same scores no less, taken over both, than being different)
the max oracle is a minimum cut. Otherwise it is found by branching, which takes a budget: where that is not enough, the
oracle's answer need not be the best, and check() raises from then on.
"""

import numpy as np

from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free

from cython_ext.errors import InexactError
from cython_ext.kernels cimport cut as kernel
from cython_ext.structures cimport partition
from cython_ext.structures.cut_layout import terms_and_arcs
from cython_ext.structures.factor_graphs cimport FactorGraphs
from cython_ext.structures.graph cimport NodeStates
from cython_ext.structures.structure cimport RankedStructure


cdef class GraphCuts(RankedStructure):
    """graphs: a FactorGraphs, cut_layout.are_binary of its layout. Parts and codes are those of Graph."""

    cdef readonly FactorGraphs graphs
    cdef NodeStates choices
    cdef kernel.CutGraph *cuts              # by shape
    cdef Py_ssize_t work
    cdef bint failed
    cdef object memory

    def __init__(self, FactorGraphs graphs not None):
        layout = graphs.layout
        self.graphs, self.choices, self.n, self.memory = graphs, NodeStates(graphs), graphs.n, []
        self.cuts = <kernel.CutGraph *> calloc(len(layout.shapes) + 1, sizeof(kernel.CutGraph))
        if self.cuts == NULL:
            raise MemoryError
        for s, shape in enumerate(layout.shapes):
            self.write_graph(s, shape.nodes, terms_and_arcs(layout.types, shape))
            self.max_size = max(self.max_size, graphs.parts[s])
            self.max_code = max(self.max_code, shape.nodes)
            self.max_parts = max(self.max_parts, len(shape.types))
            self.work = max(self.work, kernel.cut_size(self.cuts[s].nodes, self.cuts[s].pairs))

    def __dealloc__(self):
        free(self.cuts)

    cdef void write_graph(self, Py_ssize_t s, int32_t nodes, tuple arrays) except *:
        """What cut_layout.py says of a shape as kernels read it."""
        cdef kernel.CutGraph *cut = self.cuts + s
        cdef const int32_t[::1] begin = arrays[1], other = arrays[2], pair = arrays[3], back = arrays[4]
        terms = arrays[0]
        self.memory.append((terms, begin, other, pair, back))
        cut.nodes, cut.pairs, cut.terms = nodes, <int32_t> (len(other) // 2), <int32_t> len(terms)
        cut.term = <const kernel.Term *> <size_t> terms.ctypes.data
        cut.begin, cut.other, cut.pair, cut.back = &begin[0], &other[0], &pair[0], &back[0]

    def check(self):
        if self.failed:
            raise InexactError(
                'the labelings of these weights cannot be found by graph cuts: too many pairs of nodes score more for '
                'different states than for the same (use --relaxation soft, or to predict --inference dual-decomposition)'
            )

    # ------------------------------------------------------------------------------------------------- outputs

    cdef Py_ssize_t size_of(self, Py_ssize_t i) noexcept nogil:
        return self.graphs.parts[self.graphs.shape_of[i]]

    cdef Py_ssize_t code_of(self, Py_ssize_t i) noexcept nogil:
        return self.graphs.nodes[self.graphs.shape_of[i]]

    cdef const int32_t *gold(self, Py_ssize_t i) noexcept nogil:
        return self.graphs.labels + self.graphs.label_begin[i]

    cdef Py_ssize_t parts(self, Py_ssize_t i, const int32_t *code, int32_t *ids, double *counts) noexcept nogil:
        return self.graphs.parts_of(i, code, ids, counts)

    cdef bint valid(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        return self.choices.valid(i, code)

    def labelings(self, codes, indptr):
        """The state of every node, int32, of all examples; as of LocalPolytope."""
        return codes

    # ------------------------------------------------------------------------------------------------- oracles

    cdef Py_ssize_t scratch_size(self, Py_ssize_t k) noexcept nogil:
        return self.work + partition.scratch_size(self, k)

    cdef double max(self, Py_ssize_t i, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        cdef int exact = not self.failed    # a run that is to end anyway does not wait for more of the same
        cdef double value = kernel.cut_max(self.cuts + self.graphs.shape_of[i], theta, scratch, code, &exact, self.stop)
        if not exact and not self.stopped():
            self.failed = True              # threads write nothing else
        return value

    cdef Py_ssize_t topk(self, Py_ssize_t i, const double *theta, Py_ssize_t k, double *scratch, double *values,
                         int32_t *codes) noexcept nogil:
        return partition.topk(self, self.choices, i, theta, k, scratch, values, codes)
