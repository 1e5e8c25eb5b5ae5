"""The loop around a solver: passes, certificates, log rows, checkpoints, and the decision to stop."""

import contextlib
import math
import time

import numpy as np

from cython_ext.common.parallel import Interrupted
from cython_ext.duals.scores import ScoresPoint
from cython_ext.solvers.solver import NoSolution
from data_formats.errors import SolverError
from ssvm_cli.terminal.progress import counted
from ssvm_cli.training.certificate import Bounds, Tolerance, absolute_gap, relative_gap
from ssvm_cli.training.limits import Clock, Limits
from ssvm_cli.training.schedule import Turns

CONVERGED = 'converged'  # the tolerance is reached
FINISHED = 'finished'  # the solver has nothing left to do, short of the tolerance
MAX_PASSES = 'max-passes'
MAX_TIME = 'max-time'
INTERRUPTED = 'interrupted'
# A running figure of the dual, relative to the primal, that may be nothing but rounding errors.
NEGLIGIBLE_GAIN = 1e-9


class Monitor:
    """Drives one solver on one problem.

    Args:
        problem, solver: the numerical core.
        tolerance: Tolerance, or None to compute no certificate at all.
        limits: Limits.
        schedule: Schedule; when to evaluate.
        progress: Progress.
        log: function that takes a row of the log, or None.
        dev: scorer of held-out data: dev.score(w) -> dictionary; or None.
        save: function of this monitor that writes a checkpoint.
        save_every: seconds between two checkpoints.
        seconds: that the solver has taken before its first pass.
        stoppable: function of a stop flag that makes a context manager, within which evaluations look at the flag.
        heeding: the same for oracles, in passes too.

    Attributes:
        bounds: of what has been evaluated.
        result: the bounds of the weights that the run has come to, after it.
    """

    def __init__(
        self, problem, solver, tolerance: Tolerance | None, limits: Limits, schedule, progress, log=None, dev=None,
        save=None, save_every=math.inf, seconds=0.0, stoppable=contextlib.nullcontext,
        heeding=contextlib.nullcontext,
    ):  # fmt: skip
        self.problem = problem
        self.solver = solver
        self.tolerance = tolerance
        self.limits = limits
        self.schedule = schedule
        self.turns = Turns()
        self.progress = progress
        self.log = log
        self.dev = dev
        self.save = save
        self.save_every = save_every
        self.stoppable, self.heeding = stoppable, heeding
        self.bounds = Bounds(lambda w, temperature: ScoresPoint.of(problem, w, temperature))
        self.result = self.bounds
        self.seconds = seconds  # inside the solver
        self.rows = 0
        from_scores = solver.temperature is not None or (problem.sums and solver.dual_value() is None)
        self._softmax = tolerance is not None and from_scores
        self._begun = False  # the weights before the first pass have been evaluated
        self._evaluated = None  # where the solver stood at the last evaluation
        self._due = False  # an evaluation comes before the next pass
        self._proved = None  # the dual point whose value has been computed from the data
        self._dev_scores = {}
        self._figures = None  # those of the problem at the best weights, once they were asked for
        self._clock = Clock(limits)
        self._saved = time.monotonic()

    def run(self, stop, keep_checkpoint=False, evaluate_first=False):
        """Run until something says stop. A signal ends passes and evaluations alike, and none is begun after it.

        Args:
            stop: StopFlag.
            keep_checkpoint: save the state at the end, whatever ended the run.
            evaluate_first: evaluate the start too.

        Returns:
            one of the status words above. Interrupted with a hard margin, there may be no weights in the result yet.
        """
        self._saved = time.monotonic()
        self._clock.start()
        first_row = self._evaluated is None and (evaluate_first or self.limits.max_passes == 0)
        self._due |= first_row
        with self._clock.watching(stop), self.heeding(stop.flag):
            if not self._begun and not first_row:
                self._offer_start(stop.flag)
            status = self._loop(stop)
        if self.save and (status == INTERRUPTED or keep_checkpoint):
            self.save(self)
        if status != INTERRUPTED:
            try:
                status = self._conclude(status, stop.flag)
            except Interrupted:
                status = INTERRUPTED
                if self.save and not keep_checkpoint:
                    self.save(self)
        if status == INTERRUPTED and self._evaluated is None:
            self._take_present_weights(stop.flag)
        return status

    def _conclude(self, status, stop):
        """Evaluate what the run has come to; returns its status. What has been saved is the state before this
        evaluation, which a run that goes on does not make. Interrupted is raised when the stop flag is set."""
        if self._evaluated is None or self._stale():
            self.evaluate(stop)
        with self.stoppable(stop):
            if self._converged():
                status = CONVERGED
            if self.bounds.w is None:
                passes = counted(self.solver.passes, 'pass', 'passes')
                raise SolverError(
                    f'no weights that satisfy all constraints were found in {passes} '
                    '(leave --hard-margin out where the data cannot be separated, or raise --max-passes)'
                )
            self._settle()
        return status

    def _take_present_weights(self, stop):
        """Make the solver's present weights the result, though nothing is known of them, where a pass has been begun or
        not even the start has been evaluated. (With a hard margin they may be of no use.)"""
        if self.problem.hard_margin or (self.solver.oracle_calls == 0 and self.bounds.w is not None):
            return
        point = None
        if self.tolerance is not None and self.solver.keeps_dual:
            with self.stoppable(stop), contextlib.suppress(Interrupted):  # it may take a pass
                point = self.solver.dual_point()
        self.result = Bounds.unknown(self.solver.iterates()[0][1], point, self._temperature())

    def _loop(self, stop):
        try:
            return self._passes(stop)
        except Interrupted:
            return MAX_TIME if stop.signum is None else INTERRUPTED

    def _passes(self, stop):
        """Pass after pass, and the evaluations that are due; returns the status. Interrupted: the stop flag was set
        during an evaluation."""
        if self._evaluated is not None and not self._stale() and self._is_converged(stop.flag):
            return CONVERGED  # a run that had come to its end is resumed
        while True:
            if self._due:
                self.evaluate(stop.flag)
                self._due = False
                self.schedule.evaluated(self.solver.passes)
                if self._is_converged(stop.flag):
                    return CONVERGED
            if self.save and time.monotonic() - self._saved >= self.save_every:
                self.save(self)
                self._saved = time.monotonic()
            if stop.signum is not None:
                return INTERRUPTED
            if self._clock.left() <= 0:
                return MAX_TIME
            if self.solver.passes >= self.limits.max_passes:
                return MAX_PASSES
            if self.solver.finished:
                return FINISHED
            start = time.perf_counter()
            try:
                whole = self.solver.run_pass(stop.flag)
            except NoSolution as error:
                raise SolverError(str(error)) from error
            self.seconds += time.perf_counter() - start
            if whole:
                self.progress.step(self.solver.passes, self.seconds)
                self._due = self.schedule.due(self.solver.passes, self._promising())

    def evaluate(self, stop=None):
        """Bounds of the solver's dual point and of one of its iterates; one row of the log.

        Raises:
            Interrupted: the stop flag was set; nothing has changed.
        """
        solver, bounds = self.solver, self.bounds
        best = bounds.primal if solver.minimises else math.inf
        with contextlib.nullcontext() if stop is None else self.stoppable(stop):
            name, w, now = self._look(stop)
            if not self.problem.hard_margin and not math.isfinite(now.primal):
                raise SolverError(self._failure(now.primal))
            better = now.primal < best
            known = (w, now.primal) if better else (bounds.w, bounds.primal)
            figures, scores = self._described(*known, again=not better)
            dual, point = self._own_dual(min(now.primal, best))
        self.turns.looked_at(name, now.primal)
        if not solver.minimises:
            bounds.forget_primal()
        bounds.offer_primal(now.primal, w, now.dual, self._temperature())
        self._figures, self._dev_scores = figures, scores
        if dual is not None and solver.keeps_dual:
            bounds.offer_dual(dual, point)
        elif dual is not None:
            bounds.see(dual)
        self._begun = True
        self._evaluated = self._place()
        self._write_row(now.primal, now.dual if dual is None else dual)

    def _described(self, w, primal, again=False):
        """(figures, dev scores) of weights, None before there are any; again: those that are known stay."""
        figures = self._figures if again and self._figures is not None else self.problem.log_columns(w, primal)
        scores = self._dev_scores
        if self.dev and w is not None and not (again and scores):
            scores = self.dev.score(w)
        return figures, scores

    def _look(self, stop):
        """(name, weights, Evaluation) of one of the solver's iterates: at most one oracle pass."""
        iterates = self.solver.iterates()
        name = self.turns.choose([name for name, _ in iterates])
        known = self.solver.evaluation() if name == iterates[0][0] else None
        w = dict(iterates)[name]
        return name, w, known or self._value(w, stop)

    def _own_dual(self, primal):
        """(the dual of the solver's own dual point, a function that makes that), (None, None) where it is the softmax
        of the scores. primal: the lowest one."""
        if self.tolerance is None:
            return None, None
        dual, point = self.solver.dual_value(), self.solver.dual_point
        if dual is not None and self.solver.keeps_dual and self.bounds.dual < dual < NEGLIGIBLE_GAIN * primal:
            return self._exact(point())
        return dual, point

    def _offer_start(self, stop):
        """Let the weights before the first pass count as an iterate, so that no run ends with worse ones."""
        if not self.problem.hard_margin and self.solver.minimises:
            try:
                with self.stoppable(stop):
                    w = self.solver.iterates()[0][1]
                    now = self.solver.evaluation() or self._value(w, stop)
            except Interrupted:
                return  # the run ends before its first pass
            self.bounds.offer_primal(now.primal, w, now.dual, self._temperature())
        self._begun = True

    def _value(self, w, stop):
        """The problem's Evaluation of some weights."""
        temperature = self._temperature()
        heat = {} if temperature is None else {'temperature': temperature}
        with np.errstate(all='ignore'):  # what is not finite is found by the caller
            return self.problem.evaluate(w, self._softmax, stop, **heat)

    def _temperature(self):
        """Of the softmax that makes a dual point for the hinge; None where the objective needs none."""
        return self.solver.temperature if self._softmax and not self.problem.sums else None

    def state(self):
        """What a checkpoint needs besides the solver's own state: dictionary of states by name."""
        mine = {
            'seconds': self.seconds,
            'rows': self.rows,
            'begun': self._begun,
            'evaluated': self._evaluated,
            'due': self._due,
            'elapsed': self._clock.elapsed(),
            'dev_scores': self._dev_scores,
        }
        bounds = self.bounds.state() if self.bounds.w is not None else {}
        return {'monitor': mine, 'schedule': self.schedule.state(), 'turns': self.turns.state(), 'bounds': bounds}

    def restore(self, parts):
        mine = parts['monitor']
        self.seconds = mine['seconds']
        self.rows = mine['rows']
        self._begun, self._evaluated, self._due = mine['begun'], mine['evaluated'], mine['due']
        self._clock.earlier = mine['elapsed']
        self._dev_scores = mine['dev_scores']
        self.schedule.restore(parts['schedule'])
        self.turns.restore(parts['turns'])
        if parts['bounds']:
            self.bounds.restore(parts['bounds'])

    def row(self, primal_now=None, dual_now=None):
        """The present bounds as a row of the log."""
        bounds = self.bounds
        row = {
            'pass': self.solver.passes,
            'oracle_calls': self.solver.oracle_calls,
            'seconds': round(self.seconds, 6),
            'primal': bounds.primal,
            'primal_now': primal_now,
        }
        if self.tolerance is not None:
            row |= {
                'dual': bounds.seen,
                'gap': absolute_gap(bounds.primal, bounds.seen),
                'relative_gap': relative_gap(bounds.primal, bounds.seen),
                'dual_now': dual_now,
            }
        if self._figures is None:
            self._figures = self.problem.log_columns(bounds.w, bounds.primal)
        return row | self._figures | self.solver.figures(bounds.primal) | self._dev_scores

    def _write_row(self, primal_now, dual_now):
        row = self.row(primal_now, dual_now)
        self.rows += 1
        if self.log:
            self.log(row)
        self.progress.row(row)

    def _failure(self, primal):
        bounds = self.bounds
        best = 'none' if bounds.w is None else f'primal {bounds.primal:.6g}, dual {bounds.dual:.6g}'
        passes = counted(self.solver.passes, 'pass', 'passes')
        return f'the run failed: primal is {primal} after {passes} (best certificate before: {best})'

    def _place(self):
        """Where the solver stands: work done, so that a pass that was interrupted counts as progress."""
        return [self.solver.passes, self.solver.oracle_calls]

    def _stale(self):
        return self._evaluated != self._place()

    def _promising(self):
        """Whether the solver's own rough figures say that the tolerance is reached."""
        estimate = self.solver.estimate() if self.tolerance else None
        return estimate is not None and self.tolerance.reached(*estimate)

    def _is_converged(self, stop):
        with self.stoppable(stop):
            return self._converged()

    def _converged(self):
        """Whether the bounds that the model will prove are within the tolerance."""
        if self.tolerance is None or not self.tolerance.reached(self.bounds.primal, self.bounds.dual):
            return False
        self._settle()
        return self.tolerance.reached(self.bounds.primal, self.bounds.dual)

    def _exact(self, point):
        """The dual computed from the data instead of a solver's running figure, and a function for its dual point."""
        return point.value(self.problem), lambda: point

    def _settle(self):
        """Replace the solver's running figure of the dual by one computed from the data, as `ssvm gap` does."""
        point = self.bounds.point
        if point is not None and point is not self._proved:
            self.bounds.prove(point.value(self.problem))
            self._proved = self.bounds.point
