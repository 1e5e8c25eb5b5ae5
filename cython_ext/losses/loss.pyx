"""TaskLoss: Delta(y_i, y), and the oracles of the structure augmented with it.

Delta(y_i, y_i) = 0 and Delta >= 0. Both oracles may overwrite theta. A loss that decomposes over parts adds their
costs to theta and calls the structure's own oracle; one that does not brings its own way.

What a loss can do stands in its class, so that it is known before there are any data.
"""

import numpy as np

from libc.stdint cimport int32_t

from cython_ext.structures.structure cimport SummedStructure
from cython_ext.structures.structure import padded


cdef class TaskLoss:
    """decomposable: whether it is a sum over parts, a DecomposableLoss; unstratified: why nothing finds the best output
    of each of its values, None where make_strata() does."""

    decomposable = False
    unstratified = 'there are too many values'

    @classmethod
    def on(cls, structure):
        """The loss on a structure; classes for several kinds of structures choose the one that is for this kind."""
        return cls(structure)

    def make_strata(self):
        """Its Strata; None where there are none."""
        return None

    def room(self):
        """(strata, doubles of a table): what a Workspace has to have for its oracles."""
        return 0, 0

    cdef double value(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        """Delta(y_i, y) of an output's code."""
        return 0.0

    cdef double max(self, Py_ssize_t i, double *theta, Workspace work, int32_t *code, double *delta) noexcept nogil:
        """max_y Delta(y_i, y) + <theta, s(y)>; writes the maximiser and its Delta."""
        return 0.0

    cdef double log_partition(self, Py_ssize_t i, double *theta, Workspace work, double *mean) noexcept nogil:
        """log sum_y exp(Delta(y_i, y) + <theta, s(y)>); writes the mean statistics."""
        return 0.0

    def value_of(self, Py_ssize_t i, const int32_t[::1] code):
        """Delta(y_i, y)."""
        return self.value(i, &code[0]) if len(code) else 0.0

    def max_of(self, Py_ssize_t i, theta):
        """(value, code, Delta) of the loss-augmented best output."""
        work = Workspace(self.structure, self)
        cdef double[::1] copy = padded(theta)
        cdef int32_t[::1] code = np.empty(self.structure.code_length(i) + 1, np.int32)
        cdef double delta = 0.0
        value = self.max(i, &copy[0], work, &code[0], &delta)
        return value, np.asarray(code)[:self.structure.code_length(i)], delta

    def exp_of(self, Py_ssize_t i, theta):
        """(log-partition, mean statistics) of the loss-augmented distribution."""
        work = Workspace(self.structure, self)
        cdef double[::1] copy = padded(theta)
        cdef double[::1] mean = np.empty(self.structure.num_parts(i) + 1)
        value = self.log_partition(i, &copy[0], work, &mean[0])
        return value, np.asarray(mean)[:self.structure.num_parts(i)]


cdef class DecomposableLoss(TaskLoss):
    """A loss that is a sum over parts: Delta(y_i, y) = <delta_i, s(y)>. Its oracles are those of the structure, with
    the costs added to theta."""

    decomposable = True
    unstratified = 'no oracle finds the best one with a given number of errors'

    cdef void add_costs(self, Py_ssize_t i, double scale, double *theta) noexcept nogil:
        """theta += scale * delta_i."""

    cdef double expected(self, Py_ssize_t i, const double *mean) noexcept nogil:
        """<delta_i, mean>: E[Delta] of a distribution with these mean statistics."""
        return 0.0

    cdef double max(self, Py_ssize_t i, double *theta, Workspace work, int32_t *code, double *delta) noexcept nogil:
        cdef double value
        self.add_costs(i, 1.0, theta)
        value = self.structure.max(i, theta, work.scratch, code)
        delta[0] = self.value(i, code)
        return value

    cdef double log_partition(self, Py_ssize_t i, double *theta, Workspace work, double *mean) noexcept nogil:
        self.add_costs(i, 1.0, theta)
        return (<SummedStructure> self.structure).log_partition(i, theta, work.scratch, mean)

    def expected_of(self, Py_ssize_t i, const double[::1] mean):
        """E[Delta] of a distribution over the outputs of example i with these mean statistics."""
        return self.expected(i, &mean[0]) if len(mean) else 0.0
