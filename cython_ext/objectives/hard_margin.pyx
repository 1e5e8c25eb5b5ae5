"""Hard margin: <w, psi_i(y)> >= 1 for every wrong output (SVM0 of Tsochantaridis et al. 2005, section 2.1).

As a loss, l_i is 0 where the constraints hold and infinite where one does not. lambda is 1 and the dual weights have
any sum: D(alpha) = 1/n sum_i sum_y alpha_i(y) - 1/2 ||w(alpha)||^2.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from cython_ext.losses.loss cimport TaskLoss
from cython_ext.losses.strata cimport Strata
from cython_ext.objectives.objective cimport MaxObjective
from cython_ext.structures.structure cimport Structure
from cython_ext.structures.workspace cimport Workspace

cdef double ROUNDING = 1e-9     # by which a constraint may seem violated


cdef class HardMargin(MaxObjective):
    """strata: of the zero-one loss on the structure."""

    cdef Strata strata

    def __init__(self, Structure structure not None, TaskLoss loss not None, Strata strata not None):
        MaxObjective.__init__(self, structure, loss)
        self.strata, self.cone, self.hard = strata, True, True

    def room(self):
        return self.strata.room()

    cdef double best(self, Py_ssize_t i, double *theta, Workspace work, int32_t *code, double *bias,
                     double *scale) noexcept nogil:
        """1 - the smallest margin, negative where all constraints are slack; -inf where there is no wrong output."""
        cdef double right = self.right_score(i, theta, work), top = -INFINITY
        cdef Py_ssize_t r, chosen = 0, count = self.strata.find(i, theta, work)
        bias[0], scale[0] = 0.0, 1.0
        for r in range(count):
            if work.deltas[r] > 0 and 1.0 + work.values[r] - right > top:
                chosen, top, bias[0] = r, 1.0 + work.values[r] - right, 1.0
        self.strata.decode(i, chosen, theta, work, code)
        return top

    cdef void terms(self, Py_ssize_t i, const int32_t *code, double *bias, double *scale) noexcept nogil:
        bias[0], scale[0] = 1.0 if self.loss.value(i, code) > 0 else 0.0, 1.0

    cdef double loss_of(self, double margin) noexcept nogil:
        return 0.0 if margin <= ROUNDING else INFINITY

    cdef double slope(self, double margin) noexcept nogil:
        return 1.0
