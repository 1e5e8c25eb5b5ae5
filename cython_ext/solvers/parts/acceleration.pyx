"""Acceleration of a dual block method by an outer proximal-point loop with extrapolation (Catalyst; Lin, Mairal and
Harchaoui 2015, Pillutla et al. 2018, Algorithm 1).

The inner problem is P(w) + kappa/2 ||w - z||^2. Its dual has the same variables alpha, and its primal point is
w = (u + kappa z) / (lambda + kappa) with u = 1/n sum_i E_alpha_i[psi_i]: when z moves, w moves by
kappa / (lambda + kappa) of it and the duals stay. The dual point of the problem itself is read off the same duals,
w(alpha) = u / lambda, so its certificate is exact at any time, whatever this class decides. An outer step is one
pass of the inner method; z is then extrapolated, z = w + beta (w - w of the step before), beta = (1 - sqrt q) /
(1 + sqrt q), q = lambda / (lambda + kappa). The first step after a change of direction has no momentum.

What decides the speed is kappa. Too small, and the inner problem is as hard as the problem itself; too large, and
one pass does not solve it well enough for the extrapolation. Both show in how much one pass brings down the sum of
the block gaps, which the passes measure for free: every few steps a second pass is made around the same z, and kappa
is changed so that this contraction becomes WANTED_CONTRACTION (which was near the best on sequences and on images, at
lambda from 0.1/n to 100/n). It begins with kappa = 0, and there it stays where the plain method is that fast. The dual
bound of the problem itself need not rise in every step; if it has not for as many steps as the momentum remembers,
about 1 / sqrt q, kappa is too large all the same: it shrinks, and may grow back only slowly (a large kappa shrinks a
little at every fall). With kappa = 0 this is the plain method, whose dual never falls.
"""

import numpy as np

from libc.math cimport sqrt

from cython_ext.kernels.vectors cimport vector
from cython_ext.common.arrays import aligned_zeros

WANTED_CONTRACTION = 0.7
LARGE_KAPPA = 10.0          # in units of lambda, from which a single fall of the dual counts
KAPPA_AFTER_FALL = 0.93     # in units of kappa before it,
KAPPA_WHEN_STUCK = 0.7      # and after STUCK_AFTER_STEPS / sqrt(q) steps without a better dual
STUCK_AFTER_STEPS = 4.0
CEILING_GROWTH = 1.05       # of the largest kappa allowed, otherwise
AVERAGE_WEIGHT = 0.2        # of the last iterate, in the running average


