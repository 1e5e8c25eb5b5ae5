"""FactorGraphs: the tables of a GraphLayout (graph_layout.py), which structures and feature maps of graphs look into."""

import numpy as np


cdef class FactorGraphs:
    """layout: a GraphLayout. Factors are numbered through all shapes: those of shape s are factor_begin[s] to
    factor_begin[s + 1]."""

    def __init__(self, layout):
        types, shapes = layout.types, layout.shapes
        self.layout, self.memory = layout, []
        self.n, self.n_types = layout.n, len(types)
        self.shape_of, self.row_start = self._narrow(layout.shape_of), self._wide(layout.row_start)
        self.label_begin, self.labels = self._wide(layout.label_indptr), self._narrow(layout.labels)
        self.nodes = self._narrow([shape.nodes for shape in shapes])
        self.factor_begin = self._wide(starts([len(shape.types) for shape in shapes]))
        of_factors = np.concatenate([np.zeros(0, np.int32), *(shape.types for shape in shapes)])
        sizes = np.array([kind.size for kind in types], np.int64)
        parts = [starts(sizes[shape.types]) for shape in shapes]
        self.parts = self._wide([part[len(part) - 1] for part in parts])
        self.part = self._wide(np.concatenate([np.zeros(0), *(part[:len(part) - 1] for part in parts)]))
        self.type_of = self._narrow(of_factors)
        self.row = self._wide(np.concatenate([np.zeros(0), *(shape.rows for shape in shapes)]))
        scopes = [scope for shape in shapes for scope in shape.scopes]
        self.scope_begin = self._wide(starts([len(scope) for scope in scopes]))
        self.scope = self._narrow([node for scope in scopes for node in scope])
        self.size, self.width = self._narrow(sizes), self._narrow([kind.width for kind in types])
        self.state_begin = self._wide(starts([len(kind.states) for kind in types]))
        self.states = self._narrow([count for kind in types for count in kind.states])
        cdef uint8_t[::1] constant = np.array([kind.constant for kind in types] + [False], np.uint8)
        self.constant = &constant[0]
        self.memory.append(constant)
        self.column_begin = self._wide(starts(sizes))
        self.columns = self._narrow(np.concatenate([np.zeros(0), *(kind.columns for kind in types)]))

    cdef const int64_t *_wide(self, values) except NULL:
        cdef int64_t[::1] view = np.append(np.asarray(values, np.int64), 0)
        self.memory.append(view)
        return &view[0]

    cdef const int32_t *_narrow(self, values) except NULL:
        cdef int32_t[::1] view = np.append(np.asarray(values, np.int32), np.int32(0))
        self.memory.append(view)
        return &view[0]

    cdef Py_ssize_t joint_state(self, int64_t f, const int32_t *code) noexcept nogil:
        """The joint state of a factor where code[v] is the state of node v."""
        cdef Py_ssize_t joint = 0, k
        cdef const int32_t *states = self.states + self.state_begin[self.type_of[f]]
        for k in range(self.scope_begin[f + 1] - self.scope_begin[f]):
            joint = joint * states[k] + code[self.scope[self.scope_begin[f] + k]]
        return joint

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
        cdef int64_t f
        for f in range(self.factor_begin[s], self.factor_begin[s + 1]):
            ids[count] = <int32_t> (self.part[f] + self.joint_state(f, code))
            counts[count] = 1.0
            count += 1
        return count


def starts(counts):
    """Where each of several ranges begins, and where the last ends: int64[len(counts) + 1]."""
    out = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=out[1:])
    return out
