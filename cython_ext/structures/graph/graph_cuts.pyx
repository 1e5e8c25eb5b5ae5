"""Labelings of graphs of any size with binary nodes, in pairs at most, by cuts (kernels/graph/cut.h).

Where the scores of every pair are supermodular (being the same scores no less, taken over both, than being different)
the max oracle is a minimum cut. Otherwise it is found by branching, which takes a budget: where that is not enough, the
oracle's answer need not be the best, and check() raises from then on.
"""

from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free

from cython_ext.common.errors import InexactError
from cython_ext.kernels.graph cimport cut as kernel
from cython_ext.structures.graph.cut_layout import terms_and_arcs
from cython_ext.structures.graph.factor_graphs cimport FactorGraphs
from cython_ext.structures.graph.labelings cimport GraphLabelings


cdef class GraphCuts(GraphLabelings):
    """graphs: a FactorGraphs, cut_layout.are_binary of its layout."""

    oracles = ('max', 'topk')               # cuts have no sums

    cdef kernel.CutGraph *cuts              # by shape
    cdef bint failed

    def __init__(self, FactorGraphs graphs not None):
        layout = graphs.layout
        super().__init__(graphs)
        self.cuts = <kernel.CutGraph *> calloc(len(layout.shapes) + 1, sizeof(kernel.CutGraph))
        if self.cuts == NULL:
            raise MemoryError
        for s, shape in enumerate(layout.shapes):
            self.write_graph(s, shape.nodes, terms_and_arcs(layout.types, shape))
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
                'different states than for the same (use --relaxation soft, or to predict --inference '
                'dual-decomposition)'
            )

    cdef double max(self, Py_ssize_t i, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        cdef int exact = not self.failed    # a run that is to end anyway does not wait for more of the same
        cdef double value = kernel.cut_max(self.cuts + self.graphs.shape_of[i], theta, scratch, code, &exact, self.stop)
        if not exact and not self.stopped():
            self.failed = True              # threads write nothing else
        return value
