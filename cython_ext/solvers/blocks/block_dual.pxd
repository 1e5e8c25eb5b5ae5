cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t

from cython_ext.objectives.objective cimport MaxObjective
from cython_ext.core.problem cimport Problem
from cython_ext.solvers.blocks.working_sets cimport WorkingSets
from cython_ext.structures.workspace cimport Workspace


@cython.final
cdef class BlockDual:
    cdef Problem problem
    cdef MaxObjective objective
    cdef readonly WorkingSets sets
    cdef Workspace work
    cdef public double regularisation             # of the convexity in w: lambda, or more for an inner problem
    cdef readonly object w, correction      # weight vectors
    cdef double *w_data
    cdef double *correction_data            # NULL unless averaging
    cdef readonly double radius2            # largest ||c psi||^2 of an output that has been added
    cdef public int64_t clock               # visits so far: when an output was last of use
    # of the example that was looked at last
    cdef double mass                        # sum of its weights
    cdef double mean                        # sum of weight * value, less the ridge: its part of the dual at this w
    # scratch of a visit
    cdef object vectors
    cdef Py_ssize_t room                    # outputs that these two hold
    cdef double *values                     # b + c <theta, s(y) - s(y_i)> of each cached output
    cdef double *before                     # weight of each output before the visit
    cdef double *change                     # [max_size] a change of mean statistics; zero between uses
    cdef double *image                      # [max_size] what it does to the scores
    cdef uint8_t *marked                    # [max_size] part is in ids; zero between uses
    cdef int32_t *ids                       # [max_size] parts that the change touches
    cdef double *amounts                    # [max_size]

    cdef bint evaluate(self, Py_ssize_t i, double *value, double *bias) noexcept nogil
    cdef void rate_outputs(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t place_of(self, Py_ssize_t i, double bias, double value) noexcept nogil
    cdef void begin(self, Py_ssize_t i) noexcept nogil
    cdef void optimise(self, Py_ssize_t i, double precision) noexcept nogil
    cdef void pairwise(self, Py_ssize_t i, double precision, Py_ssize_t most) noexcept nogil
    cdef void coordinatewise(self, Py_ssize_t i, double precision) noexcept nogil
    cdef void frank_wolfe_step(self, Py_ssize_t i, Py_ssize_t best, double gap) noexcept nogil
    cdef void apply(self, Py_ssize_t i) noexcept nogil
    cdef void prune(self, Py_ssize_t i, Py_ssize_t cache) noexcept nogil
    cdef double factor(self, double bias) noexcept nogil
    cdef bint add_output(self, Py_ssize_t i, double bias) noexcept nogil
    cdef bint make_room(self, Py_ssize_t outputs) noexcept nogil
    cdef Py_ssize_t collect(self, Py_ssize_t i, const int32_t *code, double weight, Py_ssize_t count) noexcept nogil
    cdef Py_ssize_t compress(self, Py_ssize_t count) noexcept nogil
