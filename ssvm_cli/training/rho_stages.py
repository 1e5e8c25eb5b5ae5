"""`ssvm train --rho FROM:TO:FACTOR` and `--augmented-lagrangian`: soft constraints that grow harder in stages, each
started from the dual point of the one before (Meshi, Srebro and Hazan 2015, section 7).

A dual point of the soft problem is one for every rho and all multipliers. With multipliers nu, delta is pulled to
them instead of 0, and what it has become is the next nu: the proximal point method on g(w, delta), whose limit is the
optimum of the relaxed problem for any rho.
"""

import math
from dataclasses import replace

from cython_ext.common.parallel import Interrupted
from cython_ext.core.local_marginals import relaxed_dual
from cython_ext.tasks.relaxations import next_stage
from data_formats.errors import UsageError
from ssvm_cli.terminal.progress import counted
from ssvm_cli.training import monitor
from ssvm_cli.training.certificate import Tolerance, relative_gap
from ssvm_cli.training.session import Training

ON_THE_WAY = 0.1  # relative gap at which a rho is left for the next one
SHARE = 0.1  # of the gap of the relaxed problem, within which the soft ones with multipliers are solved
SMALLEST_SHARE = 0.01
NEAR = 0.1  # relative gap of the relaxed problem below which multipliers stay at delta, so that factors agree
SOLVED = (monitor.CONVERGED, monitor.FINISHED)


def check_stages(o, info):
    """Refuse options that make no sense with stages."""
    option = '--augmented-lagrangian' if o.augmented_lagrangian else '--rho FROM:TO:FACTOR'
    for name, given in {
        '--lambda-path': o.lambda_path is not None,
        '--resume': o.resume,
        '--resume-if-saved': o.resume_if_saved,
        '--checkpoint': o.checkpoint is not None,
        '--no-certificate': o.no_certificate,
        '--smooth-max': o.augmented_lagrangian and o.smooth_max is not None,
    }.items():
        if given:
            raise UsageError(f'{option} cannot be combined with {name}')
    if 'dual-point' not in info.starts:
        raise UsageError(f'{option}: {info.name} cannot start from the dual point of the stage before (use bcfw)')


class StagedTraining(Training):
    """One run of `ssvm train` over several problems with soft constraints. The log, the limits and what the model says
    of passes are about all of them; primal and dual are of the last one."""

    def _read(self):
        super()._read()
        self.checkpoint_path = None
        self._rhos = list(self.o.rho or (self.spec.structure['rho'],))
        self._multipliers, self._relaxed_gap, self._share = Multipliers(), 1.0, SHARE
        self._before = {'pass': 0, 'oracle_calls': 0, 'seconds': 0.0}  # in earlier stages

    def _columns(self):
        return ('rho', *super()._columns())

    def _optimise(self, stop, saved):
        stage, whole = 1, self.limits
        while True:
            self.limits = replace(whole, max_passes=whole.max_passes - self._before['pass'])
            self.monitor = self._new_monitor(self._tolerance_of_stage())
            status = self.monitor.run(stop, evaluate_first=stage == 1 and self.o.init is not None)
            if status == monitor.INTERRUPTED:
                return status
            present = self.spec, self.problem, self.solver, {**self._before}
            try:
                with self.problem.stoppable(stop.flag):
                    solved = self._report(stage)
                    if status not in SOLVED or (len(self._rhos) == 1 and (solved or not self.o.augmented_lagrangian)):
                        return status
                    self._next()
            except Interrupted:  # between two stages
                self.spec, self.problem, self.solver, self._before = present
                return monitor.INTERRUPTED
            stage += 1

    def _tolerance_of_stage(self):
        tolerance = self.tolerance
        if len(self._rhos) > 1:
            return Tolerance(max(ON_THE_WAY, tolerance.rel_gap), tolerance.epsilon)
        if self.o.augmented_lagrangian:
            return Tolerance(self._share * max(tolerance.rel_gap, self._relaxed_gap))
        return tolerance

    def _report(self, stage):
        """Says where a stage has ended; returns whether the relaxed problem is solved to the tolerance."""
        bounds = self.monitor.bounds
        primal = self.problem.figures(bounds.w, bounds.primal)['relaxed_primal']
        dual = 0.0 if bounds.point is None else relaxed_dual(self.problem, bounds.point)
        gap = relative_gap(primal, dual)
        if stage > 1 and gap >= self._relaxed_gap:  # too roughly solved for the multipliers to lead anywhere
            self._share = max(self._share / 2, SMALLEST_SHARE)
        self._relaxed_gap = min(gap, self._relaxed_gap)
        passes = counted(self.solver.passes, 'pass', 'passes')
        self.progress.say(
            f'stage {stage}, rho {self.spec.structure["rho"]:g}: {passes}, relaxed primal {primal:.6g}, '
            f'relaxed dual {dual:.6g}, relative gap {gap:.3g}'
        )
        self._relaxed = primal, dual
        return self.tolerance.reached(primal, dual)

    def _next(self):
        """The next problem, and a solver that starts from where the one before has ended."""
        bounds, features = self.monitor.bounds, self.problem.features
        if len(self._rhos) > 1:
            del self._rhos[0]
            multipliers = None
        else:
            multipliers = self._multipliers.after(features.delta_of(bounds.w), self._relaxed_gap > NEAR)
        self._count()
        self.spec = replace(self.spec, structure={**self.spec.structure, 'rho': self._rhos[0]})
        self.problem = next_stage(self.problem, self._rhos[0], multipliers, self.spec.variant)
        self._make_solver()
        if bounds.point is not None:
            self.solver.set_dual_point(bounds.point)

    def _count(self):
        """Adds what the present stage has done to what was done before."""
        self._before['pass'] += self.solver.passes
        self._before['oracle_calls'] += self.solver.oracle_calls
        self._before['seconds'] += self.monitor.seconds

    def _write_row(self, row):
        done = {key: row[key] + value for key, value in self._before.items()}
        super()._write_row(row | done | {'rho': self.spec.structure['rho']})

    def _finish(self, status, tolerance):
        super()._finish(status, tolerance)
        if self.o.augmented_lagrangian and status != monitor.INTERRUPTED:
            self.progress.say(f'the relaxed problem: {tolerance.sentence(*self._relaxed)}')

    def _let_go_of_the_solver(self):
        super()._let_go_of_the_solver()
        self.passes += self._before['pass']
        self.oracle_calls += self._before['oracle_calls']


class Multipliers:
    """The multipliers of one stage after the other: where delta has come to, and beyond in the direction of its last
    step (the accelerated proximal point method of Guler 1992); not beyond where it has turned."""

    def __init__(self):
        self._delta = self._given = None
        self._t = 1.0

    def after(self, delta, beyond=True):
        """The next multipliers, float64[agreements], given the delta that those before have led to. beyond: whether
        they may go beyond it."""
        before, self._delta = self._delta, delta
        if before is None:
            self._given = delta
            return delta
        step = delta - before
        if not beyond or step @ (self._given - delta) > 0:
            self._t = 1.0
        t, self._t = self._t, (1 + math.sqrt(1 + 4 * self._t**2)) / 2
        self._given = delta + (t - 1) / self._t * step
        return self._given
