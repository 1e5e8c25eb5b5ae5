from libc.stdint cimport int64_t

from cython_ext.features.capabilities cimport Step
from cython_ext.losses.loss cimport DecomposableLoss
from cython_ext.core.problem cimport Problem
from cython_ext.structures.workspace cimport Workspace


cdef class NaturalDual:
    cdef Problem problem
    cdef DecomposableLoss loss              # None: no costs
    cdef Step step                          # of w
    cdef readonly bint entropic             # log losses: the entropy belongs to the dual
    cdef public double regularisation             # of the convexity in w: lambda, or more for an inner problem
    cdef readonly object w, theta, mean, indptr, entropy, expected
    cdef double *w_data
    cdef double *theta_data                 # [indptr[n]] theta_i one after the other
    cdef double *mean_data                  # mean statistics under alpha_i = softmax(theta_i)
    cdef const int64_t *start
    cdef double *entropy_data               # [n] H(alpha_i)
    cdef double *expected_data              # [n] E[Delta]
    cdef Workspace work
    # the visit under way: scores, costs included; the proposed theta, its mean statistics and what goes with them
    cdef object vectors
    cdef double *target
    cdef double *next_theta
    cdef double *next_mean
    cdef double *change                     # next_mean - mean
    cdef double next_z, next_entropy, next_expected
    cdef double longest                     # step that is sensible at all

    cdef void measure(self, Py_ssize_t i) noexcept nogil
    cdef void store(self, Py_ssize_t i) noexcept nogil
    cdef void evaluate(self, Py_ssize_t i) noexcept nogil
    cdef double propose(self, Py_ssize_t i, double step) noexcept nogil
    cdef double rounding(self) noexcept nogil
    cdef void accept(self, Py_ssize_t i) noexcept nogil
    cdef double curvature(self, Py_ssize_t i) noexcept nogil
