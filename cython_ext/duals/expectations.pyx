"""Sums over all examples of what dual points expect of their outputs, recomputed from the data."""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from cython_ext.core.problem cimport Problem
from cython_ext.features.accumulators cimport Accumulator
from cython_ext.kernels.vectors cimport vector
from cython_ext.losses.loss cimport DecomposableLoss
from cython_ext.objectives.objective cimport MaxObjective
from cython_ext.objectives.smoothed cimport SmoothedLoss, SmoothedWorkspace
from cython_ext.objectives.smoothed import smoothed_loss
from cython_ext.structures.structure cimport SummedStructure
from cython_ext.structures.workspace cimport Workspace


def of_outputs(Problem problem not None, const int64_t[::1] indptr, const double[::1] weights,
               const int64_t[::1] code_indptr, const int32_t[::1] codes, Accumulator total not None):
    """Of the arrays of a SparsePoint: the mean of E[b] - ridge/2 mass^2; puts E[c psi_i] into total. ValueError where
    they are no distributions over outputs."""
    gains = np.empty(problem.n)
    problem.sweep(_outputs, problem, indptr, weights, code_indptr, codes, gains, total=total)
    return gains.sum() / problem.n


def _outputs(Problem problem, const int64_t[::1] indptr, const double[::1] weights, const int64_t[::1] code_indptr,
             const int32_t[::1] codes, double[::1] gains, Accumulator total, Py_ssize_t chunk, Py_ssize_t begin,
             Py_ssize_t end):
    """The examples begin..end-1."""
    cdef Workspace work = Workspace(problem.structure, None)
    cdef const int32_t[::1] stop = problem.pool.stop
    cdef Py_ssize_t i, count, length, bad = -1
    cdef int64_t o
    cdef double mass, mean, bias, scale, unit, gold
    cdef int32_t nothing = 0
    cdef const int32_t *code
    cdef MaxObjective objective = problem.objective
    with nogil:
        for i in range(begin, end):
            if stop[0]:
                break
            mass = mean = gold = 0.0
            length = problem.structure.code_length(i)
            for o in range(indptr[i], indptr[i + 1]):
                mass += weights[o]
            if not (objective.free_mass and 0.0 <= mass < INFINITY) and not fabs(mass - 1.0) < 1e-6:
                bad = i
                break
            # weights are divided by their sum where that is 1: feasible to the last digit
            unit = 1.0 if objective.free_mass else mass
            for o in range(indptr[i], indptr[i + 1]):
                code = &codes[code_indptr[o]] if length else &nothing
                if (not weights[o] >= 0.0 or code_indptr[o + 1] - code_indptr[o] != length
                        or not problem.structure.valid(i, code)):
                    bad = i
                    break
                objective.terms(i, code, &bias, &scale)
                mean += weights[o] / unit * bias
                gold += weights[o] / unit * scale
                count = problem.structure.parts(i, code, work.ids, work.counts)
                total.put_parts(chunk, i, count, work.ids, work.counts, -weights[o] / unit * scale)
            if bad >= 0:
                break
            count = problem.structure.parts(i, problem.structure.gold(i), work.ids, work.counts)
            total.put_parts(chunk, i, count, work.ids, work.counts, 1.0 if objective.plain and not objective.free_mass
                            else gold)
            gains[i] = mean - 0.5 * objective.ridge * mass * mass
    if bad >= 0:
        raise ValueError(f'the dual point of example {bad + 1} is not a distribution over its outputs')


def of_parameters(Problem problem not None, const int64_t[::1] indptr, theta, Accumulator total not None):
    """Of the natural parameters of all examples: the mean of E[Delta] + H, H for the log losses only; puts E[psi_i]
    into total. ValueError where the task loss is no sum over parts."""
    if problem.loss_name is not None and not isinstance(problem.objective.loss, DecomposableLoss):
        raise ValueError(f'the loss {problem.loss_name} has no dual points in natural parameters')
    gains = np.empty(problem.n)
    problem.sweep(_parameters, problem, theta, indptr, gains, total=total)
    return without_slack(problem, gains) / problem.n


def _parameters(Problem problem, theta, const int64_t[::1] indptr, double[::1] gains, Accumulator total,
                Py_ssize_t chunk, Py_ssize_t begin, Py_ssize_t end):
    """The examples begin..end-1."""
    cdef Workspace work = Workspace(problem.structure, None)
    cdef DecomposableLoss loss = problem.objective.loss if problem.loss_name is not None else None
    cdef SummedStructure structure = problem.structure
    cdef double[::1] part = np.ascontiguousarray(theta[indptr[begin]:indptr[end]], np.float64)
    cdef const double *mine
    cdef const int32_t[::1] stop = problem.pool.stop
    cdef bint entropic = problem.sums
    cdef Py_ssize_t i, size
    cdef double z
    with nogil:
        for i in range(begin, end):
            if stop[0]:
                break
            size = structure.num_parts(i)
            mine = &part[indptr[i] - indptr[begin]] if size else NULL
            z = structure.log_partition(i, mine, work.scratch, work.mean)
            gains[i] = z - vector.dot(size, mine, work.mean) if entropic else 0.0
            if loss is not None:
                gains[i] += loss.expected(i, work.mean)
            problem.put_expected(total, chunk, i, work)


def without_slack(Problem problem, gains):
    """The sum of gains that log-partitions went into, less what these may be too large by."""
    slack = problem.structure.slack()
    return gains.sum() if slack is None else (gains - slack).sum()


def of_scores(Problem problem not None, w, temperature, Accumulator total not None):
    """Of the softmax of the scores of weights, over a temperature for the hinge loss (None for the log losses): the
    mean of E[Delta] + H, H for the log losses only; puts E[psi_i] into total. ValueError where that is no dual point.
    """
    cdef SmoothedLoss loss = smoothed_loss(problem.objective, 'exp')
    if temperature is not None:
        loss.mu = temperature
    gains = np.empty(problem.n)
    problem.sweep(_scores, problem, loss, w, gains, total=total)
    return without_slack(problem, gains) / problem.n


def _scores(Problem problem, SmoothedLoss loss, const double[::1] w, double[::1] gains, Accumulator total,
            Py_ssize_t chunk, Py_ssize_t begin, Py_ssize_t end):
    """The examples begin..end-1."""
    cdef SmoothedWorkspace work = loss.workspace()
    cdef const int32_t[::1] stop = problem.pool.stop
    cdef bint entropic = problem.sums
    cdef Py_ssize_t i, size
    cdef double value, bias
    with nogil:
        for i in range(begin, end):
            if stop[0]:
                break
            size = problem.structure.num_parts(i)
            problem.features.scores(i, &w[0], work.theta)
            memcpy(work.spare, work.theta, size * sizeof(double))
            value = loss.value(i, work.theta, work, work.mean, &bias)
            gains[i] = value - vector.dot(size, work.spare, work.mean) if entropic else bias
            problem.put_expected(total, chunk, i, work)
