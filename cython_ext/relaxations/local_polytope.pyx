"""Labelings of factor graphs relaxed to the local marginal polytope: distributions of single factors that agree on the
nodes they share (Meshi, Srebro and Hazan 2015, (4)). The max oracle is a linear program, which HiGHS solves; that of
the messages bounds it from above, by dual decomposition.

An output is a point of the polytope, and may be fractional; its code holds the bits of its part statistics.
"""

import numpy as np

from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from cython_ext.relaxations.agreements cimport Agreements
from cython_ext.structures.graph.factor_graphs cimport FactorGraphs
from cython_ext.relaxations.local_program import program_of
from cython_ext.relaxations.messages cimport Messages
from cython_ext.structures.structure cimport Structure

cdef enum:
    WORDS = 2                       # of a code, int32, that one double takes


cdef class LocalPolytope(Structure):
    """graphs: a FactorGraphs. Each call of the max oracle takes the interpreter, one thread at a time, and looks at the
    stop flag only before: a linear program that has begun goes on to its end."""

    exact = False

    cdef readonly FactorGraphs graphs
    cdef readonly Messages messages
    cdef readonly list programs                 # by shape
    cdef bint with_counts
    cdef object failure                         # an exception that a linear program ended with
    cdef object rights
    cdef const int32_t *gold_data
    cdef const int64_t *gold_begin

    def __init__(self, FactorGraphs graphs not None):
        layout = graphs.layout
        self.graphs, self.n, self.messages = graphs, graphs.n, Messages(Agreements(graphs))
        self.programs = [program_of(layout.types, shape) for shape in layout.shapes]
        self.with_counts = any([program.limits is not None for program in self.programs])
        sizes = np.array([graphs.parts[s] for s in range(len(self.programs))], np.int64)[layout.shape_of]
        cdef int64_t[::1] begin = np.concatenate([[0], np.cumsum(WORDS * sizes)])
        cdef double[::1] statistics = np.zeros(sizes.sum() + 1)
        cdef Py_ssize_t i, s
        cdef int64_t f
        self.max_size = self.max_parts = int(sizes.max(initial=0))
        self.max_code = WORDS * self.max_size
        for i in range(self.n):
            s = graphs.shape_of[i]
            for f in range(graphs.factor_begin[s], graphs.factor_begin[s + 1]):
                statistics[begin[i] // WORDS + graphs.part[f]
                           + graphs.joint_state(f, graphs.labels + graphs.label_begin[i])] = 1.0
        self.rights = statistics, begin
        self.gold_data, self.gold_begin = <const int32_t *> &statistics[0], &begin[0]

    @property
    def oracles(self):
        """Messages are about tables of joint states."""
        return ('max',) if self.with_counts else ('max', 'messages')

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        return self.graphs.parts[self.graphs.shape_of[i]]

    cdef Py_ssize_t _code_length(self, Py_ssize_t i) noexcept nogil:
        return WORDS * self.num_parts(i)

    cdef const int32_t *gold(self, Py_ssize_t i) noexcept nogil:
        return self.gold_data + self.gold_begin[i]

    cdef Py_ssize_t _parts(self, Py_ssize_t i, const int32_t *code, int32_t *ids, double *counts) noexcept nogil:
        cdef Py_ssize_t p, count = 0
        cdef double x
        for p in range(self.num_parts(i)):
            memcpy(&x, code + WORDS * p, sizeof(double))
            if x != 0.0:
                ids[count], counts[count] = <int32_t> p, x
                count += 1
        return count

    cdef bint valid(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        """Whether a point is in the polytope, but for rounding."""
        with gil:
            return self._inside(i, code)

    cdef bint _inside(self, Py_ssize_t i, const int32_t *code):
        cdef Py_ssize_t size = self.num_parts(i)
        point = np.frombuffer((<const char *> code)[:size * sizeof(double)])
        return self.programs[self.graphs.shape_of[i]].holds(point)

    cdef double max(self, Py_ssize_t i, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        with gil:
            if self.failure is None and not self.stopped():
                try:
                    return self._solve(i, theta, code)
                except BaseException as error:              # an interruption among them
                    self.failure = error
        memcpy(code, self.gold(i), self.code_length(i) * sizeof(int32_t))
        return NAN

    def check(self):
        """Raises what has ended a linear program before its solution; no further one was solved since."""
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure

    cdef double _solve(self, Py_ssize_t i, const double *theta, int32_t *code):
        cdef Py_ssize_t size = self.num_parts(i)
        cdef double[::1] point
        if size == 0:                               # no nodes
            return 0.0
        scores = np.array(<double[:size]> <double *> theta)
        point = self.programs[self.graphs.shape_of[i]].best(scores)
        memcpy(code, &point[0], size * sizeof(double))
        return float(scores @ np.asarray(point))

    def labelings(self, codes, indptr):
        """The state of every node, int32, of all examples: each node's own most likely one, the first of equal ones.
        codes, indptr: as of a Decoder's predict."""
        out = []
        for i in range(self.n):
            point = codes[indptr[i]:indptr[i + 1]].view(np.float64)
            kinds = self.graphs.layout.shapes[self.graphs.shape_of[i]]
            at = 0
            for kind in kinds.types[:kinds.nodes]:
                size = self.graphs.layout.types[kind].size
                out.append(int(point[at:at + size].argmax()))
                at += size
        return np.array(out, np.int32)
