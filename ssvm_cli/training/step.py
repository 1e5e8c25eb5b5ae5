"""One problem of a run, how it is solved, and what the solver has come to."""

import time
from dataclasses import dataclass

from cython_ext.solvers.options import SolverInfo
from cython_ext.tasks.fit import Wanted, check_fit
from ssvm_cli.training.monitor import Monitor
from ssvm_cli.training.schedule import Schedule


@dataclass(frozen=True)
class Method:
    """How problems are solved.

    Attributes:
        info: SolverInfo of the solver.
        settings: all of its options.
        seed: of everything random.
    """

    info: SolverInfo
    settings: dict
    seed: int

    @classmethod
    def of(cls, info, given, seed):
        """With the options that are given, and the defaults of the others."""
        return cls(info, info.settings(given), seed)

    def facts(self):
        """As models and checkpoints have it."""
        return {'solver': self.info.name, 'settings': self.settings, 'seed': self.seed}


class Step:
    """One problem that a plan leads to.

    Args:
        spec: the ProblemSpec.
        problem: the Problem.
        method: the Method, of which the solver is made; some solvers try out steps before their first pass.

    Attributes:
        solver: until let_go().
        monitor: what drives it, from watched() on.
        passes, oracle_calls: what the solver has done, after let_go().

    Raises:
        ValueError: the solver cannot solve the problem.
    """

    def __init__(self, spec, problem, method):
        self.spec, self.problem, self.method = spec, problem, method
        self.monitor = None
        check_fit(method.info, Wanted.of(problem))
        start = time.perf_counter()
        self.solver = method.info.make(problem, method.settings, method.seed)
        self._making = time.perf_counter() - start

    def watched(self, tolerance, limits, every, progress, **how):
        """The Monitor that will drive the solver: evaluating every so many passes, None where figures decide; how:
        further arguments of it."""
        self.monitor = Monitor(
            self.problem,
            self.solver,
            tolerance,
            limits,
            Schedule(every),
            progress,
            seconds=self._making,
            stoppable=self.problem.stoppable,
            heeding=self.problem.structure.heeding,
            **how,
        )
        return self.monitor

    @property
    def result(self):
        """The Bounds of the weights that it has come to."""
        return self.monitor.result

    def let_go(self, passes=0, oracle_calls=0):
        """Of the solver, whose vectors make room for what the model takes to be written. passes, oracle_calls: of
        earlier steps, which count too."""
        self.passes, self.oracle_calls = passes + self.solver.passes, oracle_calls + self.solver.oracle_calls
        self.solver = self.monitor.solver = None
