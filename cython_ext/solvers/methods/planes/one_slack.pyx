"""Cutting planes with a single slack (Joachims, Finley and Yu 2009; what SVM-struct 3 ships).

    min lambda/2 ||w||^2 + xi    with    xi >= b_k - <w, g_k>    for every cut k,
    b_k = 1/n sum_i b(y_i^k),  g_k = 1/n sum_i c(y_i^k) psi_i(y_i^k)

A cut takes one output of every example. A pass asks the oracle for the most violated one; before that, cuts are made of
outputs that the oracle has given earlier, as long as they are violated by a good part of what the last pass was (the
cache). The dual, max sum_k beta_k b_k - 1/(2 lambda) ||sum_k beta_k g_k||^2 over distributions beta, is solved on the
inner products of the cuts by pairwise steps from where it stands, so it never falls. Cuts are held as outputs, not as
weight vectors: alpha_i(y) = sum of the beta of the cuts that take y.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcmp, memcpy

from cython_ext.duals.sparse import SparsePoint
from cython_ext.objectives.objective cimport MaxObjective
from cython_ext.common.prefixes import prefixed, stripped
from cython_ext.core.problem import Interrupted
from cython_ext.core.problem cimport Problem
from cython_ext.solvers.blocks import active_set
from cython_ext.solvers.options import Option, SolverInfo
from cython_ext.solvers.solver cimport Solver
from cython_ext.solvers.blocks.working_sets cimport WorkingSet, WorkingSets
from cython_ext.structures.workspace cimport Workspace

cdef enum:
    STEPS_PER_CUT = 100
    FORGET_AFTER_PASSES = 50    # a cut without weight
CACHED_CUT_GAP_SHARE = 0.5      # of the last gap, by which a cut from the cache has to be violated


cdef class OneSlack(Solver):
    """options: as OPTIONS below; nothing is random, seed is not used."""

    cdef MaxObjective objective
    cdef WorkingSets sets                   # the cache: outputs that the oracle has given lately
    cdef readonly object w, code_indptr, beta, bias, gram, used
    cdef readonly list cuts                 # codes of each, int32
    cdef readonly Py_ssize_t cache, rounds, round   # round: cuts from the cache in the pass under way
    cdef double gap, dual_now               # dual_now: D computed from the data, after the last cut
    cdef object last_estimate

    def __init__(self, Problem problem not None, options, seed=0):
        cdef Py_ssize_t i
        Solver.__init__(self, problem)
        self.objective = problem.objective
        self.cache, self.rounds = options['cache'], options['rounds']
        self.sets = WorkingSets(problem.structure)
        cdef int64_t[::1] indptr = np.zeros(problem.n + 1, np.int64)
        for i in range(problem.n):
            indptr[i + 1] = indptr[i] + problem.structure.code_length(i)
        self.code_indptr = np.asarray(indptr)
        self.w = problem.features.zeros()
        # the gold outputs are a cut of their own, with b = 0 and g = 0
        gold = np.zeros(int(indptr[problem.n]), np.int32)
        self._copy_gold(gold)
        self.cuts = [gold]
        self.beta, self.bias, self.gram = np.ones(1), np.zeros(1), np.zeros((1, 1))
        self.used = np.zeros(1, np.int64)
        self.gap = np.inf

    def _copy_gold(self, int32_t[::1] codes):
        cdef const int64_t[::1] indptr = self.code_indptr
        cdef Py_ssize_t i, length
        for i in range(self.problem.n):
            length = self.problem.structure.code_length(i)
            if length:
                memcpy(&codes[indptr[i]], self.problem.structure.gold(i), length * sizeof(int32_t))

    def run_pass(self, stop):
        problem = self.problem
        try:
            while self.round < self.rounds:
                self.round = self.round + 1 if self._cached_cut(stop) else self.rounds
            codes, losses = self._oracle(stop)
        except Interrupted:
            return False
        self.oracle_calls += problem.n
        self._remember(codes)
        primal = problem.lam / 2 * problem.features.inner(self.w, self.w) + losses.sum() / problem.n
        before = self._dual()
        self.gap = primal - before
        self._add(codes)
        self.last_estimate = primal, self._dual()
        self.passes += 1
        self.round = 0
        self._forget()
        self.finished = self.gap <= 1e-15 * abs(primal) or (self._dual() <= before and self.gap <= 1e-9 * abs(primal))
        return True

    def _cached_cut(self, stop):
        """Adds a cut of outputs from the cache, if it is violated enough; whether it was."""
        if self.passes == 0:
            return False
        codes, values = self._oracle(stop, cached=True)
        slack = max(0.0, (self.bias - self.gram @ self.beta / self.problem.lam).max())
        if values.sum() / self.problem.n - slack <= CACHED_CUT_GAP_SHARE * self.gap:
            return False
        before = self._dual()
        self._add(codes)
        return self._dual() > before

    # -------------------------------------------------------------------------------------------------- cuts

    def _oracle(self, stop, cached=False):
        """(codes, loss of each example): the most violated output of every example, of all or of the cache."""
        codes, losses = np.zeros(int(self.code_indptr[self.problem.n]) + 1, np.int32), np.empty(self.problem.n)
        parts = self.problem.chunks(16)
        self.problem.pool.map(self._outputs, [(codes, losses, stop, cached, *part) for part in parts])
        if stop[0]:
            raise Interrupted
        return codes[:len(codes) - 1], losses

    def _outputs(self, int32_t[::1] codes, double[::1] losses, const int32_t[::1] stop, bint cached, Py_ssize_t begin,
                 Py_ssize_t end):
        cdef Workspace work = Workspace(self.problem.structure, self.objective)
        cdef const double[::1] w = self.w
        cdef const int64_t[::1] indptr = self.code_indptr
        cdef Py_ssize_t i
        cdef double bias, scale
        with nogil:
            for i in range(begin, end):
                if stop[0]:
                    break
                self.problem.features.scores(i, &w[0], work.theta)
                if cached:
                    losses[i] = self.best_cached(i, work)
                else:
                    losses[i] = self.objective.loss_augmented_max(i, work.theta, work, work.code, &bias, &scale)
                memcpy(&codes[indptr[i]], work.code, self.problem.structure.code_length(i) * sizeof(int32_t))

    cdef double best_cached(self, Py_ssize_t i, Workspace work) noexcept nogil:
        """The most violated output of the cache, into work.code; its value."""
        cdef WorkingSet *s = self.sets.sets + i
        cdef Py_ssize_t j, length = self.problem.structure.code_length(i), best = 0
        cdef double gold = self.objective.gold_score(i, work.theta, work), value, top = -INFINITY
        for j in range(s.count):
            value = s.delta[j] + (1.0 if self.objective.plain else s.delta[j]) * (
                self.score(i, s.codes + j * length, work) - gold)
            if value > top:
                best, top = j, value
        memcpy(work.code, s.codes + best * length, length * sizeof(int32_t))
        return top

    cdef double score(self, Py_ssize_t i, const int32_t *code, Workspace work) noexcept nogil:
        """<theta, s(y)>."""
        cdef Py_ssize_t c, count = self.problem.structure.parts(i, code, work.ids, work.counts)
        cdef double total = 0.0
        for c in range(count):
            total += work.theta[work.ids[c]] * work.counts[c]
        return total

    def _remember(self, const int32_t[::1] codes):
        """Puts the outputs of a cut into the cache; the one that has been there longest makes room."""
        cdef const int64_t[::1] indptr = self.code_indptr
        cdef Py_ssize_t i, j, place, oldest, length
        cdef double bias, scale
        cdef const int32_t *code
        cdef int32_t nothing = 0
        cdef WorkingSet *s
        for i in range(self.problem.n):
            length, s = self.problem.structure.code_length(i), self.sets.sets + i
            code = &codes[indptr[i]] if length else &nothing
            place = self.sets.find(i, code)
            if place < 0:
                self.objective.terms(i, code, &bias, &scale)
                if s.count < self.cache + 1:
                    place = self.sets.append(i, code, bias, 0.0)
                    if place < 0:
                        raise MemoryError
                else:                                           # place 0 is the gold output
                    oldest = 1
                    for j in range(1, s.count):
                        if s.used[j] < s.used[oldest]:
                            oldest = j
                    place = oldest
                    self.sets.replace(i, place, code, bias)
            s.used[place] = self.passes

    def _add(self, codes):
        """Adds a cut, optimises beta, and brings w up to date."""
        problem = self.problem
        value, g = self._point([codes], [1.0]).certify(problem)
        g *= problem.lam
        count = len(self.cuts) + 1
        self.cuts.append(codes)
        products = self._products(g)
        bias = value + problem.features.inner(g, g) / (2 * problem.lam)     # D of this cut alone, without its norm
        gram = np.zeros((count, count))
        gram[:count - 1, :count - 1] = self.gram
        gram[count - 1, :] = gram[:, count - 1] = products
        self.gram, self.bias = gram, np.append(self.bias, bias)
        self.beta, self.used = np.append(self.beta, 0.0), np.append(self.used, self.passes)
        self._optimise()
        self.used[self.beta > 0] = self.passes
        self.dual_now, self.w = self._point(self.cuts, self.beta).certify(problem)

    def _optimise(self):
        """The best beta, by pairwise steps, or where these come to nothing by an active-set method."""
        if pairwise_ascent(self.beta, self.bias, self.gram, 1.0 / self.problem.lam):
            return
        before, paired = self._dual(), self.beta
        self.beta = active_set.solve(self.bias, self.gram / self.problem.lam, paired, np.zeros(len(paired), np.int64))
        if not self._dual() >= before:
            self.beta = paired

    def _products(self, g):
        """<g, g_k> for every cut, the last one included."""
        table = np.array(self.cuts, np.int32).reshape(len(self.cuts), len(self.cuts[0]))
        parts = self.problem.chunks(16)
        sums = self.problem.pool.map(self._product_sums, [(g, table, *part) for part in parts])
        return np.sum(sums, axis=0) / self.problem.n

    def _product_sums(self, const double[::1] g, const int32_t[:, ::1] table, Py_ssize_t begin, Py_ssize_t end):
        cdef Workspace work = Workspace(self.problem.structure, None)
        cdef const int64_t[::1] indptr = self.code_indptr
        cdef Py_ssize_t i, k, cuts = table.shape[0]
        cdef int32_t nothing = 0
        cdef double gold, bias, scale
        cdef const int32_t *code
        out = np.zeros(cuts)
        cdef double[::1] sums = out
        with nogil:
            for i in range(begin, end):
                self.problem.features.scores(i, &g[0], work.theta)
                gold = self.score(i, self.problem.structure.gold(i), work)
                for k in range(cuts):
                    code = &table[k, indptr[i]] if indptr[i + 1] > indptr[i] else &nothing
                    scale = 1.0
                    if not self.objective.plain:
                        self.objective.terms(i, code, &bias, &scale)
                    sums[k] += scale * (gold - self.score(i, code, work))
        return out

    def _forget(self):
        """Drops cuts that have had no weight for long."""
        keep = (self.beta > 0) | (self.used > self.passes - FORGET_AFTER_PASSES)
        keep[0] = True
        if keep.all():
            return
        self.cuts = [cut for cut, wanted in zip(self.cuts, keep) if wanted]
        self.beta, self.bias, self.used = self.beta[keep], self.bias[keep], self.used[keep]
        self.gram = np.ascontiguousarray(self.gram[keep][:, keep])

    def _dual(self):
        return float(self.beta @ self.bias - self.beta @ self.gram @ self.beta / (2 * self.problem.lam))

    def _point(self, cuts, weights):
        """The sparse dual point of some cuts: equal outputs of an example are one."""
        cdef Py_ssize_t i, j, k, o, first, length, n = self.problem.n
        active = [k for k in range(len(cuts)) if weights[k] > 0]
        cdef const int32_t[:, ::1] table = np.array([cuts[k] for k in active], np.int32).reshape(len(active), -1)
        cdef const double[::1] share = np.array([weights[k] for k in active])
        cdef const int64_t[::1] indptr = self.code_indptr
        starts = np.zeros(n + 1, np.int64)
        weight, chosen = np.zeros(n * len(active)), np.zeros(n * len(active), np.int32)
        cdef int64_t[::1] starts_view = starts
        cdef double[::1] weight_view = weight
        cdef int32_t[::1] chosen_view = chosen
        o = 0
        for i in range(n):
            first, length = o, indptr[i + 1] - indptr[i]
            for k in range(table.shape[0]):
                for j in range(first, o):
                    if length == 0 or memcmp(&table[k, indptr[i]], &table[chosen_view[j], indptr[i]],
                                             length * sizeof(int32_t)) == 0:
                        weight_view[j] += share[k]
                        break
                else:
                    weight_view[o], chosen_view[o] = share[k], <int32_t> k
                    o += 1
            starts_view[i + 1] = o
        owner = np.repeat(np.arange(n), np.diff(starts))
        lengths = np.diff(self.code_indptr)[owner]
        code_indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.repeat(self.code_indptr[owner] - code_indptr[:len(owner)], lengths) + np.arange(lengths.sum())
        codes = np.asarray(table)[np.repeat(chosen[:o], lengths), places]
        return SparsePoint(starts, weight[:o].copy(), code_indptr, codes)

    # --------------------------------------------------------------------------------------- what others ask for

    def iterates(self):
        return [('current', self.w)]

    def estimate(self):
        return self.last_estimate

    def dual_value(self):
        return self.dual_now

    def dual_point(self):
        return self._point(self.cuts, self.beta)

    def state(self):
        return {
            **Solver.state(self), **prefixed('cache', self.sets.state()),
            'w': self.w.copy(), 'cuts': np.array(self.cuts, np.int32).reshape(len(self.cuts), -1),
            'beta': self.beta.copy(), 'bias': self.bias.copy(), 'gram': self.gram.copy(), 'used': self.used.copy(),
            'gap': self.gap, 'dual_now': self.dual_now, 'round': self.round, 'estimate': list(self.last_estimate or ()),
        }

    def restore(self, state):
        Solver.restore(self, state)
        self.sets.restore(stripped('cache', state))
        self.w = np.array(state['w'])
        self.cuts = list(np.array(state['cuts']))
        self.beta, self.bias, self.gram = np.array(state['beta']), np.array(state['bias']), np.array(state['gram'])
        self.used, self.gap, self.round = np.array(state['used']), state['gap'], state['round']
        self.dual_now = state['dual_now']
        self.last_estimate = tuple(state['estimate']) or None


def pairwise_ascent(double[::1] beta, const double[::1] bias, const double[:, ::1] gram, double scale):
    """max beta'bias - scale/2 beta'gram beta over distributions beta, from the beta that is there: weight moves from
    the cut with the least slope that has some to the one with the steepest. False if that did not end."""
    cdef Py_ssize_t k, up, down, count = len(beta)
    cdef double[::1] slope = np.asarray(bias) - scale * (np.asarray(gram) @ np.asarray(beta))
    cdef double gain, curve, step, first = 0.0
    cdef int64_t steps
    cdef bint ended = False
    with nogil:
        for steps in range(<int64_t> STEPS_PER_CUT * count):
            up, down = 0, -1
            for k in range(count):
                if slope[k] > slope[up]:
                    up = k
                if beta[k] > 0 and (down < 0 or slope[k] < slope[down]):
                    down = k
            gain = slope[up] - slope[down]
            if steps == 0:
                first = gain
            if gain <= 1e-6 * first or up == down:
                ended = True
                break
            curve = scale * (gram[up, up] + gram[down, down] - 2 * gram[up, down])
            step = beta[down]
            if curve > 0 and gain < step * curve:
                step = gain / curve
            beta[up] += step
            beta[down] = beta[down] - step if step < beta[down] else 0.0
            for k in range(count):
                slope[k] -= step * scale * (gram[k, up] - gram[k, down])
    return ended


OPTIONS = {
    'cache': Option(int, 5, 'outputs of each example that cuts are made of without the oracle', minimum=1,
                    maximum=1000),
    'rounds': Option(int, 5, 'most cuts from the cache between two passes; 0: none', minimum=0, maximum=1000),
}

INFO = SolverInfo(
    name='one-slack',
    summary='cutting planes with a single slack and cached constraints',
    oracle={'hinge': 'max'},
    options=OPTIONS,
    certificate='its own dual point',
    paper='Joachims, Finley and Yu 2009',
    make=OneSlack,
    kernels=True,
    variants=('slack',),
)
