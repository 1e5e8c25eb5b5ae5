"""The dual point of the hinge loss that belongs to weights and a temperature mu: alpha_i = softmax((Delta + scores_i(w)) /
mu).

It is what entropy smoothing leaves behind (Pillutla et al. 2018, section 2), and one number: w and the data give the
rest. At the optimum of the smoothed problem w(alpha) = w, and the gap is at most mu times the mean entropy of alpha.
"""

import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy

from cython_ext.features.accumulators cimport Accumulator
from cython_ext.objectives.objective cimport Objective
from cython_ext.objectives.smoothed cimport SmoothedLoss, SmoothedWorkspace
from cython_ext.objectives.smoothed import smoothed_loss
from cython_ext.common.parallel import Interrupted
from cython_ext.core.problem import Evaluation
from cython_ext.core.problem cimport Problem


def exists(Problem problem not None):
    """Whether there are such dual points: the task loss is a sum over parts, the structure has the exp oracle."""
    try:
        smoothed_loss(problem.objective, 'exp')
    except ValueError:
        return False
    return True


def evaluate(Problem problem not None, const double[::1] w, double temperature, const int32_t[::1] stop):
    """The Evaluation of w with D(alpha), by one pass of the max and the exp oracle. Raises ValueError where the
    objective has no such dual point, Interrupted when stop is set."""
    if not temperature > 0:
        raise ValueError(f'a dual point of temperature {temperature} (expected a positive number)')
    cdef SmoothedLoss loss = smoothed_loss(problem.objective, 'exp')
    loss.mu = temperature
    cdef Accumulator total = problem.accumulator()
    losses, biases = np.empty(problem.n), np.empty(problem.n)
    chunks = enumerate(problem.chunks(total.chunks))
    problem.pool.map(_pass, [(problem, loss, w, losses, biases, stop, total, c, *chunk) for c, chunk in chunks])
    if stop[0] or problem.structure.stopped():
        raise Interrupted
    lam, n = problem.lam, problem.n
    with np.errstate(all='ignore'):                         # absurd weights have an infinite objective
        primal = lam / 2 * problem.features.inner(w, w) + losses.sum() / n
        dual = biases.sum() / n - total.norm2(problem.pool) / (2 * lam * n * n)
    return Evaluation(primal, losses, dual if np.isfinite(dual) else -np.inf)


def _pass(Problem problem not None, SmoothedLoss loss not None, const double[::1] w, double[::1] losses,
          double[::1] biases, const int32_t[::1] stop, Accumulator total not None, Py_ssize_t chunk, Py_ssize_t begin, Py_ssize_t end):
    """Losses and E[Delta] of a range of examples, and E[s] - s(y_i) put into total."""
    cdef SmoothedWorkspace work = loss.workspace()
    cdef Objective objective = problem.objective
    cdef Py_ssize_t i, c, count
    with nogil:
        for i in range(begin, end):
            if stop[0]:
                break
            problem.features.scores(i, &w[0], work.theta)
            memcpy(work.spare, work.theta, problem.structure.size_of(i) * sizeof(double))
            losses[i] = objective.value(i, work.theta, work)
            loss.value(i, work.spare, work, work.mean, &biases[i])
            count = problem.structure.parts(i, problem.structure.gold(i), work.ids, work.counts)
            for c in range(count):
                work.mean[work.ids[c]] -= work.counts[c]
            total.put(chunk, i, work.mean)
