"""`ssvm train --lambda-path FROM:TO:FACTOR`: a regularisation path, every model started from the one before.

The dual variables of one lambda are feasible for every other, so a warm start costs nothing and saves most passes
(Collins et al. 2008, section 7.1, Table 2).
"""

import contextlib
import os
from dataclasses import replace

from cython_ext.common.parallel import Interrupted
from data_formats.errors import DataError, UsageError
from ssvm_cli.options.problem_spec import ProblemSpec
from ssvm_cli.options.run_files import path_model
from ssvm_cli.training import closing, monitor
from ssvm_cli.training.single_problem import Outcome
from ssvm_cli.training.step import Step


def check_path(o, info):
    """Refuse options that make no sense with a path."""
    for name, given in {
        '--lambda and -c': o.lam is not None or o.c is not None,
        '--hard-margin': o.hard_margin,
        '--resume': o.resume,
        '--resume-if-saved': o.resume_if_saved,
        '--checkpoint': o.checkpoint is not None,
    }.items():
        if given:
            raise UsageError(f'--lambda-path cannot be combined with {name}')
    if not info.minimises:
        raise UsageError(f'--lambda-path: {info.name} does not depend on lambda')
    if not info.starts:
        raise UsageError(f'--lambda-path: {info.name} cannot start from the model before')
    if o.path_models is not None and os.path.exists(o.path_models):
        if not os.path.isdir(o.path_models):
            raise UsageError(f'--path-models {o.path_models}: is no folder')
        if not os.access(o.path_models, os.W_OK):
            raise UsageError(f'--path-models {o.path_models}: is not writable')


class LambdaPath:
    """The plan of several values of lambda: a row of the log for each, which has the best bounds, and a model."""

    columns = ('lambda', 'cumulative_passes')
    resumable = False

    def __init__(self, o):
        self._lambdas, self._folder = o.lambda_path, o.path_models
        self._best = None  # (score on --dev or None, Model), what becomes MODEL
        self._passes = 0  # of all steps

    def solve(self, session, stop, saved):
        if self._folder is not None:
            os.makedirs(self._folder, exist_ok=True)
        missed = False
        for place, lam in enumerate(self._lambdas):
            if place and not self._go_on(session, lam, stop):
                status, missed = monitor.INTERRUPTED, True
                break
            status = self._solve_one(session, place, stop)
            missed |= status != monitor.CONVERGED
            if status in (monitor.INTERRUPTED, monitor.MAX_TIME):
                break
        return Outcome(status, missed, self._best[1])

    def conclude(self, session, outcome):
        if outcome.missed and session.tolerance is not None and not outcome.interrupted:
            closing.hint_at_the_gap(session)
        model, chosen = session.model_file, 'best on --dev' if session.dev else 'last'
        lam = ProblemSpec.from_header(outcome.model.header).lam
        session.progress.say(f'{model.path} is the {chosen}, lambda {lam:.6g}{model.of_another_run()}')

    def _go_on(self, session, lam, stop):
        """The step of the next lambda, warm-started from the best bounds of the one before. Returns whether that was
        finished before a signal."""
        before = session.step
        problem, bounds = before.problem.with_lambda(lam), before.monitor.bounds
        try:
            with problem.stoppable(stop.flag):
                step = Step(replace(before.spec, lam=lam), problem, before.method)
                starts = step.method.info.starts
                if 'dual-point' in starts and bounds.point is not None:
                    step.solver.set_dual_point(bounds.point)
                elif 'weights' in starts and bounds.w is not None:
                    step.solver.set_start(bounds.w)
        except Interrupted:
            return False
        session.step = step
        return True

    def _solve_one(self, session, place, stop):
        """Solves the present step; a row of the log, and the model if it is wanted. Returns the status."""
        step = session.step
        lam, driver = step.spec.lam, session.watched(session.tolerance, session.limits)
        with session.failing_explained():
            status = driver.run(stop, evaluate_first=place > 0 or session.o.init is not None)
        row, scores, bounds = None, {}, step.result
        with step.problem.stoppable(stop.flag), contextlib.suppress(Interrupted):
            row = driver.row()
            scores = session.dev.score(bounds.w) if session.dev else {}
        step.let_go()
        self._passes += step.passes
        if row is not None:
            session.write_row(row | {'lambda': lam, 'cumulative_passes': self._passes, **scores})
        said = ''.join(f', {name} {value:.4f}' for name, value in scores.items())
        session.progress.say(f'lambda {lam:.6g} ({place + 1} of {len(self._lambdas)}): {status}{said}')
        if self._best is None or bounds.known:
            self._keep(session, status, scores)
        return status if stop.signum is None else monitor.INTERRUPTED

    def _keep(self, session, status, scores):
        """The model of a lambda: into the folder for all, and for MODEL if it is the best so far or nothing judges."""
        model, score = session.model(status), list(scores.values())[-1] if scores else None
        if self._folder is not None:
            path = path_model(session.o, session.step.spec.lam)
            try:
                session.model_file.save(model, path, status == monitor.INTERRUPTED)
            except DataError as error:
                session.complain(error)
        if self._best is None or not session.dev or (score is not None and score > self._best[0]):
            self._best = score, model
