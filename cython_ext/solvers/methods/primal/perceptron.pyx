"""The averaged structured perceptron (Collins 2002; papers: Tsochantaridis et al. 2005, section 5.2).

Every example is decoded with the current weights; where the output y is wrong, w += phi(x_i, y_i) - phi(x_i, y). The
result is the average of the weights after every example of every pass. With e_l the change after the l-th example, the
average after t of them is w - 1/t sum_l (l - 1) e_l, so a second vector that takes the same sparse changes is
enough.

It minimises no objective: neither lambda nor the task loss has any influence, and the hinge loss is what its weights
are reported in. Its mistakes make a dual point all the same. In N passes example i is decoded N times; with
alpha_i(y) = tau/N times the number of times that y came out wrongly, and the rest of the weight on y_i,

    w(alpha) = tau w / (lambda n N)    and    D(alpha) = tau a - tau^2 q,

a the mean loss of the mistakes and q = ||w||^2 / (2 lambda n^2 N^2): the best tau in [0, 1] is known.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcmp

from cython_ext.common.prefixes import prefixed, stripped
from cython_ext.core.problem cimport Problem
from cython_ext.solvers.options import Option, SolverInfo
from cython_ext.solvers.solver cimport DONE, NO_ROOM, STOPPED, Solver, Visit
from cython_ext.solvers.visiting cimport VisitingSolver
from cython_ext.solvers.blocks.working_sets cimport WorkingSet, WorkingSets
from cython_ext.structures.workspace cimport Workspace


cdef class Perceptron(VisitingSolver):
    """options: as OPTIONS below; seed: of the order of visits. It has finished after a pass without a mistake."""

    minimises = False

    cdef WorkingSets sets                       # wrong outputs with how often each came; first y_i, weight 1
    cdef Workspace work
    cdef readonly object w, late                # w; sum_l (l - 1) e_l
    cdef double *w_data
    cdef double *late_data
    cdef readonly int64_t visits
    cdef readonly int64_t mistakes              # in the pass under way, or the last one
    cdef bint average, shuffled

    def __init__(self, Problem problem not None, options, seed=0):
        VisitingSolver.__init__(self, problem, seed)
        self.file_order()
        self.sets = WorkingSets(problem.structure)
        self.work = Workspace(problem.structure, None)
        cdef double[::1] w = problem.features.zeros(), late = problem.features.zeros()
        self.w, self.w_data = np.asarray(w), &w[0] if len(w) else NULL
        self.late, self.late_data = np.asarray(late), &late[0] if len(late) else NULL
        self.average, self.shuffled = options['average'], options['shuffle']

    def begin_pass(self, stop):
        self.mistakes = 0
        if self.shuffled:
            self.permute()
        return True

    def end_pass(self):
        self.finished = self.mistakes == 0

    cdef Visit visit(self, Py_ssize_t i) noexcept nogil:
        """Decodes one example and learns from a mistake."""
        cdef const int32_t *gold = self.problem.structure.gold(i)
        cdef int32_t *code = self.work.code
        cdef WorkingSet *s = self.sets.sets + i
        cdef Py_ssize_t place
        self.problem.features.scores(i, self.w_data, self.work.theta)
        self.problem.structure.max(i, self.work.theta, self.work.scratch, code)
        if self.problem.structure.stopped():
            return STOPPED
        if memcmp(code, gold, self.problem.structure.code_length(i) * sizeof(int32_t)) != 0:
            place = self.sets.find(i, code)
            if place < 0:
                place = self.sets.append(i, code, self.problem.objective.loss.value(i, code), 0.0)
                if place < 0:
                    return NO_ROOM
            s.weight[place] += 1.0
            self.add(i, gold, 1.0)
            self.add(i, code, -1.0)
            self.mistakes += 1
        self.visits += 1
        self.oracle_calls += 1
        return DONE

    cdef void add(self, Py_ssize_t i, const int32_t *code, double sign) noexcept nogil:
        """w += sign * phi(x_i, y), and the same in `late`."""
        cdef Py_ssize_t count = self.problem.structure.parts(i, code, self.work.ids, self.work.counts)
        self.problem.features.add_parts(i, count, self.work.ids, self.work.counts, sign, self.w_data)
        self.problem.features.add_parts(i, count, self.work.ids, self.work.counts, sign * self.visits, self.late_data)

    def iterates(self):
        if self.average and self.visits:
            return [('average', self.w - self.late / self.visits)]
        return [('current', self.w)]

    def _mistakes(self):
        """(N, tau, a, q) as above."""
        count = max(1, self.passes + (self.position > 0))
        loss = self.sets.mean_loss() / count
        curve = self.problem.features.inner(self.w, self.w) / (2 * self.problem.lam * (self.problem.n * count) ** 2.0)
        return count, min(1.0, loss / (2 * curve)) if curve > 0 else 1.0, loss, curve

    def dual_value(self):
        _, share, loss, curve = self._mistakes()
        return share * loss - share * share * curve

    def dual_point(self):
        count, share, _, _ = self._mistakes()
        point = self.sets.dual_point()
        weights, gold = point.weights, point.indptr[:self.problem.n]
        weights[gold] = 0
        weights *= share / count
        weights[gold] = np.maximum(1.0 - np.add.reduceat(weights, gold), 0.0)
        return point

    def state(self):
        return {
            **Solver.state(self), **prefixed('sets', self.sets.state()),
            'w': self.w.copy(), 'late': self.late.copy(), 'visits': self.visits, 'mistakes': self.mistakes,
            **self.pass_state(),
        }

    def restore(self, state):
        VisitingSolver.restore(self, state)
        self.sets.restore(stripped('sets', state))
        self.w[:], self.late[:] = state['w'], state['late']
        self.visits, self.mistakes = state['visits'], state['mistakes']


OPTIONS = {
    'average': Option(bool, True, 'the average of the weights after every example; false: the last weights'),
    'shuffle': Option(bool, True, 'another random order in each pass; false: the order of the data'),
}

INFO = SolverInfo(
    name='perceptron',
    summary='averaged perceptron: a baseline that minimises no objective and ends after a pass without a mistake',
    oracle={'hinge': 'max'},
    options=OPTIONS,
    certificate='its mistakes, as a distribution over outputs',
    paper='Collins 2002; Tsochantaridis et al. 2005, section 5.2',
    make=Perceptron,
    max_passes=10,
    kernels=True,
)
