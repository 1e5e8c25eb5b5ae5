"""The dual over the working sets of all examples at once, where that is a small program.

n D(alpha) = sum_j alpha_j b_j - 1/2 sum_jk alpha_j alpha_k H_jk,    H_jk = <c_j psi_j, c_k psi_k> / (lambda n) + ridge

with the ridge only where j and k are outputs of one example. Steps within one example after another, each exact, hardly
move where large inner products tie the examples together; active_set.py solves the program whatever these are.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from cython_ext.solvers.blocks import active_set
from cython_ext.solvers.blocks.block_dual cimport BlockDual
from cython_ext.solvers.blocks.working_sets cimport WorkingSet


def size(BlockDual block not None):
    """Outputs of examples that have a choice."""
    cdef Py_ssize_t i, total = 0
    for i in range(block.problem.n):
        if block.sets.sets[i].count > 1:
            total += block.sets.sets[i].count
    return total


def maximise(BlockDual block not None, const int32_t[::1] stop):
    """Gives the outputs the weights that are best, if better than theirs, and w = w(alpha). False if it was stopped,
    and then nothing has changed."""
    problem, objective = block.problem, block.objective
    outputs = _outputs(block)
    owner, before = outputs[0], outputs[2]
    hessian = _products(block, outputs[0], outputs[1], stop)
    if hessian is None:
        return False
    hessian /= problem.lam * problem.n
    if objective.ridge > 0:
        hessian += objective.ridge * (owner[:, None] == owner)
    groups = None if objective.free_mass else np.unique(owner, return_inverse=True)[1].reshape(-1)
    weights = active_set.solve(outputs[3], hessian, before, groups, stop)
    if weights is None:
        return False
    value, _ = block.sets.dual_point().certify(problem)
    _give(block, outputs, weights)
    better, w = block.sets.dual_point().certify(problem)
    if not better > value:
        _give(block, outputs, before)
        better, w = block.sets.dual_point().certify(problem)
    block.w[:] = w
    return True


def _outputs(BlockDual block):
    """(example, place in its working set, weight, b) of every output, arrays; with free mass the gold outputs are left
    out."""
    cdef Py_ssize_t i, j
    cdef WorkingSet *s
    rows = []
    for i in range(block.problem.n):
        s = block.sets.sets + i
        mass = 1.0 if block.objective.free_mass else sum(s.weight[j] for j in range(s.count))
        for j in range(1 if block.objective.free_mass else 0, s.count):
            if s.count > 1:
                rows.append((i, j, s.weight[j] / mass, s.delta[j]))
    columns = np.array(rows).T.reshape(4, -1)
    return columns[0].astype(np.int64), columns[1].astype(np.int64), columns[2].copy(), columns[3].copy()


def _give(BlockDual block, outputs, const double[::1] weights):
    cdef const int64_t[::1] owner = outputs[0], places = outputs[1]
    cdef Py_ssize_t o
    for o in range(len(weights)):
        block.sets.sets[owner[o]].weight[places[o]] = weights[o]


def _products(BlockDual block, const int64_t[::1] owner, const int64_t[::1] places, const int32_t[::1] stop):
    """<c psi, c psi'> of all pairs of outputs; None if it was stopped."""
    cdef Py_ssize_t o, p, count, m = len(owner), i, length, last
    cdef double factor, gold = 0.0
    cdef WorkingSet *s
    vector, table = block.problem.features.zeros(), np.zeros((m, m))
    cdef double[::1] g = vector
    cdef double[:, ::1] products = table
    for o in range(m):
        if stop[0]:
            return None
        i, s = owner[o], block.sets.sets + owner[o]
        length, factor = block.problem.structure.code_length(i), block.factor(s.delta[places[o]])
        count = block.collect(i, s.codes + places[o] * length, -factor, 0)
        count = block.compress(block.collect(i, block.problem.structure.gold(i), factor, count))
        vector[:] = 0
        with nogil:
            block.problem.features.add_parts(i, count, block.ids, block.amounts, 1.0, &g[0])
            last = -1
            for p in range(m):
                i, s = owner[p], block.sets.sets + owner[p]
                if i != last:
                    block.problem.features.scores(i, &g[0], block.work.theta)
                    gold = block.objective.gold_score(i, block.work.theta, block.work)
                    last = i
                products[o, p] = block.factor(s.delta[places[p]]) * (gold - score(block, i, s, places[p]))
    return (table + table.T) / 2


cdef double score(BlockDual block, Py_ssize_t i, WorkingSet *s, Py_ssize_t j) noexcept nogil:
    """<theta, s(y)> of an output in a working set."""
    cdef Py_ssize_t c, length = block.problem.structure.code_length(i)
    cdef Py_ssize_t count = block.problem.structure.parts(i, s.codes + j * length, block.work.ids,
                                                          block.work.counts)
    cdef double total = 0.0
    for c in range(count):
        total += block.work.theta[block.work.ids[c]] * block.work.counts[c]
    return total
