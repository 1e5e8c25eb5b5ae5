"""The structured hinge loss and its variants (Tsochantaridis et al. 2005, sections 2.1 and 2.2).

    margin rescaling                 l_i = m      m = max_y Delta - <w, psi(y)>, the only one without strata
    slack rescaling                  l_i = m      m = max_y Delta (1 - <w, psi(y)>)
    margin rescaling, squared        l_i = m^2/2  m = max_y sqrt(Delta) - <w, psi(y)>
    slack rescaling, squared         l_i = m^2/2  m = max_y sqrt(Delta) (1 - <w, psi(y)>)
    hard margin (SVM0)               <w, psi(y)> >= 1 for every wrong output

Among outputs of the same Delta the best one has the highest score, so that the maxima of the others are over the values
of Delta only (losses/strata.pyx).
"""

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int32_t

from cython_ext.losses.loss cimport TaskLoss
from cython_ext.losses.strata cimport Strata
from cython_ext.objectives.objective cimport MaxObjective
from cython_ext.structures.structure cimport Structure
from cython_ext.structures.workspace cimport Workspace

cdef double MARGIN_ROUNDING = 1e-9     # by which a constraint of the hard margin may seem violated


cdef class Hinge(MaxObjective):
    cdef double loss_augmented_max(self, Py_ssize_t i, double *theta, Workspace work, int32_t *code, double *bias,
                                   double *scale) noexcept nogil:
        cdef double gold = self.gold_score(i, theta, work)
        scale[0] = 1.0
        return self.loss.max(i, theta, work, code, bias) - gold


cdef class StratifiedHinge(MaxObjective):
    """strata: those of the loss on the structure; slack: rescale slacks instead of margins; squared: slack norm 2."""

    cdef Strata strata
    cdef readonly bint slack, squared

    def __init__(self, Structure structure not None, TaskLoss loss not None, Strata strata not None, bint slack,
                 bint squared):
        MaxObjective.__init__(self, structure, loss)
        self.strata, self.slack, self.squared = strata, slack, squared
        self.plain = not slack
        self.free_mass, self.ridge = squared, 1.0 if squared else 0.0

    def room(self):
        return self.strata.room()

    cdef double loss_augmented_max(self, Py_ssize_t i, double *theta, Workspace work, int32_t *code, double *bias,
                                   double *scale) noexcept nogil:
        cdef double gold = self.gold_score(i, theta, work), top = 0.0, value, b, c
        cdef Py_ssize_t r, chosen = -1, count = self.strata.find(i, theta, work)
        for r in range(count):
            self.factors(work.deltas[r], &b, &c)
            value = b + c * (work.values[r] - gold) if c else 0.0
            if chosen < 0 or value > top:
                chosen, top, bias[0], scale[0] = r, value, b, c
        self.strata.decode(i, chosen, theta, work, code)
        return top

    cdef void factors(self, double delta, double *b, double *c) noexcept nogil:
        b[0] = sqrt(delta) if self.squared else delta
        c[0] = b[0] if self.slack else 1.0

    cdef void terms(self, Py_ssize_t i, const int32_t *code, double *bias, double *scale) noexcept nogil:
        self.factors(self.loss.value(i, code), bias, scale)

    cdef double loss_of(self, double margin) noexcept nogil:
        return 0.5 * margin * margin if self.squared else margin

    cdef double slope(self, double margin) noexcept nogil:
        return margin if self.squared else 1.0


cdef class HardMargin(MaxObjective):
    """As a loss, l_i is 0 where the constraints hold and infinite where one does not. lambda is 1 and the dual weights
    have any sum: D(alpha) = 1/n sum_i sum_y alpha_i(y) - 1/2 ||w(alpha)||^2. strata: of the zero-one loss."""

    cdef Strata strata

    def __init__(self, Structure structure not None, TaskLoss loss not None, Strata strata not None):
        MaxObjective.__init__(self, structure, loss)
        self.strata, self.free_mass, self.hard = strata, True, True

    def room(self):
        return self.strata.room()

    cdef double loss_augmented_max(self, Py_ssize_t i, double *theta, Workspace work, int32_t *code, double *bias,
                                   double *scale) noexcept nogil:
        """1 - the smallest margin, negative where all constraints are slack; -inf where there is no wrong output."""
        cdef double gold = self.gold_score(i, theta, work), top = -INFINITY
        cdef Py_ssize_t r, chosen = 0, count = self.strata.find(i, theta, work)
        bias[0], scale[0] = 0.0, 1.0
        for r in range(count):
            if work.deltas[r] > 0 and 1.0 + work.values[r] - gold > top:
                chosen, top, bias[0] = r, 1.0 + work.values[r] - gold, 1.0
        self.strata.decode(i, chosen, theta, work, code)
        return top

    cdef void terms(self, Py_ssize_t i, const int32_t *code, double *bias, double *scale) noexcept nogil:
        bias[0], scale[0] = 1.0 if self.loss.value(i, code) > 0 else 0.0, 1.0

    cdef double loss_of(self, double margin) noexcept nogil:
        return 0.0 if margin <= MARGIN_ROUNDING else INFINITY

    cdef double slope(self, double margin) noexcept nogil:
        return 1.0