cdef class Acceleration:
    """problem: for its lambda and dimension; eager: keep the running average also before kappa > 0.

    The vectors are single precision: any center is as good as another, and every sum that must be exact is made of w in
    double precision and of the center as it is. The sweeps over memory give Euclidean products on the way; other ones
    are asked of the feature map."""

    def __init__(self, problem, eager=True):
        self.lam, self.features, self.euclidean = problem.lam, problem.features, problem.features.euclidean
        self.eager = eager
        self.kappa, self.ceiling = 0.0, np.inf
        cdef float[::1] center = aligned_zeros(problem.dim + 1, np.float32)
        cdef float[::1] before = aligned_zeros(problem.dim + 1, np.float32)
        cdef float[::1] mean = aligned_zeros(problem.dim + 1, np.float32)
        self.center, self.before, self.mean = center, before, mean
        self.center_data, self.before_data, self.mean_data = &center[0], &before[0], &mean[0]
        self.best_dual, self.dual_norm2 = -np.inf, 0.0
        self.next_probe = 0

    @property
    def averages(self):
        """Whether the running average has begun."""
        return self.passes > 0

    cdef bint idle(self):
        """Whether this is the plain method, and nothing has to be kept."""
        return self.kappa == 0 and not self.eager and not self.passes

    cpdef double regularisation(self):
        """lambda + kappa, the strong convexity of the inner problem."""
        return self.lam + self.kappa

    cdef double share(self):
        return self.kappa / (self.lam + self.kappa)

    def start(self, double[::1] w):
        """Begin at w = w(alpha): the center is there, so w is the primal point of the inner problem too."""
        np.asarray(self.center)[:len(w)] = w
        np.asarray(self.before)[:len(w)] = w
        np.asarray(self.mean)[:len(w)] = w
        # w = share center + (1 - share) w(alpha), the center being rounded
        cdef double share = self.share()
        vector.blend(len(w), 1.0 - share, &w[0], share, self.center_data)

    def end_pass(self, const double[::1] w):
        """After a pass: brings the average and ||w(alpha)||^2 up to date."""
        cdef double scale = self.regularisation() / self.lam
        if self.idle():
            self.dual_norm2 = self.features.inner(w, w)
            return
        # a mean of the first passes until there are 1 / AVERAGE_WEIGHT of them
        self.passes += 1
        self.dual_norm2 = scale * scale * vector.average(len(w), &w[0], self.center_data, self.share(), self.mean_data,
                                                         max(AVERAGE_WEIGHT, 1.0 / self.passes))
        if not self.euclidean:
            rest = np.asarray(w) - self.share() * np.asarray(self.center[:len(w)], np.float64)
            self.dual_norm2 = scale * scale * self.features.inner(rest, rest)

    def begin_pass(self, double[::1] w, double gap, double dual):
        """Before the next pass: an outer step, or none where the contraction is measured. gap: mean block gap of the
        last pass; dual: D(alpha) after it."""
        if dual > self.best_dual:
            self.best_dual, self.since_best = dual, 0
        else:
            self.since_best += 1
        if self.probing:
            self.probing = False
            self._adapt(w, gap / self.first_gap if self.first_gap > 0 else 1.0)
        elif self.steps >= self.next_probe and gap > 0:
            self.probing, self.first_gap = True, gap
            self.probes += 1
            self.next_probe = self.steps + min(2 + self.probes, 12)
            return
        self._limit(w)
        self._step(w)

    cdef _limit(self, double[::1] w):
        """A dual that is not the best so far: kappa shrinks."""
        cdef double factor = 1.0
        if self.since_best > 0 and self.kappa > LARGE_KAPPA * self.lam:
            factor = KAPPA_AFTER_FALL
        if self.since_best >= STUCK_AFTER_STEPS * sqrt(self.regularisation() / self.lam):
            factor, self.since_best = KAPPA_WHEN_STUCK, 0
        if factor == 1.0 or self.kappa == 0:
            self.ceiling *= CEILING_GROWTH
            return
        self.ceiling = factor * self.kappa
        self._set_kappa(w, self.ceiling if self.ceiling > 0.01 * self.lam else 0.0)

    cdef _step(self, double[::1] w):
        cdef double root = sqrt(self.lam / self.regularisation())
        cdef double beta = (1 - root) / (1 + root) if self.steps and self.uphill <= 0 else 0.0
        if self.idle():
            self.steps += 1                             # the center would become w, as it does in _set_kappa
            return
        end, center, before = (np.asarray(x)[:len(w)] for x in (w, self.center, self.before))
        uphill = None if self.euclidean else self.features.inner(center - end, end - before)
        product = vector.extrapolate(len(w), &w[0], self.center_data, self.before_data, self.share(), beta)
        self.uphill = product if uphill is None else uphill
        self.steps += 1

    cdef _adapt(self, double[::1] w, double contraction):
        """If one pass multiplies the gap by r, r / (1 - r) is about proportional to 1 / (lambda + kappa)."""
        cdef double r = min(max(contraction, 0.05), 0.95)
        cdef double factor = r / (1 - r) * (1 - WANTED_CONTRACTION) / WANTED_CONTRACTION
        cdef double limit = 4.0 if self.probes <= 3 or r > 0.9 else 2.0
        cdef double kappa = self.regularisation() * min(max(factor, 1.0 / limit), limit) - self.lam
        kappa = min(max(kappa, 0.0), self.ceiling)
        if kappa != self.kappa:
            self._set_kappa(w, kappa)

    cdef _set_kappa(self, double[::1] w, double kappa):
        """Another kappa around the same center: u = (lambda + kappa) w - kappa z stays. Without one so far, the center
        becomes w."""
        cdef double regularisation = self.lam + kappa
        if self.kappa == 0:
            np.asarray(self.center)[:len(w)] = w
            np.asarray(self.before)[:len(w)] = w
        vector.blend(len(w), self.regularisation() / regularisation, &w[0],
                     (kappa - self.kappa) / regularisation, self.center_data)
        self.kappa = kappa

    def state(self):
        return {
            'center': np.array(self.center), 'before': np.array(self.before), 'mean': np.array(self.mean),
            **{name: getattr(self, name) for name in NUMBERS},
        }

    def restore(self, state):
        np.asarray(self.center)[:], np.asarray(self.before)[:] = state['center'], state['before']
        np.asarray(self.mean)[:] = state['mean']
        self.kappa, self.ceiling, self.dual_norm2 = state['kappa'], state['ceiling'], state['dual_norm2']
        self.uphill, self.best_dual, self.first_gap = state['uphill'], state['best_dual'], state['first_gap']
        self.steps, self.passes, self.since_best = state['steps'], state['passes'], state['since_best']
        self.next_probe, self.probes, self.probing = state['next_probe'], state['probes'], state['probing']


NUMBERS = ('kappa', 'ceiling', 'dual_norm2', 'uphill', 'best_dual', 'first_gap', 'steps', 'passes', 'since_best',
           'next_probe', 'probes', 'probing')
