"""A training problem P(w) = lambda/2 ||w||^2 + 1/n sum_i l_i(w): a structure, a feature map, an objective and lambda.

P(w) is computed here by one oracle pass, with D(alpha) of the softmax of the scores where that is asked for; D of other
dual points is their own (cython_ext/duals), which a problem does not know. Examples are worked on in fixed chunks by
several threads; every sum has an order of its own, so the number of threads changes no digit.
"""

import contextlib
from dataclasses import dataclass

import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy

from cython_ext.common.parallel import Interrupted, Pool, even_ranges, ranges
from cython_ext.features.accumulators cimport Accumulator
from cython_ext.features.capabilities cimport AtLambda
from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.kernels.vectors cimport vector
from cython_ext.objectives.objective cimport MaxObjective, Objective, SumObjective
from cython_ext.objectives.smoothed cimport SmoothedLoss, SmoothedWorkspace
from cython_ext.objectives.smoothed import smoothed_loss
from cython_ext.structures.structure cimport Structure
from cython_ext.structures.workspace cimport Workspace


CHUNK_PARTS = 1024          # of examples: what is worth a thread of its own
RANGES = 32                 # into which work is parted that threads share: the same for any number of threads


@dataclass
class Evaluation:
    """P(w) and its parts. dual: of the softmax of the scores, where it was asked for."""

    primal: float
    loss_values: np.ndarray      # l_i(w), float64[n]
    dual: float | None = None


