"""Labelings of factor graphs by exact oracles: enumeration of small graphs, dynamic programming on trees and on whatever
else has small tables when its nodes are eliminated one after the other (kernels/elimination.h).

The K best are found by partition (partition.pyx), each by an elimination of its own.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free

from cython_ext.kernels cimport elimination as kernel
from cython_ext.structures cimport partition
from cython_ext.structures.elimination import plan
from cython_ext.structures.factor_graphs cimport FactorGraphs
from cython_ext.structures.labelings cimport Labelings


cdef class Graph(Labelings):
    """graphs: a FactorGraphs. Raises TooLargeError where a graph has no exact oracle."""

    def __init__(self, FactorGraphs graphs not None):
        layout = graphs.layout
        Labelings.__init__(self, graphs)
        self.memory = []
        self.plans = <kernel.Elimination *> calloc(len(layout.shapes) + 1, sizeof(kernel.Elimination))
        if self.plans == NULL:
            raise MemoryError
        sizes = np.array([kind.size for kind in layout.types], np.int64)
        for s, shape in enumerate(layout.shapes):
            states = sizes[shape.types[:shape.nodes]].tolist()
            places = np.cumsum(sizes[shape.types]) - sizes[shape.types]
            buckets, work = plan(states, shape.scopes, places)
            self.write_plan(s, buckets, work)
            self.work = max(self.work, self.plans[s].work)

    def __dealloc__(self):
        free(self.plans)

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

    # ------------------------------------------------------------------------------------------------- oracles

    cdef Py_ssize_t scratch_size(self, Py_ssize_t k) noexcept nogil:
        return self.work + partition.scratch_size(self, k)

    cdef double max(self, Py_ssize_t i, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        return kernel.eliminate_max(self.plans + self.graphs.shape_of[i], theta, scratch, code)

    cdef Py_ssize_t topk(self, Py_ssize_t i, const double *theta, Py_ssize_t k, double *scratch, double *values,
                         int32_t *codes) noexcept nogil:
        return partition.topk(self, self.choices, i, theta, k, scratch, values, codes)

    cdef double exp(self, Py_ssize_t i, const double *theta, double *scratch, double *mean) noexcept nogil:
        return kernel.eliminate_sum(self.plans + self.graphs.shape_of[i], theta, scratch, mean, self.size_of(i))
