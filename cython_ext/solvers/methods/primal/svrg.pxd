from libc.stdint cimport int64_t

from cython_ext.features.accumulators cimport Accumulator
from cython_ext.objectives.smoothed cimport SmoothedLoss, SmoothedWorkspace
from cython_ext.solvers.blocks.listed_outputs cimport ListedOutputs
from cython_ext.solvers.visiting cimport VisitingSolver


cdef class Svrg(VisitingSolver):
    cdef readonly SmoothedLoss loss
    cdef SmoothedWorkspace work
    cdef readonly ListedOutputs listed              # of the max and the top-K oracle
    cdef readonly object bundle                     # the mixture of dual points; None: that of the last pass alone
    cdef public Py_ssize_t wait, waited             # passes from one look at its weights to the next; since the last
    cdef public double smoothing                    # the error there
    cdef readonly Py_ssize_t gradients              # whole ones since the last pass
    cdef readonly object options
    cdef readonly object anchor, fixed, change      # in a pass w = fixed + scale * change
    cdef double *anchor_data
    cdef readonly object lowest                     # anchor with the smoothed objective `best`; None: not kept
    cdef double *fixed_data
    cdef double *change_data
    cdef readonly object tail                       # sum of scale * change at the marks so far; None: there is no mean
    cdef double *tail_data
    cdef readonly Py_ssize_t tails                  # marks in it
    cdef readonly object marks                      # steps of a pass after which it is interrupted, ascending
    cdef Accumulator total
    cdef double *center_data
    cdef readonly object center                     # z; None without a proximal term
    cdef public double mu, kappa, step
    cdef readonly double scale, short, first_mu
    cdef public double best                         # lowest smoothed objective at this mu
    cdef public long since_best                     # passes since then
    cdef object arrays
    cdef double *means                              # [sum of m_i] E_u[s] at the anchor; NULL: computed when needed
    cdef double *one_mean                           # [max_size] of the example that is visited, then
    cdef const int64_t *offsets
    cdef double *linear                             # [n] smoothed loss at the anchor less <E_u[s] - s(y_i), theta>
    cdef public Py_ssize_t plain                    # passes of plain stochastic steps that are left
    cdef double[2] divergence                       # sum of Bregman divergences from the anchor, by half of the pass
    cdef double[4] distance                         # ||w - fixed||^2 at the start, at 1/4 and 3/4 and at the end
    cdef object last                                # (value, dual, smoothing) at the last anchor

    cdef bint compare(self, Py_ssize_t i, const double *base) noexcept nogil
    cdef const double *mean_at_anchor(self, Py_ssize_t i) noexcept nogil
    cdef void fold(self) noexcept nogil
