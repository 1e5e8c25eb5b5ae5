"""One run of `ssvm train`: read, build, run, write."""

import contextlib
import os
import time
import zlib

import numpy as np

from cython_ext.common.errors import UnfitDataError
from cython_ext.solvers.registry import check_oracles, solver_info
from cython_ext.text.vocabulary import Vocabulary
from data_formats.errors import DataError, SolverError, UsageError
from data_formats.files.atomic import is_special, remove_leftovers
from data_formats.models.model import Model, load, save
from ssvm_cli import __version__
from ssvm_cli.examples import absent_labels
from ssvm_cli.examples.training_set import read_examples
from ssvm_cli.options import constants
from ssvm_cli.options.problem_spec import ProblemSpec
from ssvm_cli.options.run_files import check_model, checkpoint_path, holds_something
from ssvm_cli.options.solver_choice import LIGHT, WHOLE
from ssvm_cli.terminal.progress import counted
from ssvm_cli.terminal.resources import available_cpus, return_memory
from ssvm_cli.terminal.signals import StopFlag
from ssvm_cli.training import hints, memory, monitor, older_model
from ssvm_cli.training.certificate import Tolerance, absolute_gap, relative_gap
from ssvm_cli.training.closing import STATUS_TEXT as STATUS_TEXT
from ssvm_cli.training.closing import last_line
from ssvm_cli.training.request import check_loss, requested_loss, requested_solver
from ssvm_cli.training.rescue import save_elsewhere
from ssvm_cli.training.schedule import Schedule

GAP_MISSED = 3


