"""A dual point in natural parameters: alpha_i is the softmax of theta_i, a number for each part of example i.

Any theta gives a distribution, so there is nothing to be believed; E[s], E[Delta] and the entropy H = log Z -
<theta, E[s]> come from the exp oracle.
"""

import numpy as np

from cython_ext.duals.dual_point import WrittenPoint


class NaturalPoint(WrittenPoint):
    """Attributes:
    theta_indptr: int64[n + 1]; theta[theta_indptr[i]:theta_indptr[i + 1]] are the m_i numbers of example i.
    theta: float32 or float64.
    """

    NAMES = ('theta_indptr', 'theta')

    def __init__(self, theta_indptr, theta):
        self.theta_indptr, self.theta = np.asarray(theta_indptr), np.asarray(theta)

    def expectations(self, problem, total):
        from cython_ext.duals.expectations import of_parameters

        sizes = problem.structure.part_indptr()
        whole = self.theta.ndim == 1 and np.array_equal(self.theta_indptr, sizes)
        if not whole or len(self.theta) != sizes[problem.n]:
            raise ValueError('the natural parameters of the dual point are of other examples')
        if not np.isfinite(self.theta).all():
            raise ValueError('the natural parameters of the dual point are no finite numbers')
        if 'exp' not in problem.structure.oracles:
            raise ValueError('this structure has no dual points in natural parameters')
        return of_parameters(problem, sizes, self.theta, total)

    def value(self, problem, w=None):
        total = problem.kept_accumulator()
        gain = self.expectations(problem, total)
        return gain - total.norm2(problem.pool) / (2 * problem.lam * problem.n * problem.n)
