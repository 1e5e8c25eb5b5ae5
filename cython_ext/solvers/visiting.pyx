"""Solvers that visit one example after the other: the order of a pass, where it stops, and how it goes on from there.

A new one is a visit(), with begin_pass() and end_pass() for what is done before the first visit and after the last.
"""

import numpy as np

from libc.stdint cimport int32_t, uint64_t

from cython_ext.core.problem cimport Problem
from cython_ext.common.rng cimport shuffle
from cython_ext.solvers.solver cimport DONE, NO_ROOM, Solver, Visit


cdef class VisitingSolver(Solver):
    """seed: of the order of visits."""

    def __init__(self, Problem problem not None, seed):
        Solver.__init__(self, problem)
        cdef int32_t[::1] order = np.zeros(problem.n, np.int32)
        self.order_array, self.order = np.asarray(order), &order[0]
        self.random = <uint64_t> (seed & 0xFFFFFFFFFFFFFFFF)
        self.position = -1

    # ------------------------------------------------------------------------------------- what a solver says itself

    cdef Visit visit(self, Py_ssize_t i) noexcept nogil:
        """What is done with example i. One that does not end DONE has changed nothing, and is made again when the run
        goes on."""
        return DONE

    def begin_pass(self, stop):
        """Before the first visit: draws the order. False where the stop flag came first; it is called again then."""
        self.permute()
        return True

    def end_pass(self):
        """After the last visit; `passes` counts the pass already."""

    # ------------------------------------------------------------------------------------------------------- a pass

    def run_pass(self, int32_t[::1] stop):
        if self.position < 0:
            if not self.begin_pass(stop):
                return False
            self.position = 0
        if not self.visit_all(stop):
            return False
        self.position = -1
        self.passes += 1
        self.end_pass()
        return True

    def visit_all(self, stop):
        """The visits that are left in the pass; False when it was stopped."""
        return self.visit_until(self.problem.n, stop)

    cdef bint visit_until(self, Py_ssize_t end, const int32_t[::1] stop) except -1:
        """Visits up to a position; False when it was stopped before."""
        cdef Py_ssize_t q
        cdef Visit ending = DONE
        with nogil:
            for q in range(self.position, end):
                if stop[0]:
                    break
                ending = self.visit(self.order[q])
                if ending != DONE:
                    break
                self.position = q + 1
        if ending == NO_ROOM:
            raise MemoryError
        return self.position >= end

    # ---------------------------------------------------------------------------------------------------- the order

    def file_order(self):
        """The order of the data."""
        self.order_array[:] = np.arange(self.problem.n)

    def permute(self):
        """A new permutation."""
        self.file_order()
        self.reshuffle()

    def reshuffle(self):
        """A permutation of the order of the last pass."""
        shuffle(&self.random, self.order, self.problem.n)

    # ---------------------------------------------------------------------------------------------------- the state

    def pass_state(self):
        """How far the pass has come, for state()."""
        return {'order': self.order_array.copy(), 'position': self.position, 'random': self.random}

    def restore(self, state):
        Solver.restore(self, state)
        self.order_array[:], self.position, self.random = state['order'], state['position'], state['random']