class Training:
    """One run of `ssvm train`, step by step."""

    _had = None  # the solver of the run that goes on

    def __init__(self, o, info, settings, progress):
        self.o = o
        self.info = info
        self.settings = info.settings(settings)
        self.progress = progress
        self.threads = o.threads or available_cpus()
        self._saved = False  # there is a checkpoint of this run
        self._unsaved = None  # why the last checkpoint could not be written, if so
        self.special = o.model == '-' or is_special(o.model)  # a pipe or a device
        self.model_path = o.model
        self.checkpoint_path = checkpoint_path(o)
        self.resumed, self.earlier = False, None  # mark of the complete model that was there at the beginning
        self.stays = False  # it does, since this run was interrupted
        self.begun = False  # from here on there is something to save
        self.failed = False  # something was asked for that could not be written

    def run(self):
        o = self.o
        if self.checkpoint_path:
            remove_leftovers(self.checkpoint_path)
        remove_leftovers(o.model + older_model.BESIDE)
        saved = self._load_checkpoint()
        self.resumed = saved is not None
        self._had = saved.run.get('solver') if saved else None
        self.earlier = older_model.mark(o.model) if saved is None else saved.parts.get('model', {}).get('earlier')
        self._read()
        self._build()
        tolerance = self.tolerance = None if o.no_certificate else Tolerance(o.rel_gap, o.epsilon)
        self.limits = self._limits()
        self.dev = self._dev_scorer()
        if saved is None:
            self._initialise()
        self._restore_solver(saved)
        log = self._log = self._open_log(self.dev, saved)
        with StopFlag() as stop:
            self.begun = True
            with self._failing_explained():
                status = self._optimise(stop, saved)
            self._let_go_of_the_solver()
            self.problem.features.forget_gram()
            return_memory()
            if self.monitor.result.w is not None:
                self._write(self._model(status, tolerance), stop, status == monitor.INTERRUPTED)
        if log:
            log.close()
        self._hint_at_no_weights(status, tolerance)
        self._finish(status, tolerance)
        if status == monitor.INTERRUPTED:
            return stop.exit_code
        if self.failed:
            return 1
        return GAP_MISSED if o.require_gap and status != monitor.CONVERGED else 0

    def _limits(self):
        """Of the run. The time is that of the process, so that reading and building count."""
        o = self.o
        return monitor.Limits(self.info.max_passes if o.max_passes is None else o.max_passes, o.max_time, o.started)

    def _optimise(self, stop, saved):
        """Runs the solver from where it is, or from a checkpoint; returns the status."""
        self.monitor = self._new_monitor(self.tolerance)
        if saved:
            try:
                self.monitor.restore(saved.parts)
            except (KeyError, ValueError, TypeError, AttributeError) as error:
                raise DataError(self.checkpoint_path, None, f'does not fit the run ({error})') from error
        return self.monitor.run(
            stop, keep_checkpoint=self.o.checkpoint is not None, evaluate_first=self.o.init is not None
        )

    def _new_monitor(self, tolerance):
        return monitor.Monitor(
            self.problem,
            self.solver,
            tolerance,
            self.limits,
            Schedule(self.o.gap_every),
            self.progress,
            log=self._write_row if self._log else None,
            dev=self.dev,
            save=self._save_checkpoint if self.checkpoint_path else None,
            save_every=self.o.checkpoint_every,
            seconds=self._making,
            stoppable=self.problem.stoppable,
            heeding=self.problem.structure.heeding,
        )

    # ------------------------------------------------------------------------------------------- before the run

    def _read(self):
        o = self.o
        self.examples = examples = read_examples(o, self._say_of_data)
        loss = requested_loss(o, examples.task.name)
        if o.task_loss is None and loss in WHOLE:  # not every solver can do with it
            self.info, settings = requested_solver(o, loss)
            self.settings = self.info.settings(settings)
        check_loss(self.info, examples.task.name, loss, o)
        lam, origin = constants.settle(o, examples.dataset.n)
        self.spec = ProblemSpec.from_options(o, examples, lam)
        for text in examples.descriptions(o):
            self._say_of_data(text)
        names = examples.dataset.label_names.names()
        self._hint(absent_labels.warning(o.train, names, examples.facts['format']))
        threads = counted(self.threads, 'thread')
        self.progress.say(f'{self.spec.sentence(origin)}, solver {self.info.name}, seed {o.seed}, {threads}')

    def _say_of_data(self, text):
        self.progress.say(f'{self.o.train}: {text}')

    def _build(self):
        o, spec = self.o, self.spec
        if spec.order == 2:
            memory.check_triplets(len(self.examples.dataset.label_names), self.threads)
        try:
            self.problem = spec.build(self.examples.dataset, self.threads, merge=True, kernel_cache=o.kernel_cache)
        except ValueError as error:
            raise self._refused(error) from error
        self._settle_solver()
        self.run_facts = self._run_facts()
        self.examples = self.examples.without_inputs()
        size = self.problem.memory_estimate() / 2**20
        self.progress.say(f'{self.problem.dim} weights with padding, {size:.0f} MB', level=2)
        if spec.kernel is not None:
            self.progress.say(str(self.problem.features.basis), level=2)
        hint = self.examples.task.memory_hint(self.examples.dataset)
        memory.check_problem(self.problem, self.info, *hint)
        try:
            self._make_solver()
        except ValueError as error:
            raise self._refused(error) from error

    def _settle_solver(self):
        """`auto` takes a solver that keeps nothing for each part where there is no memory for that; a run that goes on
        keeps the one that it had."""
        o = self.o
        if o.solver != 'auto' or o.settings or o.oracle or self._had == self.info.name or o.kernel != 'linear':
            return
        light, why = LIGHT.get(self.info.name), memory.too_much(self.problem, self.info)
        if light is None or not (why or self._had == light):
            return
        self.info = solver_info(light)
        self.settings = self.info.settings({})
        self.progress.say(f'solver {light}: {why or "as before"}')

    def _make_solver(self):
        """The solver of the present problem; some try out steps before their first pass."""
        check_oracles(self.info, self.problem)
        start = time.perf_counter()
        self.solver = self.info.make(self.problem, self.settings, self.o.seed)
        self._making = time.perf_counter() - start

    def _refused(self, error):
        """What the core cannot do: with the values in the data, or with these options."""
        of_data = isinstance(error, UnfitDataError)
        return DataError(self.o.train, None, str(error)) if of_data else UsageError(str(error))

    def _initialise(self):
        if self.o.init is None:
            return
        from ssvm_cli.initial.weights import same_dual_point, transferred_weights

        examples = self.examples
        if 'weights' in self.info.starts_with(self.spec.kernel):
            model = load(self.o.init)
            features = self.problem.features
            blocks = transferred_weights(examples.task, model, examples.dataset, features, self.o.init)
            self.solver.set_start(features.weights(blocks))
            if 'dual-point' in self.info.starts and model.dual is not None:
                with contextlib.suppress(ValueError):  # of other data, or of another kind: the weights have to do
                    self.solver.set_dual_point(model.dual)
            return
        model = load(self.o.init)
        point = same_dual_point(model, examples.dataset, self.spec.structure, self.o.init, self.info.name)
        try:
            self.solver.set_dual_point(point)
        except ValueError as error:
            raise DataError(
                self.o.init, None, str(error), f'{self.info.name} starts from a dual point of these data'
            ) from error

    def _dev_scorer(self):
        if self.o.dev is None:
            return None
        from ssvm_cli.training.dev_scores import DevScorer

        examples, header = self.examples, self.spec.to_header() | {'structure': self.spec.structure}
        frozen = Model(header, **examples.task.names(examples.dataset), scale=examples.scale)
        return DevScorer(self.o.dev, frozen, self.problem, self.o.feature_set)

    def _open_log(self, dev, saved):
        if self.o.log_path is None:
            return None
        extra = (*self._columns(), *(dev.columns if dev else ()))
        return self._new_log(extra, saved.parts['monitor']['rows'] if saved else None)

    def _columns(self):
        """Of the log, besides those that every run has."""
        return (*self.problem.features.figures(), *self.solver.figures())

    def _new_log(self, extra, keep):
        """The log with its first lines written; extra: columns besides the usual ones, keep: rows to go on from."""
        from data_formats.files.log import TrainingLog

        options = ' '.join(f'{key}={value}' for key, value in self.run_facts.items() if key != 'template')
        log = TrainingLog(self.o.log_path, f'ssvm {__version__} {options}'.replace('\n', ' '), extra, keep)
        if log.lost is not None:
            self._complain(log.lost)
        return log

    def _write_row(self, row):
        try:
            self._log.write(row)
        except DataError as error:
            self._complain(error)

    # --------------------------------------------------------------------------------------------- checkpoints

    def _run_facts(self):
        """What decides the result of the run: a checkpoint is good for the same run only."""
        o, spec = self.o, self.spec
        return {
            'version': __version__,
            **spec.facts(),
            **self._method(),
            'gap_every': o.gap_every,
            'certificate': not o.no_certificate,
            **self.examples.figures,
            'data': f'{_checksum(self.examples.dataset, spec.cost, spec.similarity):08x}',
        }

    def _method(self):
        """How the problem is solved, as models and checkpoints have it."""
        return {'solver': self.info.name, 'settings': self.settings, 'seed': self.o.seed}

    def _load_checkpoint(self):
        o = self.o
        if not (o.resume or o.resume_if_saved):
            return None
        if self.checkpoint_path is None:
            option = '--resume' if o.resume else '--resume-if-saved'
            raise UsageError(f'{option} needs --checkpoint FILE if MODEL is no regular file')
        if not o.resume and not holds_something(self.checkpoint_path):
            self.progress.say(f'{self.checkpoint_path}: nothing is saved there, so the run starts from the beginning')
            return None
        from data_formats.files import checkpoint

        saved = checkpoint.load(self.checkpoint_path)
        self._saved = True
        return saved

    def _restore_solver(self, saved):
        if saved is None:
            return
        from data_formats.files.checkpoint import differences

        found = differences(saved.run, self.run_facts)
        if found:
            option = '--resume' if self.o.resume else '--resume-if-saved'
            raise DataError(
                self.checkpoint_path,
                None,
                'is the checkpoint of another run: ' + '; '.join(found),
                f'give the command line and the data of that run again, or leave {option} out',
            )
        try:
            self.solver.restore(saved.parts['solver'])
        except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
            raise DataError(self.checkpoint_path, None, f'does not fit the solver ({error})') from error
        self.progress.say(f'going on from {self.checkpoint_path} after {counted(self.solver.passes, "pass", "passes")}')

    def _save_checkpoint(self, running):
        from data_formats.files import checkpoint

        parts = {'solver': self.solver.state(), **running.state()}
        if self.earlier is not None:
            parts['model'] = {'earlier': self.earlier}
        try:
            checkpoint.save(checkpoint.Checkpoint(self.run_facts, parts), self.checkpoint_path)
        except DataError as error:
            if str(error) != self._unsaved:
                self._complain(error)
            self._unsaved = str(error)
        else:
            self._saved, self._unsaved = True, None

    def _complain(self, error):
        """A full disk is no reason to lose a run: say so, go on, and end with status 1."""
        self.failed = True
        self.progress.say(str(error), level=0)

    # --------------------------------------------------------------------------------------------- after the run

    def _let_go_of_the_solver(self):
        """Its vectors make room for what the model takes to be written."""
        self.passes, self.oracle_calls = self.solver.passes, self.solver.oracle_calls
        self.solver = self.monitor.solver = None

    def _write(self, model, stop, interrupted):
        """MODEL, or where that has become impossible another file: an hour's work is not thrown away.

        Raises:
            DataError: neither could be written.
        """
        if self.special:
            stop.stand_aside()
        try:
            self.model_path = self._save(model, self.o.model, interrupted)
            self.stays = self.model_path != self.o.model
            if self.resumed and not interrupted:
                older_model.remove_beside(self.o.model, model.header)
        except DataError as error:
            elsewhere = save_elsewhere(model)
            if elsewhere is None:
                raise
            self._complain(error)
            self.model_path = elsewhere
            self.progress.say(f'{elsewhere}: the model is here instead', level=0)

    def _save(self, model, path, interrupted):
        """Write a model, that of an interrupted run beside a complete one of another run; returns its file."""
        if interrupted:
            path = older_model.place(path, model.header, self.resumed, self.earlier)
            check_model(path)
        save(model, path)
        return path

    def _of_another_run(self):
        """What the last line says of the model that was there."""
        what = f'; {self.o.model} is a complete model of another run and stays, this one is {self.model_path}'
        return what if self.stays else ''

    def _model(self, status, tolerance):
        """The model of the best weights."""
        examples, bounds = self.examples, self.monitor.result
        known = bounds.known  # nothing was evaluated before a signal: null in the header
        header = {
            'package_version': __version__,
            **self.spec.to_header(),
            **self._method(),
            **examples.figures,
            'passes': self.passes,
            'oracle_calls': self.oracle_calls,
            'primal': bounds.primal if known else None,
            'status': status,
        }
        if tolerance is not None:
            header |= {
                'dual': bounds.dual if known else None,
                'gap': absolute_gap(bounds.primal, bounds.dual) if known else None,
                'relative_gap': relative_gap(bounds.primal, bounds.dual) if known else None,
                'tolerance': {'rel_gap': tolerance.rel_gap, 'epsilon': tolerance.epsilon},
            }
        return Model(
            header,
            **examples.task.names(examples.dataset),
            weights=self.problem.features.blocks(bounds.w),
            cost=self.spec.cost,
            dual=bounds.stored_point if tolerance is not None else None,
            similarity=self.spec.similarity,
            scale=examples.scale,
        )

    def _finish(self, status, tolerance):
        """The last line, and no checkpoint that nobody asked for."""
        if self.o.checkpoint is None and self._saved and status != monitor.INTERRUPTED:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.checkpoint_path)
        if tolerance is not None and status not in (monitor.CONVERGED, monitor.INTERRUPTED):
            self._hint_at_the_gap()
        if status != monitor.INTERRUPTED:
            gap = None if tolerance is None else self._relative_gap()
            self._hint(hints.no_weights(self.model_path, self.passes, self.monitor.result, gap))
        bounds = self.monitor.result
        text = last_line(status, self.passes, tolerance, bounds) + self._of_another_run()
        if bounds.w is None and self._saved:
            text += f'; {self.checkpoint_path} is saved and --resume goes on from there'
        elif status == monitor.INTERRUPTED and self._saved:
            self.progress.say(f'{self.model_path} and {self.checkpoint_path} are saved; --resume goes on from there')
        self.progress.say(text)

    def _hint_at_the_gap(self):
        """What would have closed it sooner."""
        self._hint(hints.large_features(self.o.train, self.examples.largest, self._relative_gap()))
        self._hint(hints.short_steps(self.info.name, self.settings))

    def _hint_at_no_weights(self, status, tolerance):
        """What may have kept them from growing, where no hint at the gap says so."""
        silent = status == monitor.CONVERGED or (tolerance is None and status != monitor.INTERRUPTED)
        if silent and self.passes and not np.any(self.monitor.result.w):
            gap = None if tolerance is None else self._relative_gap()
            self._hint(hints.large_features(self.o.train, self.examples.largest, gap))

    @contextlib.contextmanager
    def _failing_explained(self):
        """Say why a run fails, also when it is quiet."""
        with np.errstate(all='ignore'):  # numbers that are not finite end the run, or are of no weights that are kept
            try:
                yield
            except SolverError:
                self._hint(hints.large_features(self.o.train, self.examples.largest, None), level=0)
                raise

    def _relative_gap(self):
        return relative_gap(self.monitor.result.primal, self.monitor.result.dual)

    def _hint(self, text, level=1):
        if text is not None:
            self.progress.say(text, level=level)


def _checksum(dataset, *matrices):
    """CRC of everything that makes the problem: the arrays of the data, the names, matrices that may be None."""
    crc = 0
    fields = vars(dataset).values()
    arrays = [value for value in fields if isinstance(value, np.ndarray)]
    arrays += [array for names in fields if isinstance(names, Vocabulary) for array in names.to_arrays()]
    for array in [*arrays, *(matrix for matrix in matrices if matrix is not None)]:
        crc = zlib.crc32(np.ascontiguousarray(array).view(np.uint8), crc)
    return crc
