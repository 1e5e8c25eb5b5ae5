from libc.stdint cimport int32_t

from cython_ext.losses.loss cimport DecomposableLoss
from cython_ext.objectives.objective cimport MaxObjective, Objective, SumObjective
from cython_ext.structures.structure cimport RankedStructure, Structure, SummedStructure
from cython_ext.structures.workspace cimport Workspace


cdef class SmoothedWorkspace(Workspace):
    cdef double *values         # [k + 1] scores of the best outputs
    cdef double *weights        # [k + 1] their weights
    cdef double *biases         # [k + 1] their task losses
    cdef int32_t *order         # [k + 1] their places in `codes`, the best one first
    cdef double *spare          # [max_size] another vector over parts
    cdef Py_ssize_t count       # outputs of the last call


cdef class SmoothedLoss:
    cdef readonly Structure structure
    cdef readonly Objective objective
    cdef readonly Py_ssize_t k          # outputs that a workspace has room for
    cdef public double mu
    cdef readonly bint smooths          # whether mu means anything
    cdef readonly bint outputs          # whether it is made of few outputs, which the workspace then holds

    cdef double value(self, Py_ssize_t i, double *theta, SmoothedWorkspace work, double *mean,
                      double *bias) noexcept nogil


cdef class ExpSmoothing(SmoothedLoss):
    cdef SummedStructure summed
    cdef DecomposableLoss loss


cdef class TopKSmoothing(SmoothedLoss):
    cdef RankedStructure ranked
    cdef DecomposableLoss costs         # None for the zero-one loss, whose outputs are ranked before it is added

    cdef Py_ssize_t find(self, Py_ssize_t i, double *theta, SmoothedWorkspace work) noexcept nogil
    cdef void add_output(self, Py_ssize_t i, const int32_t *code, double weight, Workspace work,
                         double *mean) noexcept nogil


cdef class NoSmoothing(SmoothedLoss):
    cdef MaxObjective maximum


cdef class SumLoss(SmoothedLoss):
    cdef SumObjective sums


cdef void project(Py_ssize_t count, double mu, const double *values, double *weights) noexcept nogil
