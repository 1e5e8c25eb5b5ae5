"""Objective: the loss l_i(w) of one example as a function of its scores theta_i(w).

A MaxObjective is made of a maximum over outputs and gives the maximiser; a SumObjective is a log of a sum and gives
mean statistics. A (sub)gradient of l_i is slope * c * Phi_i (s(y) - s(y_i)) and Phi_i (mean - s(y_i)). The methods may
overwrite theta.
"""

from libc.stdint cimport int32_t


cdef class Objective:
    """structure: a Structure; loss: a TaskLoss on it, or None where the objective has none."""

    def __init__(self, Structure structure not None, TaskLoss loss):
        self.structure, self.loss = structure, loss

    def room(self):
        """(strata, doubles of a table): what a Workspace has to have for its methods."""
        return (0, 0) if self.loss is None else self.loss.room()

    cdef double gold_score(self, Py_ssize_t i, const double *theta, Workspace work) noexcept nogil:
        """<theta, s(y_i)>."""
        cdef Py_ssize_t c, count = self.structure.parts(i, self.structure.gold(i), work.gold_ids, work.gold_counts)
        cdef double total = 0.0
        for c in range(count):
            total += theta[work.gold_ids[c]] * work.gold_counts[c]
        return total

    cdef double value(self, Py_ssize_t i, double *theta, Workspace work) noexcept nogil:
        """l_i."""
        return 0.0


cdef class MaxObjective(Objective):
    """l_i = f(max_y b(y) + c(y) <theta, s(y) - s(y_i)>): f the identity, b = Delta and c = 1 for the plain hinge loss.

    Its dual (papers: Tsochantaridis et al. 2005, section 3) has weights alpha_i(y) >= 0 that sum to 1 over an example,
    or have any sum where `free_mass` is set: w(alpha) = 1/(lambda n) sum_i sum_y alpha_i(y) c(y) psi_i(y) and
    D(alpha) = 1/n sum_i (sum_y alpha_i(y) b(y) - ridge/2 (sum_y alpha_i(y))^2) - lambda/2 ||w(alpha)||^2. `plain`: c is
    1 everywhere, otherwise it is b; `hard`: l_i is infinite where the maximum is positive.
    """

    def __init__(self, Structure structure not None, TaskLoss loss):
        Objective.__init__(self, structure, loss)
        self.free_mass, self.ridge, self.plain, self.hard = False, 0.0, True, False

    cdef double value(self, Py_ssize_t i, double *theta, Workspace work) noexcept nogil:
        cdef double bias, scale
        return self.loss_of(self.loss_augmented_max(i, theta, work, work.code, &bias, &scale))

    cdef double loss_augmented_max(self, Py_ssize_t i, double *theta, Workspace work, int32_t *code, double *bias,
                                   double *scale) noexcept nogil:
        """The maximum over y; writes a maximiser, its b and its c."""
        return 0.0

    cdef void terms(self, Py_ssize_t i, const int32_t *code, double *bias, double *scale) noexcept nogil:
        """b(y) and c(y) of an output."""
        bias[0], scale[0] = self.loss.value(i, code), 1.0

    cdef double loss_of(self, double margin) noexcept nogil:
        """l_i from the maximum."""
        return margin

    cdef double slope(self, double margin) noexcept nogil:
        """The derivative of loss_of."""
        return 1.0


cdef class SumObjective(Objective):
    cdef double mean(self, Py_ssize_t i, double *theta, Workspace work, double *mean) noexcept nogil:
        """l_i; writes the mean statistics of the distribution whose log-partition function it is."""
        return 0.0
