"""Excessive gap reduction with Bregman projections for the hinge (Zhang, Saha and Vishwanathan 2011, Algorithms 1, 2).

With d(alpha) = 1/n sum_i KL(alpha_i || uniform) the smoothed objective J_mu(w) = lambda/2 ||w||^2 + 1/n sum_i mu (log
sum_y exp((Delta - <w, psi_i(y)>) / mu) - log |Y_i|) is within mu D of P, D = 1/n sum_i log |Y_i|. The iterates keep

    J_mu(w) <= D(alpha),    and so P(w) - D(alpha) <= mu D,

while mu falls: beta being the softmax of the scores at w with temperature mu (the maximiser in J_mu),

    w'     = (1 - tau) w + tau w((1 - tau) alpha + tau beta)
    mu'    = (1 - tau) mu
    alpha' = (1 - tau) alpha + tau beta',    beta' the softmax at w' with temperature mu'.

The paper's prox-mapping is this beta': its exponent ((Delta + theta(w)) + tau / (1 - tau) (Delta + theta(w(hat
alpha)))) / mu is (Delta + theta(w')) / mu'. So an iteration takes one oracle pass, and beta' is there for the next one.

alpha is a mixture of all these softmaxes, but everything here is linear in it: it is held as w(alpha) and its expected
loss. Only where an output is a single part can it be stored, as the probability of each. What a model can prove
otherwise is D(beta), of a dual point that is its weights and mu; near the optimum it is mostly the higher one of the
two. The step is safe when tau^2 M <= (1 - tau) mu for an M with

    lambda/2 ||w(beta') - w(beta)||^2 <= M KL(beta' || beta).

M = L = max ||psi_i(y)||^2 / lambda always has this property, and tau = 2 / (k + 3) with mu = L at first is the paper's
rate, P(w_k) - D(alpha_k) <= 6 D L / ((k + 1)(k + 2)). The adaptive variant tries a much smaller M, tests the property
on the beta' that it gives and repeats the step with a larger one where it fails. What has been reached is not touched
by that: M is in tau only, J_mu(w) <= D(alpha) does not mention it.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from cython_ext.duals.natural import NaturalPoint
from cython_ext.features.accumulators cimport Accumulator
from cython_ext.losses.loss cimport DecomposableLoss
from cython_ext.common.parallel import even_ranges
from cython_ext.core.problem import Interrupted
from cython_ext.core.problem cimport Problem
from cython_ext.solvers.parts.radius import largest_difference2
from cython_ext.solvers.options import Option, SolverInfo
from cython_ext.solvers.solver cimport Solver
from cython_ext.structures.structure cimport SummedStructure
from cython_ext.structures.workspace cimport Workspace
from cython_ext.kernels.vectors cimport vector

FIRST_M = 1e-3                  # of the adaptive variant, in units of L
M_DECAY = 0.9                   # after a step
TERM_ROUNDING = 1e-15                # of the numbers that a difference is made of
LEAST_PARAMETER = -1e5          # the natural one of a part without probability


cdef class ExcessiveGap(Solver):
    """options: as OPTIONS below; there is nothing random, seed is not used."""

    cdef DecomposableLoss loss
    cdef bint adaptive
    cdef Accumulator sums
    cdef object loss_values, log_sums               # E[Delta] and log sum_y exp(...) of every example, of the last pass
    cdef readonly object w, mixed, soft             # w_k, w(alpha_k), w(beta_k)
    cdef object next_w, next_soft                   # of a step that is tried
    cdef readonly object products                   # their inner products, [3, 3]
    cdef readonly double mu, lipschitz, constant    # mu_k, L, M
    cdef readonly double mean_log_outputs           # D
    cdef readonly double log_sum                    # mean of log sum_y exp((Delta - <w_k, psi_i(y)>) / mu_k)
    cdef readonly double mixed_loss, soft_loss      # mean of E[Delta] under alpha_k and beta_k
    cdef readonly bint keeps_dual                   # an output is a single part
    cdef object indptr, shares, next_shares         # probabilities of the parts of all examples: alpha_k, beta_k + 1
    cdef const int64_t *start
    cdef double *next_share                         # NULL where they are not kept

    def __init__(self, Problem problem not None, options, seed=0):
        Solver.__init__(self, problem)
        self.loss = problem.objective.loss
        self.adaptive = options['adaptive']
        self.w, self.mixed, self.soft = (problem.features.zeros() for _ in range(3))
        self.products = np.zeros((3, 3))
        self.mu = self.lipschitz = self.constant = self.mean_log_outputs = self.log_sum = 0.0
        self.mixed_loss = self.soft_loss = 0.0
        self.keeps_dual = problem.structure.max_parts == 1
        self._make_shares()

    def _make_shares(self):
        cdef const int64_t[::1] indptr = self.problem.structure.part_indptr()
        cdef Py_ssize_t size = indptr[self.problem.n] if self.keeps_dual else 0
        self.indptr, self.start = np.asarray(indptr), &indptr[0]
        self.shares, self.next_shares = np.zeros(size + 1), np.zeros(size + 1)
        cdef double[::1] view = self.next_shares
        self.next_share = &view[0] if self.keeps_dual else NULL

    def run_pass(self, stop):
        self._make_room()
        try:
            if self.passes == 0:
                self._start(stop)
            else:
                self._step(stop)
        except Interrupted:
            return False
        self.passes += 1
        largest = max(abs(self._smoothed()), abs(self.dual_value()))
        self.finished = self.mu * self.mean_log_outputs <= TERM_ROUNDING * largest
        return True

    def _make_room(self):
        if self.sums is None:
            self.sums = self.problem.accumulator()
            self.loss_values, self.log_sums = np.empty(self.problem.n), np.empty(self.problem.n)
            self.next_w, self.next_soft = self.problem.features.zeros(), self.problem.features.zeros()

    def _start(self, stop):
        """w_1 = w(uniform distributions), alpha_1 = beta_1."""
        cdef double log_outputs, lipschitz, constant
        log_outputs, _ = self._expectations(self.next_w, 0.0, self.next_w, stop)
        lipschitz = largest_difference2(self.problem, self.log_sums, stop) / self.problem.lam
        constant = lipschitz * FIRST_M if self.adaptive else lipschitz
        inner, calls, w, soft = self.problem.features.inner, self.problem.n, self.next_w, self.next_soft
        while True:
            log_sum, loss = self._expectations(w, 1.0 / constant if constant > 0 else 0.0, soft, stop)
            calls += self.problem.n
            products = np.array([[inner(w, w), inner(w, soft)], [0.0, inner(soft, soft)]])
            ww, ws, ss = products[0, 0], products[0, 1], products[1, 1]
            if not self.adaptive or constant >= lipschitz:
                break
            terms = np.array([(loss - self.problem.lam * ws) / constant, -log_sum, log_outputs])
            larger = self._larger_constant(constant, [ss, -2 * ws, ww], terms)
            if larger == constant:
                break
            constant = min(larger, lipschitz)
        self.w, self.soft, self.next_w, self.next_soft = w, soft, self.w, self.soft
        self.mixed[:] = soft
        self.shares[:] = self.next_shares
        self.products = np.array([[ww, ws, ws], [ws, ss, ss], [ws, ss, ss]])
        self.lipschitz, self.mu, self.mean_log_outputs, self.log_sum = lipschitz, constant, log_outputs, log_sum
        self.constant = M_DECAY * constant
        self.mixed_loss = self.soft_loss = loss
        self.oracle_calls += calls

    def _step(self, stop):
        """k -> k + 1."""
        inner, lam, calls, constant = self.problem.features.inner, self.problem.lam, 0, self.constant
        while True:
            tau = self._share(constant)
            mu = (1.0 - tau) * self.mu
            w_of = np.array([1.0 - tau, tau * (1.0 - tau), tau * tau, 0.0])
            self._mix(w_of, [self.w, self.mixed, self.soft], self.next_w)
            log_sum, loss = self._expectations(self.next_w, 1.0 / mu if mu > 0 else 0.0, self.next_soft, stop)
            calls += self.problem.n
            every = np.zeros((4, 4))
            every[:3, :3] = self.products
            every[3] = every[:, 3] = [inner(x, self.next_soft) for x in (self.w, self.mixed, self.soft, self.next_soft)]
            if not self.adaptive or constant >= self.lipschitz:
                break
            terms = [(loss - lam * (w_of @ every[3])) / mu, -(loss - lam * every[0, 3]) / self.mu]
            terms += [-log_sum, self.log_sum]
            larger = self._larger_constant(constant, [every[3, 3], -2 * every[2, 3], every[2, 2]], terms)
            if larger == constant:
                break
            constant = min(larger, self.lipschitz)
        change = np.array([w_of, [0.0, 1.0 - tau, 0.0, tau], [0.0, 0.0, 0.0, 1.0]])
        self.products = change @ every @ change.T
        self._mix([1.0 - tau, tau], [self.mixed, self.next_soft], self.mixed)
        self.shares *= 1.0 - tau
        self.next_shares *= tau                             # the next pass writes them anew
        self.shares += self.next_shares
        self.w, self.next_w = self.next_w, self.w
        self.soft, self.next_soft = self.next_soft, self.soft
        self.mu, self.log_sum, self.soft_loss = mu, log_sum, loss
        self.mixed_loss = (1.0 - tau) * self.mixed_loss + tau * loss
        self.constant = M_DECAY * constant
        self.oracle_calls += calls

    def _share(self, double constant):
        """tau of a step: the paper's, or the largest that the constant allows."""
        if not self.adaptive:
            return 2.0 / (self.passes + 3)
        return 2.0 / (1.0 + np.sqrt(1.0 + 4.0 * constant / self.mu))

    def _larger_constant(self, double constant, squares, terms):
        """constant itself where lambda/2 ||w(beta') - w(beta)||^2 <= constant KL(beta' || beta), up to the rounding of
        the sums that both sides are; otherwise a larger one to try. squares: terms of the squared norm; terms: of the
        divergence."""
        cdef double half = self.problem.lam / 2, distance2 = half * np.sum(squares), divergence = np.sum(terms)
        cdef double blur2 = TERM_ROUNDING * half * np.sum(np.abs(squares)), blur = TERM_ROUNDING * np.sum(np.abs(terms))
        if distance2 - blur2 <= constant * (divergence + blur):
            return constant
        return max(2.0 * constant, distance2 / max(divergence, blur))

    def _expectations(self, w, double inverse, out, stop):
        """With beta_i the softmax of (Delta - <w, psi_i(y)>) * inverse: (mean of its log-partition function, mean of
        E[Delta]); writes w(beta) to out, which may be w."""
        sums = self.sums
        sums.clear(self.problem.pool)
        self.problem.sweep(self._soften, w, inverse, stop, total=sums)
        if stop[0]:
            raise Interrupted
        sums.total(out, self.problem.pool)
        self._mix([1.0 / (self.problem.lam * self.problem.n)], [out], out)
        return self.log_sums.sum() / self.problem.n, self.loss_values.sum() / self.problem.n

    def _soften(self, const double[::1] w, double inverse, const int32_t[::1] stop, Accumulator total, Py_ssize_t chunk,
                Py_ssize_t begin, Py_ssize_t end):
        """_expectations of a range of examples."""
        cdef Problem problem = self.problem
        cdef SummedStructure structure = problem.structure
        cdef Workspace work = Workspace(structure, None)
        cdef double[::1] losses = self.loss_values, log_sums = self.log_sums
        cdef Py_ssize_t i
        cdef double gold
        with nogil:
            for i in range(begin, end):
                if stop[0]:
                    break
                problem.features.scores(i, &w[0], work.theta)
                gold = problem.objective.gold_score(i, work.theta, work)
                self.loss.add_costs(i, 1.0, work.theta)
                vector.scale(structure.num_parts(i), inverse, work.theta)
                log_sums[i] = structure.log_partition(i, work.theta, work.scratch, work.mean) - inverse * gold
                losses[i] = self.loss.expected(i, work.mean)
                if self.next_share != NULL:
                    memcpy(self.next_share + self.start[i], work.mean, structure.num_parts(i) * sizeof(double))
                problem.put_expected(total, chunk, i, work)

    def _mix(self, shares, vectors, out):
        """out = sum of shares * vectors, at most three."""
        three = [x for pair in [*zip(shares, vectors), *[(0.0, out)] * 3][:3] for x in pair]
        parts = even_ranges(self.problem.dim, min(4 * self.problem.pool.threads, 1 + self.problem.dim // 4096))
        self.problem.pool.map(_mix_range, [(*three, out, *part) for part in parts])

    def _smoothed(self):
        """J_mu(w_k)."""
        return self.problem.lam / 2 * self.products[0, 0] + self.mu * (self.log_sum - self.mean_log_outputs)

    def smoothed_value(self):
        """J_mu(w_k), which is not above D(alpha_k)."""
        return float(self._smoothed())

    def iterates(self):
        return [('current', self.w)]

    @property
    def temperature(self):
        """mu: beta_k is a dual point too."""
        return self.mu if self.mu > 0 else 1.0

    def estimate(self):
        """The primal with the expected instead of the largest loss of every example: somewhat too low."""
        if self.passes == 0:
            return None
        return self._softened_primal(), self.dual_value()

    def _softened_primal(self):
        return float(self.problem.lam * (self.products[0, 0] / 2 - self.products[0, 2]) + self.soft_loss)

    def dual_value(self):
        """D(alpha_k); before the first pass that of the gold outputs, 0."""
        return float(self.mixed_loss - self.problem.lam / 2 * self.products[1, 1])

    def dual_point(self):
        """The natural parameters of alpha_k, where they are kept."""
        if not self.keeps_dual:
            return None
        with np.errstate(divide='ignore'):
            theta = np.log(self.shares[:int(self.indptr[self.problem.n])])
            theta = np.maximum(theta, LEAST_PARAMETER).astype(np.float32)
        return NaturalPoint(self.indptr.copy(), theta)

    def state(self):
        return {
            **Solver.state(self), 'shares': self.shares.copy(),
            'w': self.w.copy(), 'mixed': self.mixed.copy(), 'soft': self.soft.copy(), 'products': self.products.copy(),
            'mu': self.mu, 'lipschitz': self.lipschitz, 'constant': self.constant, 'log_sum': float(self.log_sum),
            'mean_log_outputs': self.mean_log_outputs, 'mixed_loss': self.mixed_loss, 'soft_loss': self.soft_loss,
        }

    def restore(self, state):
        Solver.restore(self, state)
        self.shares[:] = state['shares']
        self.w[:], self.mixed[:], self.soft[:] = state['w'], state['mixed'], state['soft']
        self.products[:] = state['products']
        self.mu, self.lipschitz, self.constant = state['mu'], state['lipschitz'], state['constant']
        self.log_sum, self.mean_log_outputs = state['log_sum'], state['mean_log_outputs']
        self.mixed_loss, self.soft_loss = state['mixed_loss'], state['soft_loss']


def _mix_range(double a, const double[::1] x, double b, const double[::1] y, double c, const double[::1] z,
               double[::1] out, Py_ssize_t begin, Py_ssize_t end):
    """out = a x + b y + c z between begin and end; out may be one of them."""
    cdef Py_ssize_t j
    with nogil:
        for j in range(begin, end):
            out[j] = a * x[j] + b * y[j] + c * z[j]


OPTIONS = {
    'adaptive': Option(bool, False, 'try long steps and repeat those that turn out too long, instead of steps that are '
                                    'short enough whatever the data'),
}

INFO = SolverInfo(
    name='excessive-gap',
    summary='excessive gap reduction with Bregman projections; see --set adaptive=true',
    oracle={'hinge': 'exp'},
    options=OPTIONS,
    certificate='softmax of the scores at temperature mu; for classes the mixture of those of all passes',
    paper='Zhang, Saha and Vishwanathan 2011, Algorithm 2',
    make=ExcessiveGap,
    kernels=True,
    decomposable=True,
)
