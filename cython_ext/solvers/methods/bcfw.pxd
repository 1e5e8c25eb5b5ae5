from libc.stdint cimport int32_t, uint64_t

from cython_ext.solvers.parts.acceleration cimport Acceleration
from cython_ext.solvers.blocks.block_dual cimport BlockDual
from cython_ext.solvers.solver cimport Solver, Visit


cdef class BlockFrankWolfe(Solver):
    cdef readonly BlockDual block
    cdef readonly Acceleration acceleration     # None: plain
    cdef readonly Py_ssize_t cache
    cdef bint pairwise
    cdef readonly str sampling
    # the pass under way
    cdef object order_array, gap_array, neighbours
    cdef int32_t *order
    cdef double *gaps                           # [n] block gap of each example when last visited
    cdef readonly Py_ssize_t position           # in it; -1 before it is drawn
    cdef uint64_t random
    cdef double loss_sum, gap_sum               # over the visits of this pass
    cdef readonly double estimated_gap          # of the last pass, of the problem that its steps work on
    cdef readonly double dual_norm2             # ||w(alpha)||^2 after the last pass
    cdef object last_estimate

    cdef Visit visit(self, Py_ssize_t i) noexcept nogil
