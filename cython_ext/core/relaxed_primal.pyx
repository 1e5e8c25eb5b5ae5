"""An upper bound of the relaxed objective of the weights of a soft-constraint problem: g(w, delta), (2) of Meshi,
Srebro and Hazan 2015. It holds for any delta, and those of the soft problem are not the best ones, so that some sweeps
of block minimisation over them (relaxations/messages.pyx) come first, in a copy.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from cython_ext.relaxations.soft cimport SoftFeatures
from cython_ext.losses.loss cimport DecomposableLoss
from cython_ext.common.parallel import even_ranges
from cython_ext.core.problem import RANGES
from cython_ext.core.problem cimport Problem
from cython_ext.relaxations.factor_blocks cimport FactorBlocks
from cython_ext.relaxations.messages cimport Messages
from cython_ext.structures.workspace cimport Workspace

MOST_SWEEPS = 40
LEAST_GAIN = 1e-4           # of a sweep that is not the last, relative to the loss


def relaxed_primal(Problem problem not None, w, primal):
    """The bound; primal: P(w) of the soft problem. With the delta of the weights it would be P without rho/2 ||delta -
    multipliers||^2, which is lambda/2 ||delta'||^2, and this is what it is where there are global factors, of which
    messages know nothing. (P is that without the weights which smooth maxima.)"""
    cdef SoftFeatures features = problem.features
    w = np.array(w, np.float64)
    first, last = features.weights_of_factors.dim, features.weights_of_factors.dim + features.n_agreements
    if features.smoothing > 0:
        w[last:] = 0.0
        primal = problem.evaluate(w).primal if features.outputs.inside.n else np.inf
    of_delta = primal - problem.lam / 2 * float(w[first:last] @ w[first:last])
    if features.outputs.inside.n:
        return of_delta
    messages, losses = features.messages(), np.empty(features.graphs.n)
    examples = features.outputs.neighbours()
    parts = even_ranges(features.graphs.n, RANGES)
    problem.pool.map(bound, [(problem, messages, w, losses, examples, *part) for part in parts])
    return min(of_delta, problem.lam / 2 * float(w[:first] @ w[:first]) + losses.sum() / problem.n)


def bound(Problem problem, Messages messages, const double[::1] w, double[::1] losses, const int64_t[::1] first,
          Py_ssize_t begin, Py_ssize_t end):
    """Upper bounds of the losses of a range of graphs, times B/M as all scores. first: [graphs + 1], their first
    blocks."""
    cdef SoftFeatures features = problem.features
    cdef FactorBlocks blocks = features.outputs
    cdef DecomposableLoss loss = problem.objective.loss
    cdef Workspace work = Workspace(problem.structure, None)
    cdef const int64_t *of_example = messages.agreements.begin
    cdef const int32_t[::1] stop = problem.pool.stop
    cdef Py_ssize_t i, b, r, size = 0, most = 0, sweeps = MOST_SWEEPS
    cdef double value, before, enough = LEAST_GAIN
    for i in range(begin, end):
        size = max(size, blocks.part_begin[i + 1] - blocks.part_begin[i])
        most = max(most, of_example[i + 1] - of_example[i])
    cdef double[::1] theta = np.empty(size + 1), delta = np.zeros(most + 1)
    cdef double[::1] scratch = np.empty(messages.scratch_size + 1)
    with nogil:
        for i in range(begin, end):
            if stop[0]:
                break
            losses[i] = 0.0
            for b in range(first[i], first[i + 1]):         # delta is in the scores of blocks
                features.scores(b, &w[0], work.theta)
                loss.add_costs(b, 1.0, work.theta)
                losses[i] -= work.theta[blocks.gold(b)[0]]
                memcpy(&theta[blocks.part_of(b) - blocks.part_begin[i]], work.theta, blocks.count(b) * sizeof(double))
            value = messages.value(i, &theta[0], 0.0)
            for r in range(sweeps):
                if stop[0]:
                    break
                messages.sweep(i, r % 2, &theta[0], &delta[0], 0.0, &scratch[0])
                before, value = value, messages.value(i, &theta[0], 0.0)
                if before - value <= enough * (value + losses[i]):
                    break
            losses[i] += value
