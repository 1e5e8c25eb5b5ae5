"""Every block of every graph as an example of its own: the output is the joint state of a factor, or the states of all
nodes of a global factor, and nothing makes blocks that share nodes agree but the features (relaxations/soft.pyx). This
is the output space of the soft-constraint problem (Meshi, Srebro and Hazan 2015, section 4), whose dual has a simplex
for each block.

The parts of a block are its joint states; those of a global factor are the states of its nodes, and then the joint
states of its factors. It is a graph for itself, whose labelings the exact oracles find (structures/graph/graph.pyx),
and no table of them all is ever made (section 5 and appendix D).
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from cython_ext.common.errors import UnfitDataError
from cython_ext.relaxations.agreements cimport Agreements
from cython_ext.relaxations.block_layout import blocks_of, inner_layout
from cython_ext.structures.choice cimport Choice
from cython_ext.structures.graph.factor_graphs cimport FactorGraphs, narrow, wide
from cython_ext.structures.graph.factor_graphs import starts
from cython_ext.structures.graph.graph cimport Graph
from cython_ext.structures.structure import padded


cdef class FactorBlocks(Choice):
    """graphs: a FactorGraphs; multipliers: what delta is pulled to instead of 0, float64[agreements] (augmented
    Lagrangian), or None. Blocks are those of the first example, then those of the second, ..."""

    exact = False

    def __init__(self, FactorGraphs graphs not None, multipliers=None):
        layout = graphs.layout
        blocks = [blocks_of(layout.types, shape) for shape in layout.shapes]
        inner, numbers = inner_layout(layout, blocks)
        self.graphs, self.inside, self.agreements = graphs, Graph(FactorGraphs(inner)), Agreements(graphs, blocks)
        self.memory = []
        self._set_kinds(blocks, numbers)
        self._set_gold([block.nodes if block.whole else () for several in blocks for block in several])
        self.times = <double> self.n / max(1, graphs.n)
        if multipliers is not None:
            if len(multipliers) != self.agreements.n:
                raise UnfitDataError(f'the model has {len(multipliers)} multipliers (expected {self.agreements.n}, one '
                                     'for each agreement of these graphs: those that it was trained on)')
            self.multipliers = np.append(np.asarray(multipliers, np.float64), 0.0)

    def _set_kinds(self, blocks, numbers):
        """The tables by kind, and of which kind each block is. blocks: those of each shape; numbers: those of global
        factors inside, -1 of other kinds."""
        layout = self.graphs.layout
        sizes = np.array([kind.size for kind in layout.types], np.int64)
        first, last, single, parts = [], [], [], []
        for s, (shape, several) in enumerate(zip(layout.shapes, blocks)):
            for block in several:
                first.append(self.graphs.factor_begin[s] + block.first)
                last.append(self.graphs.factor_begin[s] + block.end)
                single.append(block.end <= shape.nodes)
                factors = [*(block.nodes if block.whole else ()), *range(block.first, block.end)]
                parts.append(sizes[shape.types[factors]].sum())
        self.first, self.last = wide(self.memory, first), wide(self.memory, last)
        self.whole = wide(self.memory, numbers)
        self.single = narrow(self.memory, single)
        begin, part = starts([len(several) for several in blocks]), starts(parts)
        self.block_begin = wide(self.memory, begin)
        counts = np.diff(begin)
        self.place = wide(self.memory, part[:len(parts)] - np.repeat(part[begin[:len(blocks)]], counts))
        self.part_begin = wide(self.memory, starts(np.diff(part[begin])[layout.shape_of]))
        # by block
        counts = counts[layout.shape_of]
        among = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        self.kind = narrow(self.memory, np.repeat(begin[layout.shape_of], counts) + among)
        cdef int32_t[::1] example = padded(np.repeat(np.arange(len(counts), dtype=np.int32), counts))
        self.examples_of_blocks, self.example, self.n = example, &example[0], len(example) - 1

    def _set_gold(self, nodes):
        """The gold outputs, and how large they are. nodes: those of each global factor, and () for each other
        block."""
        cdef int64_t[::1] node_begin = starts([len(each) for each in nodes])
        cdef int64_t[::1] node = np.array([*(v for each in nodes for v in each), 0], np.int64)
        cdef int32_t[::1] gold = np.full(self.n + 1, -1, np.int32), codes
        cdef int64_t[::1] begin = np.zeros(self.n + 1, np.int64)
        cdef const int32_t *labels
        cdef Py_ssize_t b
        cdef int64_t k, v
        for b in range(self.n):
            k = self.kind[b]
            begin[b + 1] = begin[b] + node_begin[k + 1] - node_begin[k]
        codes = np.zeros(begin[self.n] + 1, np.int32)
        for b in range(self.n):
            k, labels = self.kind[b], self.graphs.labels + self.graphs.label_begin[self.example[b]]
            for v in range(node_begin[k], node_begin[k + 1]):
                codes[begin[b] + v - node_begin[k]] = labels[node[v]]
            if self.whole[k] < 0:
                gold[b] = <int32_t> self.graphs.joint_state(self.factor_of(b), labels)
                self.most = max(self.most, self.count(b))
            self.max_size = max(self.max_size, self.num_parts(b))
        self.memory.append((gold, codes, begin))
        self.gold_data, self.gold_codes, self.gold_begin = &gold[0], &codes[0], &begin[0]
        self.max_code, self.max_parts = max(1, self.inside.max_code), max(1, self.inside.max_parts)
        self.one_part = self.inside.n == 0

    # -------------------------------------------------------------------------------------------------- blocks

    @property
    def oracles(self):
        return self.inside.oracles

    def examples(self):
        """The example of each block, int32[n]."""
        return np.asarray(self.examples_of_blocks)[:self.n]

    def neighbours(self):
        """The blocks of a graph share its agreement variables and its features."""
        return np.searchsorted(self.examples(), np.arange(self.graphs.n + 1)).astype(np.int64)

    def by_example(self, values):
        """The mean over all blocks is that over the graphs."""
        out = np.zeros(self.graphs.n)
        np.add.at(out, self.examples(), values)
        return out * (<double> self.graphs.n / self.n)

    cdef Py_ssize_t number(self, Py_ssize_t b) noexcept nogil:
        """The number of a block among those of its example, which is that of the node where it is of one."""
        return self.kind[b] - self.block_begin[self.graphs.shape_of[self.example[b]]]

    cdef Py_ssize_t node_part(self, Py_ssize_t b, Py_ssize_t v) noexcept nogil:
        """Where the states of its v-th node begin among the parts of a global factor."""
        return self.inside.graphs.part[self.inside.graphs.factor_begin[self.inner(b)] + v]

    cdef Py_ssize_t node_parts(self, Py_ssize_t b) noexcept nogil:
        """How many of its parts are states of nodes: the first ones."""
        return self.node_part(b, self.code_length(b))

    cdef Py_ssize_t offset(self, Py_ssize_t b, int64_t f) noexcept nogil:
        """Where the joint states of factor f begin among the parts of its global factor."""
        return self.node_parts(b) + self.graphs.part[f] - self.graphs.part[self.factor_of(b)]

    # ------------------------------------------------------------------------------------------------- outputs

    cdef Py_ssize_t count(self, Py_ssize_t b) noexcept nogil:
        """How many parts a block has."""
        cdef int64_t k = self.inner(b)
        return self.graphs.size[self.graphs.type_of[self.factor_of(b)]] if k < 0 else self.inside.graphs.parts[k]

    cdef Py_ssize_t num_parts(self, Py_ssize_t b) noexcept nogil:
        return self.count(b) if self.inner(b) >= 0 else (self.count(b) + 3) // 4 * 4

    cdef Py_ssize_t _code_length(self, Py_ssize_t b) noexcept nogil:
        cdef int64_t k = self.inner(b)
        return 1 if k < 0 else self.inside.graphs.nodes[k]

    cdef const int32_t *gold(self, Py_ssize_t b) noexcept nogil:
        return self.gold_data + b if self.inner(b) < 0 else self.gold_codes + self.gold_begin[b]

    cdef Py_ssize_t _parts(self, Py_ssize_t b, const int32_t *code, int32_t *ids, double *counts) noexcept nogil:
        cdef int64_t k = self.inner(b)
        return Choice._parts(self, b, code, ids, counts) if k < 0 else self.inside.parts(k, code, ids, counts)

    cdef bint valid(self, Py_ssize_t b, const int32_t *code) noexcept nogil:
        cdef int64_t k = self.inner(b)
        return Choice.valid(self, b, code) if k < 0 else self.inside.valid(k, code)

    # ------------------------------------------------------------------------------------------------- oracles

    cdef Py_ssize_t scratch_size(self, Py_ssize_t k) noexcept nogil:
        return self.inside.scratch_size(k)

    cdef double max(self, Py_ssize_t b, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        cdef int64_t k = self.inner(b)
        return Choice.max(self, b, theta, scratch, code) if k < 0 else self.inside.max(k, theta, scratch, code)

    cdef Py_ssize_t topk(self, Py_ssize_t b, const double *theta, Py_ssize_t k, double *scratch, double *values,
                         int32_t *codes) noexcept nogil:
        cdef int64_t whole = self.inner(b)
        if whole < 0:
            return Choice.topk(self, b, theta, k, scratch, values, codes)
        return self.inside.topk(whole, theta, k, scratch, values, codes)

    cdef double log_partition(self, Py_ssize_t b, const double *theta, double *scratch, double *mean) noexcept nogil:
        cdef int64_t k = self.inner(b)
        if k < 0:
            return Choice.log_partition(self, b, theta, scratch, mean)
        return self.inside.log_partition(k, theta, scratch, mean)

    cdef void subtract_offsets(self, Py_ssize_t b, double *theta) noexcept nogil:
        cdef int64_t k = self.inner(b)
        if k < 0:
            Choice.subtract_offsets(self, b, theta)
        else:
            self.inside.subtract_offsets(k, theta)
