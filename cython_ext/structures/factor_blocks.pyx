"""Every factor of every graph as an example of its own: the output is its joint state, and nothing makes factors that
share nodes agree but the features (features/soft.pyx). This is the output space of the soft-constraint problem (Meshi,
Srebro and Hazan 2015, section 4), whose dual has a simplex for each factor.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from cython_ext.errors import UnfitDataError
from cython_ext.structures.agreements cimport Agreements
from cython_ext.structures.choice cimport Choice
from cython_ext.structures.factor_graphs cimport FactorGraphs
from cython_ext.structures.structure import padded


cdef class FactorBlocks(Choice):
    """graphs: a FactorGraphs; multipliers: what delta is pulled to instead of 0, float64[agreements] (augmented
    Lagrangian), or None. Blocks are the factors of the first example, then those of the second, ...; the parts of a block
    are its joint states."""

    exact = False

    def __init__(self, FactorGraphs graphs not None, multipliers=None):
        counts = np.array([len(shape.types) for shape in graphs.layout.shapes], np.int64)[graphs.layout.shape_of]
        starts = np.cumsum(counts) - counts
        cdef int32_t[::1] example = padded(np.repeat(np.arange(graphs.n, dtype=np.int32), counts))
        cdef int32_t[::1] factor = padded((np.arange(counts.sum()) - np.repeat(starts, counts)).astype(np.int32))
        cdef int32_t[::1] right = np.zeros(len(example) - 1, np.int32)
        cdef Py_ssize_t b
        self.graphs, self.memory = graphs, (example, factor, right)
        self.example, self.factor = &example[0], &factor[0]
        self.agreements = Agreements(graphs)
        if multipliers is not None:
            if len(multipliers) != self.agreements.n:
                raise UnfitDataError(f'the model has {len(multipliers)} multipliers (expected {self.agreements.n}, one for each '
                                     'agreement of these graphs: those that it was trained on)')
            self.multipliers = np.append(np.asarray(multipliers, np.float64), 0.0)
        self._set(right, max([kind.size for kind in graphs.layout.types], default=0))
        self.times = <double> self.n / max(1, graphs.n)
        for b in range(self.n):
            right[b] = <int32_t> graphs.joint_state(self.factor_of(b), graphs.labels + graphs.label_begin[example[b]])

    def examples(self):
        """The example of each block, int32[n]."""
        return np.asarray(self.memory[0])[:self.n]

    def neighbours(self):
        """The blocks of a graph share its agreement variables and its features."""
        return np.searchsorted(self.examples(), np.arange(self.graphs.n + 1)).astype(np.int64)

    def by_example(self, values):
        """The mean over all blocks is that over the graphs."""
        out = np.zeros(self.graphs.n)
        np.add.at(out, self.examples(), values)
        return out * (<double> self.graphs.n / self.n)

    cdef int64_t factor_of(self, Py_ssize_t b) noexcept nogil:
        """The number of a block's factor in the tables."""
        return self.graphs.factor_begin[self.graphs.shape_of[self.example[b]]] + self.factor[b]

    cdef bint is_node(self, Py_ssize_t b) noexcept nogil:
        """Whether a block is the factor of a single node, which has the node's number."""
        return self.factor[b] < self.graphs.nodes[self.graphs.shape_of[self.example[b]]]

    cdef Py_ssize_t count(self, Py_ssize_t b) noexcept nogil:
        return self.graphs.size[self.graphs.type_of[self.factor_of(b)]]

    cdef Py_ssize_t size_of(self, Py_ssize_t b) noexcept nogil:
        return (self.count(b) + 3) // 4 * 4
