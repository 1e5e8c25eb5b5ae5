"""D(alpha) where alpha_i is the softmax of natural parameters theta_i, recomputed from the data.

Any theta gives a distribution, so there is nothing to be believed; E[s], E[Delta] and the entropy H = log Z -
<theta, E[s]> come from the exp oracle. The point is a dict:

theta_indptr int64[n + 1]   theta[theta_indptr[i]:theta_indptr[i + 1]] are the m_i numbers of example i
theta float32 or float64
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from cython_ext.features.accumulators cimport Accumulator
from cython_ext.kernels.vectors cimport vector
from cython_ext.losses.loss cimport DecomposableLoss
from cython_ext.core.problem cimport Problem
from cython_ext.structures.structure cimport SummedStructure
from cython_ext.structures.workspace cimport Workspace


def expectations(Problem problem not None, point, Accumulator total not None):
    """The mean of E[Delta] + H, H for the log losses only; puts E[psi_i] into total, which is 0. ValueError when the point
    does not belong to the problem, or the task loss is no sum over parts."""
    theta, indptr = np.asarray(point['theta']), np.asarray(point.get('theta_indptr'))
    sizes = problem.structure.part_indptr()
    if theta.ndim != 1 or not np.array_equal(indptr, sizes) or len(theta) != sizes[problem.n]:
        raise ValueError('the natural parameters of the dual point are of other examples')
    if not np.isfinite(theta).all():
        raise ValueError('the natural parameters of the dual point are no finite numbers')
    if 'exp' not in problem.structure.oracles:
        raise ValueError('this structure has no dual points in natural parameters')
    if problem.loss_name is not None and not isinstance(problem.objective.loss, DecomposableLoss):
        raise ValueError(f'the loss {problem.loss_name} has no dual points in natural parameters')
    gains = np.empty(problem.n)
    chunks = enumerate(problem.chunks(total.chunks))
    problem.pool.map(_put, [(problem, theta, sizes, gains, total, c, *chunk) for c, chunk in chunks])
    return gains.sum() / problem.n


def _put(Problem problem, theta, const int64_t[::1] indptr, double[::1] gains, Accumulator total, Py_ssize_t chunk,
         Py_ssize_t begin, Py_ssize_t end):
    """The examples begin..end-1: E[Delta] + H into gains, s(y_i) - E[s] into total."""
    cdef Workspace work = Workspace(problem.structure)
    cdef DecomposableLoss loss = problem.objective.loss if problem.loss_name is not None else None
    cdef SummedStructure structure = problem.structure
    cdef double[::1] part = np.ascontiguousarray(theta[indptr[begin]:indptr[end]], np.float64)
    cdef const double *mine
    cdef const int32_t[::1] stop = problem.pool.stop
    cdef bint entropic = problem.sums
    cdef Py_ssize_t i, c, count, size
    cdef double z
    with nogil:
        for i in range(begin, end):
            if stop[0]:
                break
            size = structure.size_of(i)
            mine = &part[indptr[i] - indptr[begin]] if size else NULL
            z = structure.exp(i, mine, work.scratch, work.mean)
            gains[i] = z - vector.dot(size, mine, work.mean) if entropic else 0.0
            if loss is not None:
                gains[i] += loss.expected(i, work.mean)
            for c in range(size):
                work.mean[c] = -work.mean[c]
            count = structure.parts(i, structure.gold(i), work.ids, work.counts)
            for c in range(count):
                work.mean[work.ids[c]] += work.counts[c]
            total.put(chunk, i, work.mean)
