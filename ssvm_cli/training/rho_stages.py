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
from cython_ext.core.relaxed_primal import relaxed_primal
from cython_ext.tasks.relaxations import next_stage
from data_formats.errors import UsageError
from ssvm_cli.terminal.progress import counted
from ssvm_cli.training import closing, monitor
from ssvm_cli.training.certificate import Tolerance, relative_gap
from ssvm_cli.training.single_problem import concluded
from ssvm_cli.training.step import Step

ON_THE_WAY = 0.1  # relative gap at which a rho is left for the next one
SOFT_SHARE = 0.1  # of the gap of the relaxed problem, within which the soft ones with multipliers are solved
SMALLEST_SHARE = 0.01
NEAR_GAP = 0.1  # relative gap of the relaxed problem below which multipliers stay at delta, so that factors agree
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


class RhoStages:
    """The plan of several problems with soft constraints. The log, the limits and what the model says of passes are
    about all of them; primal and dual are of the last one."""

    columns = ('rho',)
    resumable = False

    def __init__(self, o):
        self._rhos, self._augmented = list(o.rho or ()), o.augmented_lagrangian
        self._multipliers, self._relaxed_gap, self._share = Multipliers(), 1.0, SOFT_SHARE
        self._before = {'pass': 0, 'oracle_calls': 0, 'seconds': 0.0}  # in earlier stages

    def solve(self, session, stop, saved):
        self._rhos = self._rhos or [session.step.spec.structure['rho']]
        with session.failing_explained():
            status = self._stages(session, stop)
        return concluded(session, status, self._before['pass'], self._before['oracle_calls'])

    def conclude(self, session, outcome):
        closing.conclude(session, outcome.status)
        if self._augmented and not outcome.interrupted:
            session.progress.say(f'the relaxed problem: {session.tolerance.sentence(*self._relaxed)}')

    def _stages(self, session, stop):
        """Solves one problem after the other; returns the status."""
        stage, most = 1, session.limits.max_passes

        def log(row):
            done = {key: row[key] + value for key, value in self._before.items()}
            session.write_row(row | done | {'rho': session.step.spec.structure['rho']})

        while True:
            limits = replace(session.limits, max_passes=most - self._before['pass'])
            driver = session.watched(self._tolerance(session.tolerance), limits, log=log, dev=session.dev)
            status = driver.run(stop, evaluate_first=stage == 1 and session.o.init is not None)
            if status == monitor.INTERRUPTED:
                return status
            try:
                with session.step.problem.stoppable(stop.flag):
                    solved = self._report(session, stage)
                    if status not in SOLVED or (len(self._rhos) == 1 and (solved or not self._augmented)):
                        return status
                    self._go_on(session)
            except Interrupted:  # between two stages
                return monitor.INTERRUPTED
            stage += 1

    def _tolerance(self, asked):
        """Of the present stage; asked: of the run."""
        if len(self._rhos) > 1:
            return Tolerance(max(ON_THE_WAY, asked.rel_gap), asked.epsilon)
        if self._augmented:
            return Tolerance(self._share * max(asked.rel_gap, self._relaxed_gap))
        return asked

    def _report(self, session, stage):
        """Says where a stage has ended; returns whether the relaxed problem is solved to the tolerance."""
        step = session.step
        bounds, problem = step.monitor.bounds, step.problem
        primal = relaxed_primal(problem, bounds.w, bounds.primal)
        dual = 0.0 if bounds.point is None else relaxed_dual(problem, bounds.point)
        gap = relative_gap(primal, dual)
        if stage > 1 and gap >= self._relaxed_gap:  # too roughly solved for the multipliers to lead anywhere
            self._share = max(self._share / 2, SMALLEST_SHARE)
        self._relaxed_gap = min(gap, self._relaxed_gap)
        passes = counted(step.solver.passes, 'pass', 'passes')
        session.progress.say(
            f'stage {stage}, rho {step.spec.structure["rho"]:g}: {passes}, relaxed primal {primal:.6g}, '
            f'relaxed dual {dual:.6g}, relative gap {gap:.3g}'
        )
        self._relaxed = primal, dual
        return session.tolerance.reached(primal, dual)

    def _go_on(self, session):
        """The step of the next problem, which starts from where the one before has ended."""
        step = session.step
        bounds, features = step.monitor.bounds, step.problem.features
        if len(self._rhos) > 1:
            del self._rhos[0]
            multipliers = None
        else:
            multipliers = self._multipliers.after(features.delta_of(bounds.w), self._relaxed_gap > NEAR_GAP)
        rho = self._rhos[0]
        spec = replace(step.spec, structure={**step.spec.structure, 'rho': rho})
        following = Step(spec, next_stage(step.problem, rho, multipliers, spec.variant), step.method)
        if bounds.point is not None:
            following.solver.set_dual_point(bounds.point)
        done = {'pass': step.solver.passes, 'oracle_calls': step.solver.oracle_calls, 'seconds': step.monitor.seconds}
        self._before = {key: value + done[key] for key, value in self._before.items()}
        session.step = following


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
