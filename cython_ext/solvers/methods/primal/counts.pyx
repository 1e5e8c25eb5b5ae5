"""Generative baselines by counting: what the gold outputs have, turned into logarithms of probabilities.

The feature map knows which model has its weights (cython_ext/features/tokens/generative.py): a hidden Markov model for
chains, naive Bayes for multiclass, a probabilistic context-free grammar for trees.
"""

from libc.stdint cimport int32_t

from cython_ext.features.accumulators cimport Accumulator
from cython_ext.features.tokens.generative import GenerativeModel
from cython_ext.core.problem cimport Problem
from cython_ext.solvers.options import Option, SolverInfo
from cython_ext.solvers.solver cimport Solver
from cython_ext.solvers.blocks.working_sets import WorkingSets
from cython_ext.structures.workspace cimport Workspace


cdef class Counts(Solver):
    """options: as OPTIONS below; there is nothing random, seed is not used. Finished after one pass, without a single
    oracle call. Raises ValueError where the probabilities cannot be written as weights."""

    minimises = False

    cdef readonly object w
    cdef readonly double smoothing
    cdef object model                           # (counts, smoothing) -> weights

    def __init__(self, Problem problem not None, options, seed=0):
        Solver.__init__(self, problem)
        self.model = problem.features.helper(GenerativeModel)
        self.w, self.smoothing = problem.features.zeros(), options['smoothing']

    def run_pass(self, stop):
        cdef Accumulator total = self.problem.accumulator()
        problem = self.problem
        problem.sweep(self._count, stop, total=total)
        if stop[0]:
            return False
        total.total(self.w, problem.pool)
        self.w[:] = self.model(self.w, self.smoothing)
        self.passes += 1
        self.finished = True
        return True

    def _count(self, const int32_t[::1] stop, Accumulator total, Py_ssize_t chunk, Py_ssize_t begin, Py_ssize_t end):
        """The statistics of the gold outputs of a range of examples."""
        cdef Workspace work = Workspace(self.problem.structure, None)
        cdef Py_ssize_t i, count
        with nogil:
            for i in range(begin, end):
                if stop[0]:
                    break
                count = self.problem.structure.parts(i, self.problem.structure.gold(i), work.ids, work.counts)
                total.put_parts(chunk, i, count, work.ids, work.counts, 1.0)

    def iterates(self):
        return [('current', self.w)]

    def dual_value(self):
        return None if self.problem.sums else 0.0

    def dual_point(self):
        """That of the gold outputs."""
        return None if self.problem.sums else WorkingSets(self.problem.structure).dual_point()

    def state(self):
        return {**Solver.state(self), 'w': self.w.copy()}

    def restore(self, state):
        Solver.restore(self, state)
        self.w[:] = state['w']


OPTIONS = {
    'smoothing': Option(float, 1.0, 'added to every count; 0.1 is often better where attributes or rules are many',
                        minimum=1e-9),
}

INFO = SolverInfo(
    name='counts',
    summary='probabilities by counting (hidden Markov model, naive Bayes, probabilistic grammar): a baseline that '
            'minimises no objective, done after one pass',
    oracle={'hinge': 'max', 'log': 'exp', 'softmax-margin': 'exp'},
    options=OPTIONS,
    certificate='softmax of the scores (log losses); hinge: none, the lower bound is 0',
    paper='Tsochantaridis et al. 2005, sections 5.2 (HMM) and 5.4 (PCFG)',
    make=Counts,
)
