"""Nonlinear conjugate gradients on the primal of the log losses, by scipy with Polak and Ribiere's formula.

Collins et al. (2008, section 7) compared with them too: they did worse than L-BFGS.
"""

import numpy as np

from cython_ext.solvers.options import Option, SolverInfo
from cython_ext.solvers.parts.descent import Descent


class ConjugateGradients(Descent):
    """options: as OPTIONS below."""

    method = 'CG'

    def settings(self):
        return {'maxiter': int(np.iinfo(np.int32).max), 'gtol': 0.0}


OPTIONS = {'restart': Option(int, 100, 'iterations after which a direction is the steepest again', minimum=1)}

INFO = SolverInfo(
    name='cg',
    summary='nonlinear conjugate gradients on the primal',
    oracle={'log': 'exp', 'softmax-margin': 'exp'},
    options=OPTIONS,
    certificate='softmax of the scores',
    paper='Polak and Ribiere 1969; Collins et al. 2008, section 7',
    make=ConjugateGradients,
    starts=('weights',),
)