cdef class Problem:
    """names: (structure, objective, task loss or None) as on the command line. threads: how many, or the Pool of
    another problem. log_values: as in problem.pxd. All passes over the examples look at the stop flag of the pool and
    raise Interrupted when it is set."""

    def __init__(self, Structure structure not None, FeatureMap features not None, Objective objective not None,
                 double lam, names, threads=1, log_values=None):
        if not (lam > 0 and np.isfinite(lam)):
            raise ValueError(f'lambda is {lam} (expected a positive number)')
        if structure.n == 0:
            raise ValueError('no examples')
        self.structure, self.features, self.objective = structure, features, objective
        self.n, self.dim, self.lam = structure.n, features.dim, lam
        self.structure_name, self.objective_name, self.loss_name = names
        self.pool = threads if isinstance(threads, Pool) else Pool(threads)
        self.log_values = log_values or {}

    def with_lambda(self, double lam):
        """The same problem with another lambda; the parts are shared."""
        names = self.structure_name, self.objective_name, self.loss_name
        features = self.features.helper(AtLambda).at_lambda(lam)
        other = Problem(self.structure, features, self.objective, lam, names, self.pool, self.log_values)
        if features is self.features:
            (<Problem> other)._accumulator = self._accumulator
        return other

    @contextlib.contextmanager
    def stoppable(self, stop):
        """Let a flag, int32[1], stop what is done within the block: passes over the examples, which raise Interrupted,
        and oracles that take long in the midst of one."""
        with self.pool.stoppable(stop), self.structure.heeding(stop):
            yield

    @property
    def sums(self):
        """Whether the objective is a log of sums (its dual point is the softmax of the scores)."""
        return isinstance(self.objective, SumObjective)

    @property
    def has_tempered_duals(self):
        """Whether the softmax of loss and scores over a temperature is a dual point for the hinge loss: the task loss
        is a sum over parts, and the structure has the exp oracle."""
        try:
            smoothed_loss(self.objective, 'exp')
        except ValueError:
            return False
        return True

    @property
    def hard_margin(self):
        """Whether P is infinite where a constraint is violated."""
        return isinstance(self.objective, MaxObjective) and (<MaxObjective> self.objective).hard

    def evaluate(self, w, softmax_dual=False, stop=None, temperature=1.0):
        """P(w) and the loss of every example, by one oracle pass (InexactError: see Structure.check); with softmax_dual
        also D(alpha) of a softmax: alpha_i(y) = p(y | x_i; w) for the log losses, that of (Delta + scores) /
        temperature for the hinge loss (ValueError where that is no dual point). stop: int32[1] instead of the flag of
        the pool; Interrupted is raised when it is set."""
        w = np.ascontiguousarray(w, np.float64)
        flag = self.pool.stop if stop is None else stop
        if softmax_dual and not self.sums:
            return self._tempered_evaluation(w, temperature, flag)
        if softmax_dual:
            return self.value_and_gradient(w, self.features.zeros(), stop)
        losses = np.empty(self.n)
        self.sweep(self._losses, w, losses, flag)
        if flag[0] or self.structure.stopped():
            raise Interrupted
        self.structure.check()
        with np.errstate(all='ignore'):                     # absurd weights have an infinite objective
            return Evaluation(self.lam / 2 * self.features.inner(w, w) + losses.sum() / self.n, losses)

    def _tempered_evaluation(self, w, double temperature, stop):
        """The same with the dual of a temperature, by one pass of the max and the exp oracle."""
        if not temperature > 0:
            raise ValueError(f'a dual point of temperature {temperature} (expected a positive number)')
        cdef SmoothedLoss loss = smoothed_loss(self.objective, 'exp')
        loss.mu = temperature
        cdef Accumulator total = self.accumulator()
        losses, biases = np.empty(self.n), np.empty(self.n)
        self.sweep(self._tempered, loss, w, losses, biases, stop, total=total)
        if stop[0] or self.structure.stopped():
            raise Interrupted
        lam, n = self.lam, self.n
        with np.errstate(all='ignore'):
            primal = lam / 2 * self.features.inner(w, w) + losses.sum() / n
            dual = biases.sum() / n - total.norm2(self.pool) / (2 * lam * n * n)
        return Evaluation(primal, losses, dual if np.isfinite(dual) else -np.inf)

    def largest_margin(self, w):
        """The largest maximum of any example's MaxObjective: with a hard margin, 1 - the smallest margin."""
        w, tops = np.ascontiguousarray(w, np.float64), np.empty(self.n)
        self.sweep(self._maxima, w, tops)
        if self.structure.stopped():
            raise Interrupted
        self.structure.check()
        return tops.max()

    def value_and_gradient(self, w, gradient, stop=None):
        """P(w), the losses and D of the softmax of the scores; writes the gradient of P. Log losses only.

        With alpha_i = p(y | x_i; w), D(alpha) = P(w) - ||grad P(w)||^2 / (2 lambda): w(alpha) is w - grad P(w) /
        lambda, and the entropy is l_i - E[Delta - <w, psi_i>].
        """
        if not self.sums:
            raise TypeError(f'{self.objective_name} has no gradient')
        cdef Accumulator total = self.kept_accumulator()
        losses, flag = np.empty(self.n), self.pool.stop if stop is None else stop
        self.sweep(self._means, w, losses, flag, total=total)
        if flag[0] or self.structure.stopped():
            raise Interrupted
        total.total(gradient, self.pool)
        w2, gradient2 = self._regularise(w, gradient)
        with np.errstate(all='ignore'):
            primal = self.lam / 2 * w2 + losses.sum() / self.n
            gap = gradient2 / (2 * self.lam)
        # Far from the optimum both are huge and their difference is rounding of either sign, so it is rounded down.
        dual = primal - gap - 1e-11 * gap
        slack = self.structure.slack()
        if slack is not None:
            dual -= slack.sum() / self.n
        return Evaluation(primal, losses, dual if np.isfinite(dual) else -np.inf)

    def _regularise(self, w, gradient):
        """gradient = gradient / n + lambda w; (||w||^2, ||gradient||^2). In fixed ranges, so that the number of threads
        changes no digit."""
        if not self.features.euclidean:
            np.asarray(gradient)[:] = np.asarray(gradient) / self.n + self.lam * np.asarray(w)
            return self.features.inner(w, w), self.features.inner(gradient, gradient)
        parts = even_ranges(self.dim, RANGES)
        norms = np.zeros((RANGES, 2))
        self.pool.map(self._regularise_range, [(w, gradient, norms[r], *part) for r, part in enumerate(parts)])
        return norms.sum(axis=0).tolist()

    def _regularise_range(self, const double[::1] w, double[::1] gradient, double[::1] norms, Py_ssize_t begin,
                          Py_ssize_t end):
        with nogil:
            vector.regularise(end - begin, &w[begin], self.lam, 1.0 / self.n, &gradient[begin], &norms[0])

    def accumulator(self):
        """A new Accumulator for sums over the examples."""
        return self.features.helper(Accumulator, self.n)

    def kept_accumulator(self):
        """An Accumulator at 0 that is made once, for what is summed in every pass."""
        if self._accumulator is None:
            self._accumulator = self.accumulator()
        else:
            self._accumulator.clear(self.pool)
        return self._accumulator

    def log_columns(self, w=None, primal=None):
        """{column: number} for a log besides what all problems have, of weights w with P(w) = primal; None for numbers
        without weights."""
        return {column: None if w is None else value(self, w, primal) for column, value in self.log_values.items()}

    def memory_estimate(self):
        """Bytes of one weight vector."""
        return 8 * self.dim

    def sweep(self, function, *shared, Accumulator total=None):
        """function(*shared, begin, end) for ranges of examples that together are all, by the threads of the pool; with
        an Accumulator function(*shared, total, chunk, begin, end), which puts what it finds into that chunk alone."""
        if total is None:
            self.pool.map(function, [(*shared, *chunk) for chunk in self.chunks(RANGES)])
        else:
            chunks = enumerate(self.chunks(total.chunks))
            self.pool.map(function, [(*shared, total, c, *chunk) for c, chunk in chunks])

    def chunks(self, count):
        """At most `count` ranges (begin, end) of examples of similar cost, fewer where there is little to do."""
        if self._chunks is None:
            self._chunks = {}
        if count not in self._chunks:
            cost = self.structure.part_indptr()
            self._chunks[count] = ranges(cost, min(count, 1 + int(cost[self.n]) // CHUNK_PARTS))
        return self._chunks[count]

    def _losses(self, const double[::1] w, double[::1] losses, const int32_t[::1] stop, Py_ssize_t begin,
                Py_ssize_t end):
        """l_i(w) of a range of examples."""
        cdef Workspace work = Workspace(self.structure, self.objective)
        cdef Py_ssize_t i
        with nogil:
            for i in range(begin, end):
                if stop[0]:
                    break
                self.features.scores(i, &w[0], work.theta)
                losses[i] = self.objective.value(i, work.theta, work)

    def _maxima(self, const double[::1] w, double[::1] tops, Py_ssize_t begin, Py_ssize_t end):
        """The maximum of the objective of a range of examples."""
        cdef Workspace work = Workspace(self.structure, self.objective)
        cdef MaxObjective objective = self.objective
        cdef const int32_t[::1] stop = self.pool.stop
        cdef Py_ssize_t i
        cdef double bias, scale
        with nogil:
            for i in range(begin, end):
                if stop[0]:
                    break
                self.features.scores(i, &w[0], work.theta)
                tops[i] = objective.loss_augmented_max(i, work.theta, work, work.code, &bias, &scale)

    def _means(self, const double[::1] w, double[::1] losses, const int32_t[::1] stop, Accumulator total,
               Py_ssize_t chunk, Py_ssize_t begin, Py_ssize_t end):
        """l_i(w) of a range of examples, and their gradients E[s] - s(y_i) put into total."""
        cdef Workspace work = Workspace(self.structure, self.objective)
        cdef SumObjective objective = self.objective
        cdef Py_ssize_t i
        with nogil:
            for i in range(begin, end):
                if stop[0]:
                    break
                self.features.scores(i, &w[0], work.theta)
                losses[i] = objective.mean(i, work.theta, work, work.mean)
                self.put_gradient(total, chunk, i, work)

    def _tempered(self, SmoothedLoss loss, const double[::1] w, double[::1] losses, double[::1] biases,
                  const int32_t[::1] stop, Accumulator total, Py_ssize_t chunk, Py_ssize_t begin, Py_ssize_t end):
        """l_i(w) and E[Delta] of a range of examples, and E[s] - s(y_i) put into total."""
        cdef SmoothedWorkspace work = loss.workspace()
        cdef Py_ssize_t i
        with nogil:
            for i in range(begin, end):
                if stop[0]:
                    break
                self.features.scores(i, &w[0], work.theta)
                memcpy(work.spare, work.theta, self.structure.num_parts(i) * sizeof(double))
                losses[i] = self.objective.value(i, work.theta, work)
                loss.value(i, work.spare, work, work.mean, &biases[i])
                self.put_gradient(total, chunk, i, work)
