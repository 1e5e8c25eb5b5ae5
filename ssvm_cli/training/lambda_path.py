"""`ssvm train --lambda-path FROM:TO:FACTOR`: a regularisation path, every model started from the one before.

The dual variables of one lambda are feasible for every other, so a warm start costs nothing and saves most passes
(Collins et al. 2008, section 7.1, Table 2).
"""

import contextlib
import os
from dataclasses import replace

from cython_ext.common.parallel import Interrupted
from data_formats.errors import DataError, UsageError
from ssvm_cli.options.run_files import path_model
from ssvm_cli.terminal.signals import StopFlag
from ssvm_cli.training import monitor
from ssvm_cli.training.certificate import Tolerance
from ssvm_cli.training.schedule import Schedule
from ssvm_cli.training.session import GAP_MISSED, Training

COLUMNS = ('lambda', 'cumulative_passes')


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


class PathTraining(Training):
    """One run of `ssvm train` over several values of lambda."""

    def _read(self):
        self.o.lam = self.o.lambda_path[0]
        super()._read()

    def run(self):
        o = self.o
        self._read()
        self._build()
        self._tolerance = None if o.no_certificate else Tolerance(o.rel_gap, o.epsilon)
        self._dev = self._dev_scorer()
        self._initialise()
        if o.path_models is not None:
            os.makedirs(o.path_models, exist_ok=True)
        log = self._log = self._open_log(self._dev, None)
        self._best, self._cumulative, missed = None, 0, False
        with StopFlag() as stop:
            self.begun = True
            for place, lam in enumerate(o.lambda_path):
                if place and not self._next(lam, stop):
                    status, missed = monitor.INTERRUPTED, True
                    break
                status = self._train_one(stop, place)
                missed |= status != monitor.CONVERGED
                if status in (monitor.INTERRUPTED, monitor.MAX_TIME):
                    break
            model = self._best[1]
            self._write(model, stop, status == monitor.INTERRUPTED)
        if log:
            log.close()
        if missed and self._tolerance is not None and status != monitor.INTERRUPTED:
            self._hint_at_the_gap()
        chosen = 'best on --dev' if self._dev else 'last'
        self.progress.say(
            f'{self.model_path} is the {chosen}, lambda {model.header["lambda"]:.6g}{self._of_another_run()}'
        )
        if status == monitor.INTERRUPTED:
            return stop.exit_code
        if self.failed:
            return 1
        return GAP_MISSED if o.require_gap and missed else 0

    def _next(self, lam, stop):
        """The problem and the solver for the next lambda, warm-started from the best bounds of the one before. Returns
        whether that was finished before a signal."""
        bounds, self.spec = self.monitor.bounds, replace(self.spec, lam=lam)
        self.problem = self.problem.with_lambda(lam)
        try:
            with self.problem.stoppable(stop.flag):
                self._make_solver()
                if 'dual-point' in self.info.starts and bounds.point is not None:
                    self.solver.set_dual_point(bounds.point)
                elif 'weights' in self.info.starts and bounds.w is not None:
                    self.solver.set_start(bounds.w)
        except Interrupted:
            return False
        return True

    def _train_one(self, stop, place):
        """Trains at the present lambda; a row of the log, and the model if it is wanted. Returns the status."""
        o = self.o
        self.monitor = monitor.Monitor(
            self.problem,
            self.solver,
            self._tolerance,
            self._limits(),
            Schedule(o.gap_every),
            self.progress,
            seconds=self._making,
            stoppable=self.problem.stoppable,
            heeding=self.problem.structure.heeding,
        )
        with self._failing_explained():
            status = self.monitor.run(stop, evaluate_first=place > 0 or o.init is not None)
        row, scores, bounds = None, {}, self.monitor.result
        with self.problem.stoppable(stop.flag), contextlib.suppress(Interrupted):
            row = self.monitor.row()
            scores = self._dev.score(bounds.w) if self._dev else {}
        self._let_go_of_the_solver()
        self._cumulative += self.passes
        if self._log and row is not None:
            self._write_row(row | {'lambda': self.spec.lam, 'cumulative_passes': self._cumulative, **scores})
        said = ''.join(f', {name} {value:.4f}' for name, value in scores.items())
        self.progress.say(f'lambda {self.spec.lam:.6g} ({place + 1} of {len(o.lambda_path)}): {status}{said}')
        if self._best is None or bounds.known:
            self._keep(self._model(status, self._tolerance), scores)
        return status if stop.signum is None else monitor.INTERRUPTED

    def _keep(self, model, scores):
        """The model of a lambda: into the folder for all, and for MODEL if it is the best so far or nothing judges."""
        score = list(scores.values())[-1] if scores else None
        if self.o.path_models is not None:
            try:
                self._save(model, path_model(self.o, self.spec.lam), model.header['status'] == monitor.INTERRUPTED)
            except DataError as error:
                self._complain(error)
        if self._best is None or not self._dev or (score is not None and score > self._best[0]):
            self._best = score, model

    def _open_log(self, dev, saved):
        if self.o.log_path is None:
            return None
        return self._new_log(
            (*COLUMNS, *self.problem.features.figures(), *self.solver.figures(), *(dev.columns if dev else ())), None
        )
