"""FactorGraphs: the tables of a GraphLayout (layout.py), which structures and feature maps of graphs look into."""

import numpy as np

from cython_ext.kernels.graph.counts cimport bucket_of


cdef class FactorGraphs:
    """layout: a GraphLayout. Factors are numbered through all shapes: those of shape s are factor_begin[s] to
    factor_begin[s + 1]."""

    def __init__(self, layout):
        types, shapes = layout.types, layout.shapes
        self.layout, self.memory = layout, []
        self.n, self.n_types = layout.n, len(types)
        self.shape_of, self.row_start = narrow(self.memory, layout.shape_of), wide(self.memory, layout.row_start)
        self.label_begin, self.labels = wide(self.memory, layout.label_indptr), narrow(self.memory, layout.labels)
        self.nodes = narrow(self.memory, [shape.nodes for shape in shapes])
        self.factor_begin = wide(self.memory, starts([len(shape.types) for shape in shapes]))
        of_factors = np.concatenate([np.zeros(0, np.int32), *(shape.types for shape in shapes)])
        sizes = np.array([kind.size for kind in types], np.int64)
        parts = [starts(sizes[shape.types]) for shape in shapes]
        self.parts = wide(self.memory, [part[len(part) - 1] for part in parts])
        self.part = wide(self.memory, np.concatenate([np.zeros(0), *(part[:len(part) - 1] for part in parts)]))
        self.type_of = narrow(self.memory, of_factors)
        self.row = wide(self.memory, np.concatenate([np.zeros(0), *(shape.rows for shape in shapes)]))
        scopes = [scope for shape in shapes for scope in shape.scopes]
        self.scope_begin = wide(self.memory, starts([len(scope) for scope in scopes]))
        self.scope = narrow(self.memory, [node for scope in scopes for node in scope])
        self.size, self.width = narrow(self.memory, sizes), narrow(self.memory, [kind.width for kind in types])
        self.state_begin = wide(self.memory, starts([len(kind.states) for kind in types]))
        self.states = narrow(self.memory, [count for kind in types for count in kind.states])
        cdef uint8_t[::1] constant = np.array([kind.constant for kind in types] + [False], np.uint8)
        self.constant = &constant[0]
        self.memory.append(constant)
        self.column_begin = wide(self.memory, starts(sizes))
        self.columns = narrow(self.memory, np.concatenate([np.zeros(0), *(kind.columns for kind in types)]))
        buckets = [kind.buckets or () for kind in types]
        self.bucket_begin = wide(self.memory, starts([len(each) for each in buckets]))
        self.buckets = narrow(self.memory, [first for each in buckets for first in each])

    cdef Py_ssize_t joint_state(self, int64_t f, const int32_t *code) noexcept nogil:
        """The joint state of a factor where code[v] is the state of node v."""
        cdef Py_ssize_t joint = 0, k
        cdef int32_t t = self.type_of[f]
        cdef const int32_t *states = self.states + self.state_begin[t]
        if self.is_count(f):
            for k in range(self.scope_begin[f], self.scope_begin[f + 1]):
                joint += code[self.scope[k]]
            return bucket_of(self.buckets + self.bucket_begin[t], self.size[t], joint)
        for k in range(self.scope_begin[f + 1] - self.scope_begin[f]):
            joint = joint * states[k] + code[self.scope[self.scope_begin[f] + k]]
        return joint

    cdef bint is_count(self, int64_t f) noexcept nogil:
        """Whether the score of a factor depends on how many of its nodes have state 1."""
        cdef int32_t t = self.type_of[f]
        return self.bucket_begin[t + 1] > self.bucket_begin[t]

    cdef int64_t factor_at(self, int64_t low, int64_t high, int64_t part) noexcept nogil:
        """The factor among low, ..., high - 1, all of one shape, that a part of the shape belongs to."""
        cdef int64_t middle
        while high - low > 1:
            middle = (low + high) // 2
            if self.part[middle] <= part:
                low = middle
            else:
                high = middle
        return low

    cdef Py_ssize_t state_in(self, int64_t f, Py_ssize_t joint, Py_ssize_t place) noexcept nogil:
        """The state that a joint state of a factor gives to the node at a place of its scope."""
        cdef Py_ssize_t k = self.scope_begin[f + 1] - self.scope_begin[f] - 1
        cdef const int32_t *states = self.states + self.state_begin[self.type_of[f]]
        while k > place:
            joint //= states[k]
            k -= 1
        return joint % states[k]

    cdef Py_ssize_t parts_of(self, Py_ssize_t i, const int32_t *code, int32_t *ids, double *counts) noexcept nogil:
        """Structure.parts where parts are the joint states of all factors, and a code is the state of each node."""
        cdef Py_ssize_t s = self.shape_of[i], count = 0
        cdef int64_t f, first = self.factor_begin[s]
        for count in range(self.nodes[s]):          # the joint states of their factors are those of the nodes
            ids[count] = <int32_t> (self.part[first + count] + code[count])
            counts[count] = 1.0
        count = self.nodes[s]
        for f in range(first + count, self.factor_begin[s + 1]):
            ids[count] = <int32_t> (self.part[f] + self.joint_state(f, code))
            counts[count] = 1.0
            count += 1
        return count


def starts(counts):
    """Where each of several ranges begins, and where the last ends: int64[len(counts) + 1]."""
    out = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=out[1:])
    return out


cdef const int64_t *wide(list memory, values) except NULL:
    """Numbers as a table of kernels, with one more behind them; memory: what is to live as long as the table."""
    cdef int64_t[::1] view = np.append(np.asarray(values, np.int64), 0)
    memory.append(view)
    return &view[0]


cdef const int32_t *narrow(list memory, values) except NULL:
    cdef int32_t[::1] view = np.append(np.asarray(values, np.int32), np.int32(0))
    memory.append(view)
    return &view[0]
