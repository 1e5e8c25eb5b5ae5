from cython_ext.features.capabilities cimport Prefetch
from cython_ext.solvers.parts.acceleration cimport Acceleration
from cython_ext.solvers.blocks.block_dual cimport BlockDual
from cython_ext.solvers.visiting cimport VisitingSolver


cdef class BlockFrankWolfe(VisitingSolver):
    cdef readonly BlockDual block
    cdef Prefetch prefetch                      # of weights
    cdef readonly Acceleration acceleration     # None: plain
    cdef readonly Py_ssize_t cache
    cdef int steps                              # of a visit: one, one from output to output, or many of these
    cdef readonly str sampling
    cdef object gap_array, neighbours
    cdef double *gaps                           # [n] block gap of each example when last visited
    cdef double loss_sum, gap_sum               # over the visits of this pass
    cdef readonly double estimated_gap          # of the last pass, of the problem that its steps work on
    cdef readonly double dual_norm2             # ||w(alpha)||^2 after the last pass
    cdef object last_estimate

    cdef void look_ahead(self) noexcept nogil
