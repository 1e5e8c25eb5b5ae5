"""Smooth inference oracles: the hinge loss with a smoothed maximum (Pillutla et al. 2018, section 2).

With z_y = Delta(y_i, y) + <theta, s(y)> the loss max_y z_y - <theta, s(y_i)> becomes

    max_u <z, u> - mu omega(u) - <theta, s(y_i)>,   u a distribution over outputs,

whose gradient is Phi_i (E_u[s] - s(y_i)) for the maximising u. omega is
  - the negative entropy (exp oracle): mu log sum_y exp(z_y / mu), u the softmax of z / mu;
  - (||u||^2 - 1) / 2 over the K best outputs (top-K oracle): u is the projection of z / mu onto the simplex;
  - 0 (max oracle): not smooth.
omega <= 0, so the smoothed loss is never below the loss itself, and above it by mu log |Y|, mu / 2 or 0 at most.

The log losses are smooth as they are; SumLoss shows them in the same way.
"""

from libc.stdint cimport int32_t
from libc.string cimport memset

from cython_ext.kernels.vectors cimport vector
from cython_ext.losses.loss cimport DecomposableLoss
from cython_ext.losses.zero_one cimport ZeroOne
from cython_ext.objectives.hinge import Hinge
from cython_ext.objectives.objective cimport Objective, SumObjective
from cython_ext.structures.structure cimport RankedStructure, Structure
from cython_ext.structures.workspace cimport Workspace


cdef class SmoothedWorkspace(Workspace):
    """k: outputs of a top-K call."""

    def __init__(self, Structure structure, Objective objective, Py_ssize_t k=2):
        Workspace.__init__(self, structure, objective, k)
        self.values, self.weights, self.biases = self._doubles(k), self._doubles(k), self._doubles(k)
        self.spare = self._doubles(structure.max_size)
        self.order = self._integers(k)


cdef class SmoothedLoss:
    """mu: how much is smoothed, to be set at any time."""

    def __init__(self, Objective objective not None, Py_ssize_t k=2, bint outputs=False):
        self.structure, self.objective, self.k, self.outputs = objective.structure, objective, k, outputs
        self.smooths, self.mu = True, 1.0

    def workspace(self):
        return SmoothedWorkspace(self.structure, self.objective, self.k)

    cdef double value(self, Py_ssize_t i, double *theta, SmoothedWorkspace work, double *mean,
                      double *bias) noexcept nogil:
        """The smoothed loss plus <theta, s(y_i)>: max_u <z, u> - mu omega(u). Writes E_u[s] to mean, float64[m_i], and
        E_u[Delta] to bias. May overwrite theta."""
        return 0.0

    def value_of(self, Py_ssize_t i, theta):
        """(smoothed loss, E_u[s], E_u[Delta]) at scores theta, float64[m_i]."""
        from cython_ext.structures.structure import padded

        cdef SmoothedWorkspace work = self.workspace()
        cdef double[::1] copy = padded(theta), mean = padded(theta)
        cdef double bias = 0.0, gold = self.objective.gold_score(i, &copy[0], work)
        value = self.value(i, &copy[0], work, &mean[0], &bias) - gold
        return value, mean.base[:self.structure.num_parts(i)], bias


cdef class ExpSmoothing(SmoothedLoss):
    """Entropy smoothing. The task loss must decompose over parts and the structure must have the exp oracle."""

    def __init__(self, Objective objective not None):
        SmoothedLoss.__init__(self, objective)
        self.summed, self.loss = objective.structure, objective.loss

    cdef double value(self, Py_ssize_t i, double *theta, SmoothedWorkspace work, double *mean,
                      double *bias) noexcept nogil:
        cdef double z
        vector.scale(self.structure.num_parts(i), 1.0 / self.mu, theta)
        self.loss.add_costs(i, 1.0 / self.mu, theta)
        z = self.summed.log_partition(i, theta, work.scratch, mean)
        bias[0] = self.loss.expected(i, mean)
        return self.mu * z


