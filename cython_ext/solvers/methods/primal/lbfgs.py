"""L-BFGS on the primal of the log losses (scipy's implementation; Liu and Nocedal 1989)."""

import numpy as np

from cython_ext.solvers.options import Option, SolverInfo
from cython_ext.solvers.parts.descent import Descent


class Lbfgs(Descent):
    """options: as OPTIONS below."""

    method = 'L-BFGS-B'

    def settings(self):
        limit = int(np.iinfo(np.int32).max)
        return {'maxcor': self.options['memory'], 'maxiter': limit, 'maxfun': limit, 'ftol': 0.0, 'gtol': 0.0}


OPTIONS = {
    'memory': Option(int, 6, 'pairs of vectors that approximate the curvature', minimum=1, maximum=1000),
    'restart': Option(int, 100, 'iterations after which the memory is cleared', minimum=1),
}

INFO = SolverInfo(
    name='lbfgs',
    summary='limited-memory quasi-Newton method on the primal',
    oracle={'log': 'exp', 'softmax-margin': 'exp'},
    options=OPTIONS,
    certificate='softmax of the scores',
    paper='Liu and Nocedal 1989',
    make=Lbfgs,
    starts=('weights',),
)
