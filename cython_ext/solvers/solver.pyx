"""Solver: an optimisation method that sees a Problem and nothing of its structure.

It works pass by pass (one oracle call per example, or one iteration) and does no I/O: between passes a monitor asks
for iterates and dual points, evaluates them and decides to stop.
"""

import numpy as np

from cython_ext.features.capabilities cimport Tables


class NoSolution(Exception):
    """The problem has none: a hard margin that no weights reach."""


cdef class Solver:
    """`minimises` is False for a baseline: its last weights are its result, whatever their objective.
    `temperature`: of the softmax of the iterates' scores that is the dual point of the hinge loss; None where it is
    not. `keeps_dual` is False where the dual point of dual_value is too large to be stored."""

    minimises = True
    temperature = None
    keeps_dual = True

    def __init__(self, Problem problem not None):
        self.problem = problem
        problem.features.helper(Tables).keep()
        self.passes = self.oracle_calls = 0
        self.finished = False

    def run_pass(self, stop):
        """One pass. stop: int32[1] that another thread or a signal handler may set to make it return early, with
        False; the next call then goes on in the same pass. True when the pass is finished."""
        return True

    def iterates(self):
        """[(name, weight vector)] worth evaluating as primal points, in double or single precision. Not copies: valid
        until the next pass."""
        return []

    def evaluation(self):
        """The problem's Evaluation (with the softmax dual) of the first iterate, where the solver has it anyway."""
        return None

    def estimate(self):
        """A rough (primal, dual) for free, from the last pass; None without one."""
        return None

    def figures(self, primal=np.inf):
        """What the log shows besides, {column: number}; always the same columns. primal: the lowest objective known."""
        return {}

    def dual_value(self):
        """D(alpha) of the current dual point; None where it is the softmax of the scores, or there is none."""
        return None

    def dual_point(self):
        """The current DualPoint (cython_ext/duals); None where it is the softmax of the scores, or not kept."""
        return None

    def state(self):
        """Everything that a run needs to go on, as a dict of arrays, numbers and strings."""
        return {'passes': self.passes, 'oracle_calls': self.oracle_calls, 'finished': bool(self.finished)}

    def restore(self, state):
        """Back to a state(), of the same problem and options."""
        self.passes, self.oracle_calls, self.finished = state['passes'], state['oracle_calls'], state['finished']
