from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from cython_ext.objectives.objective cimport MaxObjective
from cython_ext.solvers.acceleration cimport Acceleration
from cython_ext.solvers.solver cimport Solver
from cython_ext.solvers.working_sets cimport WorkingSets
from cython_ext.workspace cimport Workspace


cdef class BlockFrankWolfe(Solver):
    cdef MaxObjective objective
    cdef readonly WorkingSets sets
    cdef Workspace work
    cdef readonly Acceleration acceleration     # None: plain
    cdef double strength                        # lambda, plus kappa while accelerating
    cdef readonly object w, correction          # weight vectors; see average()
    cdef double *w_data
    cdef double *correction_data                # NULL unless averaging
    cdef readonly Py_ssize_t cache
    cdef bint pairwise
    cdef readonly str sampling
    # the pass under way
    cdef object order_array, gap_array
    cdef int32_t *order
    cdef double *gaps                           # [n] block gap of each example when last visited
    cdef readonly Py_ssize_t position           # in it; -1 before it is drawn
    cdef uint64_t random
    cdef readonly int64_t visits
    cdef double loss_sum, gap_sum               # over the visits of this pass
    cdef readonly double estimated_gap          # of the last pass, of the problem that its steps work on
    cdef readonly double dual_norm2             # ||w(alpha)||^2 after the last pass
    cdef object last_estimate
    # scratch of a visit
    cdef object vectors, marks
    cdef Py_ssize_t room                        # outputs that these three hold
    cdef double *values                         # score of each cached output, loss included
    cdef double *before                         # weight of each output before the visit
    cdef double *change                         # [max_size] a change of mean statistics; zero between uses
    cdef double *image                          # [max_size] what it does to the scores
    cdef uint8_t *marked                        # [max_size] part is in ids; zero between uses
    cdef int32_t *ids                           # [max_size] parts that the change touches
    cdef double *amounts                        # [max_size]

    cdef bint visit(self, Py_ssize_t i) noexcept nogil
    cdef bint add_output(self, Py_ssize_t i, double delta) noexcept nogil
    cdef bint make_room(self, Py_ssize_t outputs) noexcept nogil
    cdef void frank_wolfe_step(self, Py_ssize_t i, Py_ssize_t best, double gap) noexcept nogil
    cdef void optimise(self, Py_ssize_t i, Py_ssize_t best, double gap) noexcept nogil
    cdef void prune(self, Py_ssize_t i) noexcept nogil
    cdef void apply(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t collect(self, Py_ssize_t i, const int32_t *code, double weight, Py_ssize_t count) noexcept nogil
    cdef Py_ssize_t compress(self, Py_ssize_t count) noexcept nogil
