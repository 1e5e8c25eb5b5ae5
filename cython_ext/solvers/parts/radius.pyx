"""How large features are: the constants in the step sizes and rates of batch and stochastic methods."""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from cython_ext.features.capabilities cimport Radius
from cython_ext.core.problem import Interrupted
from cython_ext.core.problem cimport Problem
from cython_ext.structures.structure cimport RankedStructure, Structure
from cython_ext.structures.workspace cimport Workspace

LISTED_OUTPUTS = 128            # of an example
SAMPLE_EXAMPLES = 100           # that stand for all


def largest_difference2(Problem problem not None, log_outputs, const int32_t[::1] stop,
                        Py_ssize_t listed=LISTED_OUTPUTS):
    """An upper bound of max_{i,y} ||psi_i(y)||^2, how far the features of any output are from those of the gold one.

    Exact for an example with few outputs, by listing them; otherwise the bound that the features give. The structure
    has to be a RankedStructure; log_outputs: log |Y_i| of every example; stop: as in Solver.run_pass. Raises
    Interrupted.
    """
    counts = np.rint(np.exp(np.minimum(log_outputs, 40.0))).astype(np.int64)
    counts[counts > listed] = 0
    cdef const int64_t[::1] count_view = counts
    cdef Workspace work = Workspace(problem.structure, None, max(counts.max(), 2))
    cdef double[::1] values = np.empty(max(counts.max(), 2))
    cdef Py_ssize_t i
    cdef double largest = 0.0
    cdef Radius radius = problem.features.helper(Radius)
    for i in range(problem.n):
        if stop[0]:
            raise Interrupted
        if count_view[i]:
            largest = max(largest, _by_listing(problem, i, count_view[i], work, values))
        else:
            largest = max(largest, _by_features(problem, i, work, radius))
    return largest


def _by_features(Problem problem, Py_ssize_t i, Workspace work, Radius radius):
    """The features' bound for an example."""
    cdef Structure structure = problem.structure
    cdef Py_ssize_t p, count = structure.parts(i, structure.gold(i), work.ids, work.counts)
    for p in range(structure.num_parts(i)):
        work.theta[p] = 1.0
    most = structure.max(i, work.theta, work.scratch, work.code)
    ids, counts = np.empty(count, np.int32), np.empty(count)
    for p in range(count):
        ids[p], counts[p] = work.ids[p], work.counts[p]
    return radius.radius2(i, ids, counts, most)


def _by_listing(Problem problem, Py_ssize_t i, Py_ssize_t count, Workspace work, double[::1] values):
    """max_y ||psi_i(y)||^2 of an example with that many outputs."""
    cdef RankedStructure structure = problem.structure
    cdef Py_ssize_t p, r, length = structure.code_length(i)
    cdef double largest = 0.0
    with nogil:
        for p in range(structure.num_parts(i)):
            work.theta[p] = 0.0
        count = structure.topk(i, work.theta, count, work.scratch, &values[0], work.codes)
        for r in range(count):
            largest = max(largest, _difference2(problem, i, work.codes + r * length, work))
    return largest


cdef double _difference2(Problem problem, Py_ssize_t i, const int32_t *code, Workspace work) noexcept nogil:
    """||psi_i(y)||^2 of an output's code."""
    cdef Py_ssize_t c, count
    for c in range(problem.structure.num_parts(i)):
        work.mean[c] = 0.0
    count = problem.structure.parts(i, problem.structure.gold(i), work.ids, work.counts)
    for c in range(count):
        work.mean[work.ids[c]] += work.counts[c]
    count = problem.structure.parts(i, code, work.ids, work.counts)
    for c in range(count):
        work.mean[work.ids[c]] -= work.counts[c]
    return problem.features.norm2(i, work.mean)


def largest_gold_norm2(Problem problem not None, Workspace work not None):
    """The largest ||Phi_i s(y_i)||^2 of the first examples: 1 / it is a step that is surely not too long."""
    cdef Structure structure = problem.structure
    cdef Py_ssize_t i, c, count
    cdef double largest = 1e-300
    for i in range(min(problem.n, SAMPLE_EXAMPLES)):
        count = structure.parts(i, structure.gold(i), work.ids, work.counts)
        for c in range(structure.num_parts(i)):
            work.mean[c] = 0.0
        for c in range(count):
            work.mean[work.ids[c]] += work.counts[c]
        largest = max(largest, problem.features.norm2(i, work.mean))
    return largest
