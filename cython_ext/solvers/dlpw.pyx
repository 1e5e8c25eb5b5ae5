"""Dual losses, primal weights (Meshi, Sontag, Jaakkola and Globerson 2010): the relaxed problem without linear programs.

    min_{w, delta}  lambda/2 ||w||^2 + 1/n sum_i (g_i(w, delta_i) - <w, Phi_i s(y_i)>)

is minimised by turns: a visit of example i lowers g_i by a few sweeps of block minimisation over its messages
(structures/messages.pyx), and takes a stochastic subgradient step in w, of size step / (lambda (n + t)), at what attains
g_i. With a smoothing, its maxima are softmaxes of that temperature (Hazan and Urtasun 2010).

Whatever w and delta are, the value bounds that of the relaxed problem at w from above. The dual point is the average of
what has attained g_i, begun at the right output, after it has been made to agree: with step 1 and beliefs that agree, w is
its w(alpha).
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from cython_ext.losses.loss cimport DecomposableLoss
from cython_ext.memory import aligned_zeros
from cython_ext.problem cimport Problem
from cython_ext.problem import Evaluation
from cython_ext.rng cimport shuffle
from cython_ext.solvers.options import Option, SolverInfo
from cython_ext.solvers.solver cimport Solver
from cython_ext.structures.decomposed cimport DecomposedStructure
from cython_ext.workspace cimport Workspace
from cython_ext.kernels cimport vector

cdef enum:
    RANGES = 16


cdef class DualLosses(Solver):
    """options: as OPTIONS below; seed: of the order of visits."""

    cdef DecomposedStructure structure
    cdef DecomposableLoss loss
    cdef Workspace work
    cdef readonly object v, messages, beliefs       # w = scale * v; of all examples; sums of their beliefs
    cdef double *v_data
    cdef double *message_data
    cdef double *belief_data
    cdef object part_begin_array, order_array
    cdef const int64_t *part_begin
    cdef int32_t *order
    cdef readonly double scale, step, smoothing
    cdef readonly Py_ssize_t sweeps, position
    cdef readonly int64_t t
    cdef uint64_t random
    cdef object known                               # (where the solver stood, dual value, dual point)

    def __init__(self, Problem problem not None, options, seed=0):
        if not isinstance(problem.structure, DecomposedStructure):
            raise ValueError(f'dlpw needs the messages oracle, which {problem.structure_name} lacks')
        if not isinstance(problem.objective.loss, DecomposableLoss):
            raise ValueError('dlpw needs a task loss that is a sum over parts')
        Solver.__init__(self, problem)
        self.structure, self.loss = problem.structure, problem.objective.loss
        self.work = Workspace(problem.structure)
        self.step, self.smoothing, self.sweeps = options['step'], options['smoothing'], options['sweeps']
        cdef double[::1] v = problem.features.zeros(), messages = self.structure.messages()[0]
        cdef int64_t[::1] begin = self.structure.part_indptr()
        cdef double[::1] beliefs = aligned_zeros(begin[problem.n] + 1)
        cdef int32_t[::1] order = np.zeros(problem.n, np.int32)
        self.v, self.v_data = np.asarray(v), &v[0] if len(v) else NULL
        self.messages, self.message_data = np.asarray(messages), &messages[0]
        self.beliefs, self.belief_data = np.asarray(beliefs), &beliefs[0]
        self.part_begin_array, self.part_begin = begin, &begin[0]
        self.order_array, self.order = np.asarray(order), &order[0]
        self.random = <uint64_t> (seed & 0xFFFFFFFFFFFFFFFF)
        self.scale, self.position = 1.0, -1

    def set_start(self, w):
        """Begin at w instead of 0."""
        self.v[:] = w

    def run_pass(self, int32_t[::1] stop):
        cdef Py_ssize_t q, n = self.problem.n
        if self.position < 0:
            self.position = 0
            for q in range(n):
                self.order[q] = <int32_t> q
            shuffle(&self.random, self.order, n)
        with nogil:
            for q in range(self.position, n):
                if stop[0]:
                    break
                self.visit(self.order[q], self.work)
                self.position = q + 1
        if self.position < n:
            return False
        vector.scale(self.problem.dim, self.scale, self.v_data)
        self.scale, self.position = 1.0, -1
        self.passes += 1
        return True

    cdef void look(self, Py_ssize_t i, double *messages, Py_ssize_t sweeps, double scale, Workspace work) noexcept nogil:
        """work.theta: the scores of example i with costs, reparameterised by messages that have been lowered."""
        cdef Py_ssize_t s
        self.problem.features.scores(i, self.v_data, work.theta)
        vector.scale(self.structure.size_of(i), scale, work.theta)
        self.loss.add_costs(i, 1.0, work.theta)
        self.structure.reparameterise(i, messages, work.theta)
        for s in range(sweeps):
            self.structure.descend(i, self.smoothing, messages, work.theta, work.scratch)

    cdef void visit(self, Py_ssize_t i, Workspace work) noexcept nogil:
        cdef Py_ssize_t c, count
        cdef double share
        self.look(i, self.message_data + self.structure.message_begin(i), self.sweeps, self.scale, work)
        self.structure.beliefs(i, work.theta, self.smoothing, work.mean)
        vector.axpy(self.structure.size_of(i), 1.0, work.mean, self.belief_data + self.part_begin[i])
        self.oracle_calls += 1
        self.t += 1
        share = self.step / (self.problem.n + self.t)
        self.scale *= max(1.0 - share, 1e-6)
        count = self.structure.parts(i, self.structure.gold(i), work.gold_ids, work.gold_counts)
        for c in range(count):
            work.mean[work.gold_ids[c]] -= work.gold_counts[c]
        self.problem.features.add(i, work.mean, -share / (self.problem.lam * self.scale), self.v_data)

    # ------------------------------------------------------------------------------------ what others ask for

    def candidates(self):
        return [('current', self.scale * self.v)]

    def evaluation(self):
        """g(w, delta), an upper bound of the problem's P(w), after one more sweep that is forgotten."""
        losses = np.empty(self.problem.n)
        parts = self.problem._parts(RANGES)
        self.problem.pool.map(self._bounds, [(losses, *part) for part in parts])
        w = self.scale * self.v
        return Evaluation(self.problem.lam / 2 * self.problem.features.inner(w, w) + losses.sum() / self.problem.n, losses)

    def _bounds(self, double[::1] losses, Py_ssize_t begin, Py_ssize_t end):
        """g_i less the score of the right output, of a range of examples."""
        cdef Workspace work = Workspace(self.structure)
        cdef Py_ssize_t i, c, count, first, longest = 0
        for i in range(begin, end):
            longest = max(longest, self.structure.message_begin(i + 1) - self.structure.message_begin(i))
        cdef double[::1] messages = np.empty(longest + 1)
        with nogil:
            for i in range(begin, end):
                first = self.structure.message_begin(i)
                memcpy(&messages[0], self.message_data + first, (self.structure.message_begin(i + 1) - first) * sizeof(double))
                self.look(i, &messages[0], 1, self.scale, work)
                losses[i] = self.structure.beliefs(i, work.theta, 0.0, work.mean)
                count = self.structure.parts(i, self.structure.gold(i), work.ids, work.counts)
                for c in range(count):              # messages cancel where factors agree
                    losses[i] -= work.theta[work.ids[c]] * work.counts[c]

    def dual_value(self):
        return self._best_dual()[0]

    def dual_point(self):
        return self._best_dual()[1]

    def _best_dual(self):
        """(value, dual point) of the best on the way from the right outputs to the averages."""
        place = self.passes, self.oracle_calls
        if self.known is None or self.known[0] != place:
            points, n = self._averages(), self.problem.n
            point = {'indptr': np.arange(n + 1), 'weights': np.ones(n), 'code_indptr': indptr_of(points),
                     'codes': np.concatenate(points)}
            value, w = self.problem.certify(point)
            curve = self.problem.lam * self.problem.features.inner(w, w)
            loss = value + curve / 2
            step = min(max(loss / curve, 0.0), 1.0) if curve > 0 else 1.0
            pairs = [code for i in range(n) for code in (self.structure.gold_code(i), points[i])]
            point = {'indptr': 2 * np.arange(n + 1), 'weights': np.tile([1.0 - step, step], n),
                     'code_indptr': indptr_of(pairs), 'codes': np.concatenate(pairs)}
            self.known = place, step * loss - step * step / 2 * curve, point
        return self.known[1:]

    def _averages(self):
        """For each example the code of the output that its average beliefs become when they are made to agree."""
        cdef Py_ssize_t i
        begin, points = self.part_begin_array, []
        for i in range(self.problem.n):
            mean = np.array(self.beliefs[begin[i]:begin[i + 1]])
            right = self.structure.statistics(i, self.structure.gold_code(i))
            mean += right                           # where it begins
            points.append(self.structure.agreeing_code(i, mean * (right.sum() / mean.sum())))
        return points

    def state(self):
        return {
            **Solver.state(self), 'v': self.v.copy(), 'messages': self.messages.copy(), 'beliefs': self.beliefs.copy(),
            'scale': self.scale, 't': self.t, 'order': self.order_array.copy(), 'position': self.position,
            'random': self.random,
        }

    def restore(self, state):
        Solver.restore(self, state)
        self.v[:], self.messages[:], self.beliefs[:] = state['v'], state['messages'], state['beliefs']
        self.order_array[:] = state['order']
        self.scale, self.t, self.position, self.random = state['scale'], state['t'], state['position'], state['random']


def indptr_of(codes):
    """Where each of some codes begins, int64[len(codes) + 1]."""
    return np.concatenate([[0], np.cumsum([len(code) for code in codes])]).astype(np.int64)


OPTIONS = {
    'step': Option(float, 1.0, 'size of the steps in w: step / (lambda (n + t)) after t visits', minimum=1e-6),
    'smoothing': Option(float, 0.0, 'temperature of softmaxes in the place of maxima; 0: maxima', minimum=0),
    'sweeps': Option(int, 3, 'sweeps over the messages of an example before its step in w', minimum=1),
}

INFO = SolverInfo(
    name='dlpw',
    summary='dual losses, primal weights: messages by block minimisation, weights by subgradient steps',
    oracle={'hinge': 'messages'},
    options=OPTIONS,
    certificate='g(w, delta) from above; averages of its beliefs, made to agree, from below',
    paper='Meshi et al. 2010; Meshi et al. 2015, section 6',
    make=DualLosses,
    decomposable=True,
    part_bytes=8,
)
