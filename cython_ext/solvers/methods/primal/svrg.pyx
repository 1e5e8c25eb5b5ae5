"""Stochastic variance-reduced gradient descent on the smoothed objective (Johnson and Zhang 2013; Pillutla et al. 2018,
sections 2 and 4), also with a proximal term kappa/2 ||w - z||^2, as sc-svrg needs it.

A pass is a full gradient at an anchor and one step for each example, in random order:

    w <- w - step (Phi_i (E_u[s](w) - E_u[s](anchor)) + G + lambda w + kappa (w - z))

with G the gradient of the mean loss at the anchor. The dense terms are handled lazily. With rho = lambda + kappa and
fixed = (kappa z - G) / rho, the point that they pull to, the step is

    w - fixed <- (1 - step rho) (w - fixed) - step Phi_i (...)

so w is held as fixed + scale * change, and a step costs what its example's features cost.

The result of a pass is the mean of some iterates from its second half: they are noisy, and the dual point of noisy
weights, where the whole gradient is not small, is a bad one. The step size looks after itself. What the pass brings can
be read off it: F(w) - F(anchor) = mean of the Bregman divergences of the losses, which the visits give for free, +
rho/2 (||w - fixed||^2 - ||anchor - fixed||^2). If that is well above what the first quarter of the pass had brought,
the steps could be longer; if it is below, noise has taken over. That is an estimate, which a few examples can fool for
long; the smoothed objective at the anchors is known exactly, and where it has risen the pass is given up: back to the
lowest anchor, with half the step. With adapt=false the step is fixed, as in the paper, whatever mu does.

At an anchor u is a dual point, and with that a plane below P. No single one is good while mu is not tiny, nor those at
a tiny mu, where the steps are short and the whole gradient is not small: the dual point is the best mixture of those of
the last passes (blocks/bundle.py). It bounds the optimum so well that mu can be lowered as soon as the smoothed
objective at the anchor is above the bound by little more than its smoothing error. For the log losses, which nothing
smooths, the softmax at the anchor is the dual point.

The mixture has weights too. Where the smoothed objective is lower there than at the result of a pass they are the next
anchor, so variance reduction works from where the planes meet, and few outputs, or a max oracle that does not smooth at
all, are no obstacle: where two outputs tie, as they do at the optimum, E_u[s] jumps from one to the other however near
w is to the anchor, and steps alone would have to shrink like those of a subgradient method. Looking there takes a
further pass over the data; where it came to nothing, the next look is twice as many passes away. With adapt=false
nobody looks.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from cython_ext.common.prefixes import prefixed, stripped
from cython_ext.features.accumulators cimport Accumulator
from cython_ext.kernels.vectors cimport vector
from cython_ext.objectives.smoothed cimport SmoothedWorkspace
from cython_ext.objectives.smoothed import smoothed_loss
from cython_ext.core.problem cimport Problem
from cython_ext.duals.mixture import MixturePoint
from cython_ext.duals.scores import ScoresPoint
from cython_ext.duals.sparse import SparsePoint
from cython_ext.solvers.blocks.bundle import Bundle
from cython_ext.solvers.blocks.listed_outputs cimport ListedOutputs
from cython_ext.solvers.blocks.listed_outputs import mixture
from cython_ext.solvers.blocks.working_sets import WorkingSets
from cython_ext.solvers.parts.radius import largest_gold_norm2
from cython_ext.solvers.parts.first_step import best_first_step
from cython_ext.solvers.options import Option, SolverInfo
from cython_ext.solvers.solver cimport DONE, STOPPED, Solver, Visit
from cython_ext.solvers.visiting cimport VisitingSolver

STORED_BYTES = 1 << 29          # up to which the statistics at the anchor are kept
FIRST_STEP_EXAMPLES = 1000      # on which the first step size is chosen
cdef double NEGLIGIBLE_CHANGE = 1e-7    # of a statistic, which are held in single precision
SOLVED_ERROR = 0.2              # of the optimisation, relative to the smoothing error, at which mu is lowered,
SOLVED_BOUND = 1.5              # and its bound from the whole gradient;
SOLVED_EXCESS = 1.0             # or its bound from the mixture, where there is one
LONGEST_WAIT = 16               # passes between two looks at the weights of the mixture, and one of so many more
WAIT_EXAMPLES = 100             # examples at most: the steps of few bring little
# With less than NOISY_PROGRESS times the progress of a pass's first quarter the steps were too long, with more than
# STEADY_PROGRESS times that too short.
NOISY_PROGRESS, STEADY_PROGRESS = 0.8, 1.4
SHORTER_STEP, LONGER_STEP = 0.7, 1.25   # factors
SHORTEST_STEP = 0.03125         # in units of mu / ||Phi_i s(y_i)||^2: it is short enough for any output
LEAST_MU = 1e-4                 # relative to the first one
STUCK_AFTER_PASSES = 10         # in which the smoothed objective has not come down by
LEAST_DECREASE = 1e-3           # of its smoothing error
cdef double LONGEST_STEP = 0.999        # of that which would end at the minimum of the quadratic terms
GIVE_UP_RISE = 0.01             # of the smoothed objective, relative, after which a pass is given up
NO_PROGRESS = 1e-13                # progress, relative to the objective, that is none


cdef class Svrg(VisitingSolver):
    """options: as OPTIONS below; seed: of the order of visits."""

    def __init__(self, Problem problem not None, options, seed=0):
        VisitingSolver.__init__(self, problem, seed)
        self.file_order()
        self.loss = smoothed_loss(problem.objective, options['oracle'], options['K'])
        self.work, self.options = self.loss.workspace(), options
        self.total = problem.accumulator()
        cdef double[::1] anchor = problem.features.zeros(), fixed = problem.features.zeros()
        cdef double[::1] change = problem.features.zeros(), linear = np.zeros(problem.n)
        cdef int64_t[::1] offsets = problem.structure.part_indptr()
        cdef bint stored = 8 * offsets[problem.n] <= STORED_BYTES
        cdef double[::1] means = np.zeros(offsets[problem.n] + 1 if stored else 1)
        cdef double[::1] one_mean = np.zeros(problem.structure.max_size + 1)
        self.anchor, self.anchor_data = np.asarray(anchor), &anchor[0]
        self.fixed, self.fixed_data = np.asarray(fixed), &fixed[0]
        self.change, self.change_data = np.asarray(change), &change[0]
        self.means = &means[0] if stored else NULL
        self.one_mean, self.linear, self.offsets = &one_mean[0], &linear[0], &offsets[0]
        self.arrays = means, one_mean, linear, offsets
        if options['adapt'] and (problem.sums or self.loss.smooths):
            self.lowest = problem.features.zeros()
        self._make_bundle()
        self._set_marks(options['tail'])
        self.mu = options['mu'] if options['mu'] > 0 else self._natural_smoothing()
        self.first_mu = self.mu
        self.short, self.best, self.since_best = 1.0 / largest_gold_norm2(self.problem, self.work), np.inf, 0
        self.loss.mu, self.kappa, self.plain = self.mu, 0.0, options['warmup']
        self.step = options['step'] if options['step'] > 0 else self._choose_step()

    def _make_bundle(self):
        """The mixture of dual points; none for the log losses, nor where one softmax is all that is wanted."""
        self.listed = ListedOutputs(self.problem, self.loss.k) if self.loss.outputs else None
        most, self.wait, self.waited, self.smoothing = self.options['planes'], 1, 0, 0.0
        if self.listed is not None or (most > 1 and not self.problem.sums):
            self.bundle = Bundle(self.problem, most, 4 * self.problem.dim if self.listed is None else self.listed.bytes)
        if self.listed is not None:
            gold = WorkingSets(self.problem.structure).dual_point()
            self.bundle.add([(gold.arrays(), 0.0, self.problem.features.zeros())])

    def _set_marks(self, tail):
        """Where a pass is interrupted for its figures and for the mean of its tail."""
        cdef Py_ssize_t n = self.problem.n
        cdef double[::1] view
        if tail > 1:
            view = self.problem.features.zeros()
            self.tail, self.tail_data = np.asarray(view), &view[0]
        points = {n - (n - n // 2) * j // tail for j in range(tail)}
        self.marks = sorted({n // 4, n - n // 4, n} | points)

    @property
    def smooths(self):
        """Whether mu means anything."""
        return self.loss.smooths

    @property
    def temperature(self):
        """Of the dual point of entropy smoothing."""
        return None if self.problem.sums or self.loss.outputs else self.loss.mu

    def _natural_smoothing(self):
        """0.1 times the mean loss of w = 0 per number of an output's code: a fraction of what one wrong part costs."""
        if self.problem.sums:
            return 1.0                                      # of no meaning but in the shortest step
        numbers = sum(self.problem.structure.code_size(i) for i in range(self.problem.n))
        losses = self.problem.evaluate(self.problem.features.zeros()).loss_values
        return 0.1 * losses.sum() / numbers if numbers and losses.sum() > 0 else 0.1

    def _choose_step(self):
        """Half the step with which plain stochastic steps bring the smoothed loss of the first examples down most:
        there will be more of them."""
        plain, self.plain = self.plain, 1
        chosen = best_first_step(self._trial, min(self.short, 0.25 / self.problem.lam), 0.5 / self.problem.lam)
        self.change[:], self.plain = 0, plain
        return chosen / 2

    def _trial(self, step):
        """The smoothed objective after plain steps over the first examples, on these."""
        cdef Py_ssize_t i, count = min(self.problem.n, FIRST_STEP_EXAMPLES)
        cdef const int32_t[::1] stop = self.problem.pool.stop
        self.step, self.scale = step, 1.0
        self.change[:] = 0
        with nogil:
            for i in range(count):
                if stop[0]:
                    break
                self.visit(i)
            self.fold()
        self.problem.pool.check()
        norm2 = self.problem.features.inner(self.change, self.change)
        return self.problem.lam / 2 * norm2 + self._smoothed_mean(count)

    def _smoothed_mean(self, Py_ssize_t count):
        """The mean smoothed loss of the first examples at w = change."""
        cdef const int32_t[::1] stop = self.problem.pool.stop
        cdef Py_ssize_t i
        cdef double total = 0.0, bias
        with nogil:
            for i in range(count):
                if stop[0]:
                    break
                self.problem.features.scores(i, self.change_data, self.work.theta)
                total -= self.problem.objective.gold_score(i, self.work.theta, self.work)
                total += self.loss.value(i, self.work.theta, self.work, self.work.mean, &bias)
        return total / count

    def set_start(self, w):
        """Begin at w instead of 0."""
        self.anchor[:], self.position, self.plain = w, -1, 0

    def visit_all(self, stop):
        for end in self.marks:
            if self.position < end:                         # or it was done before an interruption
                if not self.visit_until(end, stop):
                    return False
                self._mark(end)
        return True

    def end_pass(self):
        cdef Py_ssize_t n = self.problem.n
        self.oracle_calls += n if self.means != NULL or self.plain else 2 * n
        self._average_tail()
        self.distance[3] = self._distance()
        vector.axpy(self.problem.dim, 1.0, self.fixed_data, self.change_data)       # the new iterate
        self._end()

    def _mark(self, Py_ssize_t end):
        """After so many steps of a pass."""
        cdef Py_ssize_t n = self.problem.n
        if end == n // 4:
            self.distance[1] = self._distance()
        if end == n - n // 4:
            self.distance[2] = self._distance()
        if self.tail is not None and not self.plain and n // 2 < end < n:
            self._add_to_tail()
            self.tails += 1

    def _add_to_tail(self):
        """tail += w - fixed."""
        vector.axpy(self.problem.dim, self.scale, self.change_data, self.tail_data)

    def _average_tail(self):
        """change = w - fixed of the pass's result, with scale = 1."""
        self.fold()
        if self.tails:
            vector.axpy(self.problem.dim, 1.0, self.tail_data, self.change_data)
            vector.scale(self.problem.dim, 1.0 / (self.tails + 1), self.change_data)
            self.tail[:], self.tails = 0, 0

    def _distance(self):
        return self.scale * self.scale * self.problem.features.inner(self.change, self.change)

    def begin_pass(self, stop):
        """The full gradient at the anchor, and the terms that stay fixed in this pass. False: stopped on the way."""
        self.loss.mu = self.mu
        if self.plain:
            self.fixed[:] = 0
        elif not self._begin_at_anchor(stop):
            return False
        self._fix()
        self.reshuffle()
        return True

    def _begin_at_anchor(self, stop):
        """The full gradient at the anchor, the lowest one or the weights of the mixture where these are better. Nothing
        has changed but the anchor where it was stopped on the way."""
        planes, self.gradients = [], 0
        while True:
            if not self._gradient(stop, planes):
                return False
            if not self._has_risen():
                break
            self._go_back()
        if self._looks() and not self._look(stop, planes):
            return False
        self.oracle_calls += self.gradients * self.problem.n
        self._watch()
        if self.bundle is not None:
            self.bundle.add(planes)
        return True

    def _looks(self):
        """Whether the weights of the mixture are looked at before this pass."""
        return (self.bundle is not None and self.options['adapt'] and self.options['planes'] > 1
                and self.bundle.value is not None and self.waited + 1 >= self.wait)

    def _look(self, stop, planes):
        """Let the weights of the mixture be the anchor, if the smoothed objective is lower there."""
        arrays = self.anchor, self.fixed, np.asarray(self.arrays[0]), np.asarray(self.arrays[2])
        kept, last = [array.copy() for array in arrays], self.last
        self.anchor[:] = self.bundle.weights()
        whole = self._gradient(stop, planes)
        better, smoothing = whole and self.last[0] < last[0], self.last[2]
        if not better:
            for array, old in zip(arrays, kept, strict=True):
                array[:] = old
            self.last = last
        if whole:
            longest = min(LONGEST_WAIT, 1 + self.problem.n // WAIT_EXAMPLES)
            self.wait, self.waited, self.smoothing = 1 if better else min(2 * self.wait, longest), -1, smoothing
        if better:
            self._moved()
        return whole

    def _moved(self):
        """The anchor is not where the last pass ended."""

    def _gradient(self, stop, planes):
        """fixed = G, with the statistics at the anchor and, appended to planes, the dual point that they make."""
        problem = self.problem
        cdef Accumulator total = self.total
        total.clear(problem.pool)
        single = None
        if self.bundle is not None and self.listed is None:
            single = self.anchor.astype(np.float32)
            self.anchor[:] = single                             # as its dual point is kept
        losses, biases = np.empty(problem.n), np.empty(problem.n)
        problem.sweep(self._means, self.anchor, losses, biases, stop, total=total)
        if stop[0]:
            return False
        total.total(self.fixed, problem.pool)
        vector.scale(problem.dim, 1.0 / problem.n, self.fixed_data)
        # value - dual is the smoothing error mu E[-omega(u)] plus ||G + lambda w||^2 / (2 lambda)
        bias, inner, lam = biases.sum() / problem.n, problem.features.inner, problem.lam
        primal = losses.sum() / problem.n + lam / 2 * inner(self.anchor, self.anchor)
        dual = bias - inner(self.fixed, self.fixed) / (2 * lam)
        smoothing = losses.sum() / problem.n - bias - inner(self.fixed, self.anchor)
        self.last = [primal, dual, max(smoothing, 0.0)]
        self.gradients += 1
        if self.bundle is not None:
            kept = {'w': single, 'temperature': np.array([self.loss.mu])}
            planes.append((self.listed.point().arrays() if single is None else kept, bias, self.fixed.copy()))
        return True

    def _watch(self):
        """How long the smoothed objective has not come down."""
        value, smoothing = self.last[0], self.last[2]
        if value < self.best - LEAST_DECREASE * max(smoothing, LEAST_DECREASE * abs(value)):
            self.best, self.since_best = value, 0
            if self.lowest is not None:
                self.lowest[:] = self.anchor
        else:
            self.since_best += 1

    def _has_risen(self):
        """Whether the smoothed objective at the anchor is well above the lowest one at this mu."""
        return self.lowest is not None and self.last[0] > self.best + GIVE_UP_RISE * abs(self.best)

    def _go_back(self):
        """To the anchor with the lowest objective, with shorter steps."""
        self.anchor[:] = self.lowest
        self.step *= 0.5

    def _fix(self):
        """fixed = (kappa z - G) / rho for fixed = G; w begins at the anchor."""
        cdef double rho = self.problem.lam + self.kappa
        vector.scale(self.problem.dim, -1.0 / rho, self.fixed_data)
        if self.kappa > 0:
            vector.axpy(self.problem.dim, self.kappa / rho, self.center_data, self.fixed_data)
        np.subtract(self.anchor, self.fixed, out=self.change)
        self.scale, self.divergence[0], self.divergence[1] = 1.0, 0.0, 0.0
        self.distance[0] = self.distance[1] = self._distance()          # a quarter of few steps is none

    def _end(self):
        """After a pass that came from the anchor to w = change: the next problem and its anchor."""
        if self.plain:
            self.plain -= 1
        else:
            self._adapt_step()
            if self.solved():
                self._lower_smoothing(self.options['shrink'])
        self.anchor[:] = self.change
        self.waited += 1

    def progress(self):
        """F(w) - F(anchor) after a quarter of the last pass, after three quarters and for its result, and
        ||grad F(anchor)||^2 / (2 rho), a bound of how far it could go down. The divergence of a result is about the
        mean of those in the half pass whose iterates it is the mean of."""
        n, rho = self.problem.n, self.problem.lam + self.kappa
        first, second = self.divergence[0] / max(n // 2, 1), self.divergence[1] / (n - n // 2)
        start, early, late, end = (rho / 2 * self.distance[q] for q in range(4))
        return first + early - start, second + late - start, second + end - start, start

    def _adapt_step(self):
        """Shorter or longer steps."""
        early, _, end, start = self.progress()
        if not self.options['adapt'] or start <= NO_PROGRESS * abs(self.last[0]):
            return
        if end > NOISY_PROGRESS * early or end >= 0:
            self.step = max(SHORTER_STEP * self.step, SHORTEST_STEP * self.mu * self.short)
        elif end < STEADY_PROGRESS * early:
            self.step = min(LONGER_STEP * self.step, 0.5 / self.problem.lam)

    def solved(self):
        """Whether the smoothed problem is solved as well as its smoothing allows, at the anchor or at the weights of
        the mixture, by the bound of the mixture. Without one: by ||grad||^2 / (2 rho), of the problem with the proximal
        term, times the number of outer steps that its condition takes; or, with some outputs instead of all, when its
        value has not come down for a while: it may not be smooth, with too few of them for this mu."""
        if self.bundle is not None and self.options['planes'] > 1:
            value, _, here = self.last
            return self.smooths and value - self.bundle.value <= (1 + SOLVED_EXCESS) * max(here, self.smoothing)
        lam = self.problem.lam
        error = self.progress()[3] * ((lam + self.kappa) / lam) ** 0.5
        value, dual, smoothing = self.last
        small = error <= SOLVED_ERROR * smoothing and value - dual <= (1 + SOLVED_BOUND) * smoothing
        stuck = self.loss.outputs and self.since_best >= STUCK_AFTER_PASSES
        return not self.problem.sums and (stuck or (self.smooths and small))

    def _lower_smoothing(self, double factor):
        """Another mu; its curvature is so much larger, which steps follow unless they are fixed."""
        if self.mu * factor < LEAST_MU * self.first_mu:
            return
        self.mu *= factor
        self.smoothing *= factor
        if self.options['adapt']:
            self.step *= factor
        if factor < 1:
            self.best, self.since_best = np.inf, 0

    def _means(self, const double[::1] w, double[::1] losses, double[::1] biases, const int32_t[::1] stop,
               Accumulator total, Py_ssize_t chunk, Py_ssize_t begin, Py_ssize_t end):
        """Smoothed losses of a range of examples and E_u[Delta]; what is needed of the anchor, and E_u[s] - s(y_i) put
        into total."""
        cdef SmoothedWorkspace work = self.loss.workspace()
        cdef Py_ssize_t i, c, size
        cdef double value, gold, mean
        with nogil:
            for i in range(begin, end):
                if stop[0]:
                    break
                size = self.problem.structure.num_parts(i)
                self.problem.features.scores(i, &w[0], work.theta)
                memcpy(work.spare, work.theta, size * sizeof(double))
                gold = self.problem.objective.gold_score(i, work.theta, work)
                value = self.loss.value(i, work.theta, work, work.mean, &biases[i])
                losses[i] = value - gold
                for c in range(size):
                    mean = work.mean[c]
                    if self.means != NULL:
                        self.means[self.offsets[i] + c] = mean
                    if mean:
                        value -= mean * work.spare[c]
                self.linear[i] = value
                if self.listed is not None:
                    self.listed.note(i, work)
                self.problem.put_gradient(total, chunk, i, work)

    cdef Visit visit(self, Py_ssize_t i) noexcept nogil:
        """One step on example i."""
        cdef double rho = self.problem.lam + self.kappa
        cdef double step = min(self.step, LONGEST_STEP / rho)    # the same for all terms of the gradient
        if not self.compare(i, self.fixed_data):
            return STOPPED
        self.scale *= 1.0 - step * rho
        self.problem.features.add(i, self.work.mean, -step / self.scale, self.change_data)
        if self.scale < 1e-3:
            self.fold()
        return DONE

    cdef bint compare(self, Py_ssize_t i, const double *base) noexcept nogil:
        """work.mean = E_u[s] of example i at base + scale * change less that at the anchor; adds the Bregman divergence
        of its loss. False where it was stopped."""
        cdef Py_ssize_t c, size = self.problem.structure.num_parts(i)
        cdef const double *mean = self.mean_at_anchor(i)
        cdef double linear = self.linear[i], bias, change, value
        self.problem.features.scores(i, base, self.work.spare)
        self.problem.features.scores(i, self.change_data, self.work.theta)
        for c in range(size):
            self.work.theta[c] = self.work.spare[c] + self.scale * self.work.theta[c]
            if mean[c]:
                linear += mean[c] * self.work.theta[c]
        value = self.loss.value(i, self.work.theta, self.work, self.work.mean, &bias)
        if self.problem.structure.stopped():
            return False
        self.divergence[0 if self.position < self.problem.n // 2 else 1] += value - linear
        for c in range(size):
            change = self.work.mean[c] - mean[c]
            self.work.mean[c] = change if change > NEGLIGIBLE_CHANGE or change < -NEGLIGIBLE_CHANGE else 0.0
        return True

    cdef const double *mean_at_anchor(self, Py_ssize_t i) noexcept nogil:
        """E_u[s] of example i at the anchor, or s(y_i) for a plain stochastic step, which has no anchor."""
        cdef Py_ssize_t c, count, size = self.problem.structure.num_parts(i)
        cdef double bias
        if self.plain:
            for c in range(size):
                self.one_mean[c] = 0.0
            count = self.problem.structure.parts(i, self.problem.structure.gold(i), self.work.ids, self.work.counts)
            for c in range(count):
                self.one_mean[self.work.ids[c]] += self.work.counts[c]
            return self.one_mean
        if self.means != NULL:
            return self.means + self.offsets[i]
        self.problem.features.scores(i, self.anchor_data, self.work.theta)
        self.loss.value(i, self.work.theta, self.work, self.work.mean, &bias)
        for c in range(size):
            self.one_mean[c] = self.work.mean[c]
        return self.one_mean

    cdef void fold(self) noexcept nogil:
        vector.scale(self.problem.dim, self.scale, self.change_data)
        self.scale = 1.0

    def iterates(self):
        return [('current', self.anchor), *self._mixed_iterate()]

    def _mixed_iterate(self):
        """The weights of the mixture."""
        mixes = self.bundle is not None and self.options['planes'] > 1 and self.bundle.value is not None
        return [('mixture', self.bundle.weights())] if mixes else []

    def estimate(self):
        """At the last anchor: the smoothed objective, which is no lower than P."""
        return None if self.last is None else (self.last[0], self.last[1])

    def figures(self, primal=np.inf):
        return {'mu': self.mu if self.smooths else None, 'kappa': self.kappa, 'step': self.step}

    def dual_value(self):
        return None if self.bundle is None else self.bundle.value

    def dual_point(self):
        if self.bundle is None or self.bundle.value is None:
            return None
        shares, kept = self.bundle.mixed()
        if self.listed is not None:
            return mixture(self.problem.structure, [SparsePoint(**arrays) for arrays in kept], shares)
        points = [ScoresPoint.exactly(self.problem, arrays['w'], *arrays['temperature']) for arrays in kept]
        return MixturePoint(shares, points)

    def state(self):
        return {
            **Solver.state(self),
            **({} if self.bundle is None else prefixed('bundle', self.bundle.state())),
            **{name: getattr(self, name) for name in NUMBERS},
            'temperature': self.loss.mu, 'anchor': self.anchor.copy(), **self.pass_state(), 'last': self.last,
            **({} if self.lowest is None else {'lowest': self.lowest.copy()}),
            **({'fixed': self.fixed.copy(), 'change': self.change.copy(), 'scale': self.scale,
                'measured': self._measured()} if self.position >= 0 else {}),
            **({'tail': self.tail.copy(), 'tails': self.tails} if self.tails else {}),
        }

    def pass_state(self):
        """ready: whether the pass has its full gradient, without which there is no position."""
        return {'order': self.order_array.copy(), 'random': self.random, 'position': max(self.position, 0),
                'ready': self.position >= 0}

    def _measured(self):
        return [self.divergence[0], self.divergence[1], *[self.distance[q] for q in range(4)]]

    def restore(self, state):
        VisitingSolver.restore(self, state)
        self.position = state['position'] if state['ready'] else -1
        self.anchor[:] = state['anchor']
        for name in NUMBERS:
            setattr(self, name, state[name])
        if self.lowest is not None:
            self.lowest[:] = state['lowest']
        if self.position >= 0:
            self._restore_pass(state)
        if self.bundle is not None:
            self.bundle.restore(stripped('bundle', state))
        self.last, self.loss.mu = state['last'], state['temperature']

    def _restore_pass(self, state):
        """Back to the middle of a pass: what is needed of the anchor is computed again."""
        self.loss.mu = self.mu
        if not self.plain:
            self._gradient(np.zeros(1, np.int32), [])
        self.fixed[:], self.change[:], self.scale = state['fixed'], state['change'], state['scale']
        if 'tail' in state:
            self.tail[:], self.tails = state['tail'], state['tails']
        self.divergence[0], self.divergence[1] = state['measured'][:2]
        self.distance[0], self.distance[1], self.distance[2], self.distance[3] = state['measured'][2:]


NUMBERS = ('mu', 'kappa', 'step', 'plain', 'best', 'since_best', 'wait', 'waited', 'smoothing')

OPTIONS = {
    'oracle': Option(
        ('auto', 'exp', 'topk', 'max'), 'auto',
        'of the smoothed hinge loss: softmax over all outputs, the K best, no smoothing (it ends at gaps of some '
        '1e-2); auto: the first that fits'),
    'K': Option(int, 5, 'outputs of oracle=topk', minimum=1, maximum=10000),
    'mu': Option(float, 0.0, 'smoothing at first; 0: 0.1 of the mean loss of a part', minimum=0),
    'shrink': Option(
        float, 0.7, 'factor of mu when the problem is solved as well as mu allows; 1: mu is constant', minimum=1e-3),
    'step': Option(float, 0.0, 'step size at first; 0: the best of some on the first examples', minimum=0),
    'adapt': Option(bool, True, 'adapt the step size to mu and to the progress of each pass; false: it is fixed'),
    'tail': Option(
        int, 8, 'iterates, evenly spaced over the second half of a pass, whose mean is its result', minimum=1),
    'planes': Option(
        int, 100, 'dual points of passes that are mixed, as many as have room; 1: the last one alone', minimum=1,
        maximum=1000),
    'warmup': Option(int, 3, 'passes of plain stochastic steps at first', minimum=0),
}

ORACLES = {'hinge': 'max', 'log': 'exp', 'softmax-margin': 'exp'}
CERTIFICATE = 'softmax of the scores; for hinge, the best mixture of those of its passes'

INFO = SolverInfo(
    name='svrg',
    summary='stochastic variance-reduced gradients of the smoothed loss',
    oracle=ORACLES,
    options=OPTIONS,
    certificate=CERTIFICATE,
    paper='Pillutla et al. 2018, section 4; Johnson and Zhang 2013',
    make=Svrg,
    starts=('weights',),
)
