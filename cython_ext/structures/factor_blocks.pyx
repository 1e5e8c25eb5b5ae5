"""Every factor of every graph as an example of its own: the output is its joint state, and nothing makes factors that
share nodes agree but the features (features/soft.pyx). This is the output space of the soft-constraint problem (Meshi,
Srebro and Hazan 2015, section 4), whose dual has a simplex for each factor.
"""

import numpy as np

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t, int64_t

from cython_ext.structures.factor_graphs cimport FactorGraphs
from cython_ext.structures.structure cimport SummedStructure
from cython_ext.structures.structure import padded


cdef class FactorBlocks(SummedStructure):
    """graphs: a FactorGraphs. Blocks are the factors of the first example, then those of the second, ...; the parts of a
    block are its joint states."""

    exact = False

    def __init__(self, FactorGraphs graphs not None):
        counts = np.array([len(shape.types) for shape in graphs.layout.shapes], np.int64)[graphs.layout.shape_of]
        starts = np.cumsum(counts) - counts
        cdef int32_t[::1] example = padded(np.repeat(np.arange(graphs.n, dtype=np.int32), counts))
        cdef int32_t[::1] factor = padded((np.arange(counts.sum()) - np.repeat(starts, counts)).astype(np.int32))
        cdef int32_t[::1] right = np.zeros(len(example), np.int32)
        cdef Py_ssize_t b, i
        self.graphs, self.memory = graphs, (example, factor, right)
        self.n = int(counts.sum())
        self.example, self.factor, self.right = &example[0], &factor[0], &right[0]
        self.max_size = max([kind.size for kind in graphs.layout.types], default=0)
        self.max_code = self.max_parts = 1
        for b in range(self.n):
            right[b] = <int32_t> graphs.joint_state(self.factor_of(b), graphs.labels + graphs.label_begin[example[b]])

    def by_example(self, values):
        """The mean over all blocks is that over the graphs."""
        out = np.zeros(self.graphs.n)
        np.add.at(out, np.asarray(self.memory[0])[:self.n], values)
        return out * (<double> self.graphs.n / self.n)

    cdef int64_t factor_of(self, Py_ssize_t b) noexcept nogil:
        """The number of a block's factor in the tables."""
        return self.graphs.factor_begin[self.graphs.shape_of[self.example[b]]] + self.factor[b]

    cdef bint is_node(self, Py_ssize_t b) noexcept nogil:
        """Whether a block is the factor of a single node, which has the node's number."""
        return self.factor[b] < self.graphs.nodes[self.graphs.shape_of[self.example[b]]]

    cdef Py_ssize_t size_of(self, Py_ssize_t b) noexcept nogil:
        return self.graphs.size[self.graphs.type_of[self.factor_of(b)]]

    cdef Py_ssize_t code_of(self, Py_ssize_t b) noexcept nogil:
        return 1

    cdef const int32_t *gold(self, Py_ssize_t b) noexcept nogil:
        return self.right + b

    cdef Py_ssize_t parts(self, Py_ssize_t b, const int32_t *code, int32_t *ids, double *counts) noexcept nogil:
        ids[0], counts[0] = code[0], 1.0
        return 1

    cdef bint valid(self, Py_ssize_t b, const int32_t *code) noexcept nogil:
        return 0 <= code[0] < self.size_of(b)

    cdef double max(self, Py_ssize_t b, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        cdef Py_ssize_t a, best = 0
        for a in range(1, self.size_of(b)):
            if theta[a] > theta[best]:
                best = a
        code[0] = <int32_t> best
        return theta[best]

    cdef Py_ssize_t topk(self, Py_ssize_t b, const double *theta, Py_ssize_t k, double *scratch, double *values,
                         int32_t *codes) noexcept nogil:
        """Each next one is the first with the largest score among those that come after the last one found."""
        cdef Py_ssize_t r, a, best, count = 0, last = -1, size = self.size_of(b)
        cdef double before = INFINITY
        for r in range(min(k, size)):
            best = -1
            for a in range(size):
                if (theta[a] < before or (theta[a] == before and a > last)) and (best < 0 or theta[a] > theta[best]):
                    best = a
            if best < 0 or (count > 0 and theta[best] == -INFINITY):
                break
            before, last = theta[best], best
            values[count], codes[count] = before, <int32_t> best
            count += 1
        return count

    cdef double exp(self, Py_ssize_t b, const double *theta, double *scratch, double *mean) noexcept nogil:
        cdef Py_ssize_t a, size = self.size_of(b)
        cdef double top = -INFINITY, total = 0.0
        for a in range(size):
            top = max(top, theta[a])
        for a in range(size):
            mean[a] = exp(theta[a] - top) if top > -INFINITY else 0.0
            total += mean[a]
        if top == -INFINITY:
            return top
        for a in range(size):
            mean[a] /= total
        return top + log(total)

    cdef void centre(self, Py_ssize_t b, double *theta) noexcept nogil:
        cdef Py_ssize_t a, size = self.size_of(b)
        cdef double top = -INFINITY
        for a in range(size):
            top = max(top, theta[a])
        if top > -INFINITY:
            for a in range(size):
                theta[a] -= top
