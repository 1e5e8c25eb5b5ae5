"""Labelings of factor graphs by exact oracles: enumeration of small graphs, dynamic programming on trees and on
whatever else has small tables when its nodes are eliminated one after the other (kernels/graph/elimination.h); sorting,
where all factors of several nodes are counts of nodes of their own (kernels/graph/counts.h).
"""

import numpy as np

from libc.math cimport INFINITY, NAN
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free

from cython_ext.kernels.graph cimport counts as counting
from cython_ext.kernels.graph cimport elimination as kernel
from cython_ext.structures.graph.count_layout import counts_and_nodes, has_counts
from cython_ext.structures.graph.elimination import MAX_TABLE_DOUBLES, plan
from cython_ext.structures.graph.factor_graphs cimport FactorGraphs
from cython_ext.structures.graph.labelings cimport GraphLabelings


cdef class Graph(GraphLabelings):
    """graphs: a FactorGraphs. Raises TooLargeError or CountsError where a graph has no exact oracle."""

    def __init__(self, FactorGraphs graphs not None):
        layout = graphs.layout
        super().__init__(graphs)
        self.sums = True
        self.plans = <kernel.Elimination *> calloc(len(layout.shapes) + 1, sizeof(kernel.Elimination))
        self.counts = <counting.Counts *> calloc(len(layout.shapes) + 1, sizeof(counting.Counts))
        if self.plans == NULL or self.counts == NULL:
            raise MemoryError
        sizes = np.array([kind.size for kind in layout.types], np.int64)
        for s, shape in enumerate(layout.shapes):
            if has_counts(layout, shape):
                self.write_counts(s, shape.nodes, counts_and_nodes(layout.types, shape))
            else:
                states = sizes[shape.types[:shape.nodes]].tolist()
                places = np.cumsum(sizes[shape.types]) - sizes[shape.types]
                buckets, work = plan(states, shape.scopes, places)
                self.write_plan(s, buckets, work)
                self.work = max(self.work, self.plans[s].work)

    @property
    def oracles(self):
        """Sums take more room than maxima where many nodes are counted."""
        return ('max', 'topk', 'exp') if self.sums else ('max', 'topk')

    def __dealloc__(self):
        free(self.plans)
        free(self.counts)

    cdef void write_plan(self, Py_ssize_t s, list buckets, Py_ssize_t work) except *:
        """A plan of elimination.py as kernels read it."""
        cdef kernel.Elimination *p = self.plans + s
        cdef kernel.Bucket *b
        cdef kernel.Source *source
        cdef int32_t[::1] nodes, dims
        cdef int64_t[::1] strides
        cdef Py_ssize_t count = sum([len(bucket.sources) for bucket in buckets])
        memory = np.zeros((len(buckets) + 1) * sizeof(kernel.Bucket), np.uint8)
        sources = np.zeros((count + 1) * sizeof(kernel.Source), np.uint8)
        nodes = np.array([node for bucket in buckets for node in bucket.separator] + [0], np.int32)
        dims = np.array([size for bucket in buckets for size in bucket.dims] + [0], np.int32)
        strides = np.array([x for bucket in buckets for each in bucket.sources for x in each.strides] + [0], np.int64)
        self.memory.append((memory, sources, nodes, dims, strides))
        b, source = <kernel.Bucket *> <size_t> memory.ctypes.data, <kernel.Source *> <size_t> sources.ctypes.data
        p.buckets, p.work, p.bucket, p.source = len(buckets), work, b, source
        p.nodes, p.dims, p.strides = &nodes[0], &dims[0], &strides[0]
        cdef int64_t first = 0, place = 0, at = 0
        for bucket in buckets:
            b.node, b.states, b.table, b.message = bucket.node, bucket.states, bucket.table, bucket.message
            b.size, b.dims, b.separator = bucket.size, place, len(bucket.dims)
            b.first, b.last = first, first + len(bucket.sources)
            for each in bucket.sources:
                source.at, source.message, source.level = each.at, each.message, each.level
                source.node_stride, source.stride, source.strides = each.node_stride, each.stride, at
                source.outer, source.step, source.run = len(each.strides), each.step, each.run
                at += len(each.strides)
                source += 1
            first, place = b.last, place + b.separator
            b += 1

    cdef void write_counts(self, Py_ssize_t s, int32_t nodes, tuple arrays) except *:
        """What count_layout.py says of a shape as kernels read it."""
        cdef counting.Counts *c = self.counts + s
        cdef const int64_t[::1] place = arrays[1]
        cdef const int32_t[::1] states = arrays[2], node = arrays[3], starts = arrays[4]
        terms = arrays[0]
        self.memory.append((terms, place, states, node, starts))
        c.nodes, c.terms, c.apart = nodes, <int32_t> len(terms), nodes - <int32_t> terms['last'].max(initial=0)
        c.term = <const counting.CountTerm *> <size_t> terms.ctypes.data
        c.place, c.states, c.node, c.starts = &place[0], &states[0], &node[0], &starts[0]
        self.work = max(self.work, counting.counts_work(c))
        if counting.count_sums_work(c) <= MAX_TABLE_DOUBLES:
            self.work = max(self.work, counting.count_sums_work(c))
        else:
            self.sums = False

    # ------------------------------------------------------------------------------------------------- oracles

    cdef double max(self, Py_ssize_t i, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        cdef Py_ssize_t s = self.graphs.shape_of[i]
        if self.counts[s].nodes:
            return counting.counts_max(self.counts + s, theta, scratch, code)
        return kernel.eliminate_max(self.plans + s, theta, scratch, code)

    cdef double log_partition(self, Py_ssize_t i, const double *theta, double *scratch, double *mean) noexcept nogil:
        cdef Py_ssize_t s = self.graphs.shape_of[i]
        if not self.sums:                       # nobody asks
            return NAN
        if self.counts[s].nodes:
            return counting.counts_sum(self.counts + s, theta, scratch, mean, self.num_parts(i))
        return kernel.eliminate_sum(self.plans + s, theta, scratch, mean, self.num_parts(i))

    cdef void subtract_offsets(self, Py_ssize_t i, double *theta) noexcept nogil:
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
