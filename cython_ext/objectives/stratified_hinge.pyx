"""Hinge losses that look at outputs of equal task loss together: slack rescaling and squared slacks (Tsochantaridis et
al. 2005, section 2.2). With m the maximum,

    slack rescaling                  l_i = m      m = max_y Delta (1 - <w, psi(y)>)
    margin rescaling, squared        l_i = m^2/2  m = max_y sqrt(Delta) - <w, psi(y)>
    slack rescaling, squared         l_i = m^2/2  m = max_y sqrt(Delta) (1 - <w, psi(y)>)

Among outputs of the same Delta the best one has the highest score, so the maximum is over the values of Delta only.
"""

from libc.math cimport sqrt
from libc.stdint cimport int32_t

from cython_ext.losses.loss cimport TaskLoss
from cython_ext.losses.strata cimport Strata
from cython_ext.objectives.objective cimport MaxObjective
from cython_ext.structures.structure cimport Structure
from cython_ext.structures.workspace cimport Workspace


cdef class StratifiedHinge(MaxObjective):
    """strata: those of the loss on the structure; slack: rescale slacks instead of margins; squared: slack norm 2."""

    cdef Strata strata
    cdef readonly bint slack, squared

    def __init__(self, Structure structure not None, TaskLoss loss not None, Strata strata not None, bint slack,
                 bint squared):
        MaxObjective.__init__(self, structure, loss)
        self.strata, self.slack, self.squared = strata, slack, squared
        self.plain = not slack
        self.cone, self.ridge = squared, 1.0 if squared else 0.0

    def room(self):
        return self.strata.room()

    cdef double best(self, Py_ssize_t i, double *theta, Workspace work, int32_t *code, double *bias,
                     double *scale) noexcept nogil:
        cdef double right = self.right_score(i, theta, work), top = 0.0, value, b, c
        cdef Py_ssize_t r, chosen = -1, count = self.strata.find(i, theta, work)
        for r in range(count):
            self.factors(work.deltas[r], &b, &c)
            value = b + c * (work.values[r] - right) if c else 0.0
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