cdef class TopKSmoothing(SmoothedLoss):
    """Smoothing by the squared norm over the K best outputs. The task loss must decompose over parts or be zero-one:
    only the gold output can fall in the ranking when that is added, so K + 1 outputs hold the K best ones."""

    def __init__(self, Objective objective not None, Py_ssize_t k):
        SmoothedLoss.__init__(self, objective, k + 1, True)
        self.ranked = objective.structure
        self.costs = objective.loss if isinstance(objective.loss, DecomposableLoss) else None

    cdef Py_ssize_t find(self, Py_ssize_t i, double *theta, SmoothedWorkspace work) noexcept nogil:
        """The K best outputs under z into values, biases and order; returns how many there are."""
        cdef Py_ssize_t r, place, count, length = self.structure.code_length(i)
        cdef double value
        if self.costs is not None:
            self.costs.add_costs(i, 1.0, theta)
            count = self.ranked.topk(i, theta, self.k - 1, work.scratch, work.values, work.codes)
            for r in range(count):
                work.biases[r] = self.objective.loss.value(i, work.codes + r * length)
                work.order[r] = <int32_t> r
            return count
        count = self.ranked.topk(i, theta, self.k, work.scratch, work.values, work.codes)
        for r in range(count):                              # insertion sort of what is nearly in order
            work.biases[r] = self.objective.loss.value(i, work.codes + r * length)
            value, place = work.values[r] + work.biases[r], r
            while place > 0 and work.values[place - 1] < value:
                work.values[place], work.biases[place] = work.values[place - 1], work.biases[place - 1]
                work.order[place] = work.order[place - 1]
                place -= 1
            work.values[place], work.order[place] = value, <int32_t> r
            work.biases[place] = self.objective.loss.value(i, work.codes + r * length)
        return min(count, self.k - 1)

    cdef double value(self, Py_ssize_t i, double *theta, SmoothedWorkspace work, double *mean,
                      double *bias) noexcept nogil:
        cdef Py_ssize_t r, c, count, length = self.structure.code_length(i)
        cdef double total = 0.0, norm2 = 0.0
        work.count = self.find(i, theta, work)
        project(work.count, self.mu, work.values, work.weights)
        memset(mean, 0, self.structure.num_parts(i) * sizeof(double))
        bias[0] = 0.0
        for r in range(work.count):
            total += work.weights[r] * work.values[r]
            norm2 += work.weights[r] * work.weights[r]
            bias[0] += work.weights[r] * work.biases[r]
        # s(y_1) + sum_r u_r (s(y_r) - s(y_1)): parts that all outputs share are whole numbers, with no rounding
        count = self.structure.parts(i, work.codes + work.order[0] * length, work.gold_ids, work.gold_counts)
        for r in range(1, work.count):
            if work.weights[r] > 0.0:
                for c in range(count):
                    mean[work.gold_ids[c]] -= work.weights[r] * work.gold_counts[c]
                self.add_output(i, work.codes + work.order[r] * length, work.weights[r], work, mean)
        for c in range(count):
            mean[work.gold_ids[c]] += work.gold_counts[c]
        return total - 0.5 * self.mu * (norm2 - 1.0)

    cdef void add_output(self, Py_ssize_t i, const int32_t *code, double weight, Workspace work,
                         double *mean) noexcept nogil:
        cdef Py_ssize_t c, count = self.structure.parts(i, code, work.ids, work.counts)
        for c in range(count):
            mean[work.ids[c]] += weight * work.counts[c]


cdef class NoSmoothing(SmoothedLoss):
    """The maximum itself; u is its maximiser. Any task loss."""

    def __init__(self, Objective objective not None):
        SmoothedLoss.__init__(self, objective, 2, True)
        self.maximum, self.smooths = objective, False

    cdef double value(self, Py_ssize_t i, double *theta, SmoothedWorkspace work, double *mean,
                      double *bias) noexcept nogil:
        cdef double scale = 1.0, gold = self.objective.gold_score(i, theta, work)
        cdef double margin = self.maximum.loss_augmented_max(i, theta, work, work.code, bias, &scale)
        cdef Py_ssize_t c, count = self.structure.parts(i, work.code, work.ids, work.counts)
        memset(mean, 0, self.structure.num_parts(i) * sizeof(double))
        for c in range(count):
            mean[work.ids[c]] += work.counts[c]
        work.count, work.order[0], work.weights[0], work.biases[0] = 1, 0, 1.0, bias[0]
        for c in range(self.structure.code_length(i)):
            work.codes[c] = work.code[c]
        return margin + gold


cdef class SumLoss(SmoothedLoss):
    """A log loss, with nothing to be smoothed."""

    def __init__(self, SumObjective objective not None):
        SmoothedLoss.__init__(self, objective)
        self.sums, self.smooths = objective, False

    cdef double value(self, Py_ssize_t i, double *theta, SmoothedWorkspace work, double *mean,
                      double *bias) noexcept nogil:
        cdef double gold = self.sums.gold_score(i, theta, work)
        bias[0] = 0.0
        return self.sums.mean(i, theta, work, mean) + gold


cdef void project(Py_ssize_t count, double mu, const double *values, double *weights) noexcept nogil:
    """The projection of values / mu, largest first, onto the simplex: (values / mu - t)_+ that sums to 1."""
    cdef Py_ssize_t r
    cdef double total = 0.0, shift = 0.0, top = values[0]
    for r in range(count):
        total += (values[r] - top) / mu
        if (values[r] - top) / mu * (r + 1) + 1.0 <= total:
            break
        shift = (total - 1.0) / (r + 1)
    for r in range(count):
        weights[r] = max((values[r] - top) / mu - shift, 0.0)


def smoothed_loss(Objective objective not None, oracle='auto', k=5):
    """The SmoothedLoss of an objective. oracle: exp, topk, max, or auto: the first of them that fits. Raises ValueError
    with the reason where it does not."""
    if isinstance(objective, SumObjective):
        return SumLoss(objective)
    if not isinstance(objective, Hinge):
        raise ValueError('only the plain hinge loss is smoothed: margin rescaling, slack norm 1')
    cdef bint decomposes = isinstance(objective.loss, DecomposableLoss)
    cdef bint summed = 'exp' in objective.structure.oracles
    cdef bint ranked = isinstance(objective.structure, RankedStructure)
    cdef bint rankable = decomposes or isinstance(objective.loss, ZeroOne)
    if oracle == 'auto':
        oracle = 'exp' if decomposes and summed else 'topk' if ranked and rankable else 'max'
    if oracle == 'exp':
        if not summed:
            raise ValueError('oracle=exp needs sums over outputs, which this structure lacks (use oracle=topk or max)')
        if not decomposes:
            raise ValueError(
                'oracle=exp needs a task loss that is a sum over parts, which zero-one is not (use oracle=topk)')
        return ExpSmoothing(objective)
    if oracle == 'topk':
        if not ranked:
            raise ValueError('oracle=topk needs the K best outputs, which this structure lacks (use oracle=max)')
        if not rankable:
            raise ValueError('oracle=topk needs a task loss that is a sum over parts, or zero-one (use oracle=max)')
        return TopKSmoothing(objective, k)
    return NoSmoothing(objective)
