"""One run of `ssvm train`: read, build, run, write."""

import contextlib
import os
import time
import zlib

import numpy as np

from cython_ext.errors import UnfitDataError
from cython_ext.features.kernel_function import Kernel
from cython_ext.solvers.registry import check_oracles, solver_info
from cython_ext.tasks.registry import task_info
from cython_ext.text.vocabulary import Vocabulary
from data_formats.atomic import is_special, remove_leftovers
from data_formats.errors import DataError, SolverError, UsageError
from data_formats.model import Model, load, save
from data_formats.registry import format_named
from ssvm_cli import __version__, absent_labels, constants, hints, memory, monitor, older_model
from ssvm_cli.certificate import Tolerance, absolute_gap, relative_gap
from ssvm_cli.classes import TREE, read_classes
from ssvm_cli.closing import STATUS_TEXT as STATUS_TEXT
from ssvm_cli.closing import last_line
from ssvm_cli.inputs import read_training_data
from ssvm_cli.kernels import requested_kernel
from ssvm_cli.options import TASK_LOSSES
from ssvm_cli.progress import counted
from ssvm_cli.relaxation import said_of
from ssvm_cli.request import check_loss, requested_loss, requested_solver, requested_variant
from ssvm_cli.rescue import save_elsewhere
from ssvm_cli.resources import available_cpus, return_memory
from ssvm_cli.schedule import Schedule
from ssvm_cli.signals import StopFlag
from ssvm_cli.solvers import LIGHT, WHOLE
from ssvm_cli.tasks import task_named
from ssvm_cli.training_files import check_model, checkpoint_path, holds_something

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
        asked = o.train, o.format_name, o.template, o.task, o.min_freq, o.bias
        data, self.facts = read_training_data(*asked, o, self._say_of_data)
        self.task = task_named(self.facts['task'])
        self.structure = self.task.structure(o, format_named(self.facts['format']), data)
        data = self.dataset = self._trainable(data)
        self.largest = data.largest_value
        self.scale = getattr(data, 'scale', None)  # datasets without values have none
        self.classes = read_classes(o, self.task.name, data.label_names.names())
        self._settle_loss()
        if o.task_loss is None and self.loss_name in WHOLE:  # not every solver can do with it
            self.info, settings = requested_solver(o, self.loss_name)
            self.settings = self.info.settings(settings)
        check_loss(self.info, self.task.name, requested_loss(o, self.task.name), o)
        self.lam, origin = constants.settle(o, data.n)
        self.kernel, self.variant = requested_kernel(o), requested_variant(o)
        scaled = '' if self.scale is None else f', values scaled by {o.scale}'
        sizes = ', '.join(self.task.sizes(data))
        self._say_of_data(f'{sizes} ({self.facts["format"]}, {self.task.name}{scaled})')
        warning = self.task.warning(data, o, self.facts)
        if warning is not None:
            self._say_of_data(warning)
        self._hint(absent_labels.warning(o.train, data.label_names.names(), self.facts['format']))
        loss = '' if self.loss_name is None else f', task loss {self.loss_name}'
        kernel = '' if self.kernel is None else f', {Kernel.of(self.kernel)}'
        order = ', order 2' if self.structure.get('order') == 2 else ''
        if self.classes.kind is not None:
            kernel = f', classes by {self.classes.kind.replace("_", " ")}'
        variant = ''.join(f', {name}' for name in self.variant.names)
        kernel += said_of(self.structure)
        self.progress.say(
            f'{o.objective}{variant}{loss}{order}{kernel}, lambda {self.lam:.6g}{origin}, solver {self.info.name}, '
            f'seed {o.seed}, {counted(self.threads, "thread")}'
        )

    def _trainable(self, dataset):
        """The examples that can be learned from."""
        kept, about_others = self.task.trainable(dataset, self.structure)
        if kept is None:
            return dataset
        if not len(kept):
            raise DataError(self.o.train, None, f'nothing to learn from: {about_others}')
        self._say_of_data(about_others)
        return dataset.subset(kept)

    def _say_of_data(self, text):
        self.progress.say(f'{self.o.train}: {text}')

    def _settle_loss(self):
        """The task loss: its name for people and the model, and what the core takes."""
        from data_formats.label_matrix import read_cost_matrix

        o = self.o
        self.cost = None
        self.loss_name = self.loss = requested_loss(o, self.task.name)
        if o.task_loss == TREE:
            self.loss_name, self.cost = TREE, self.classes.tree_loss
            self.loss = self.cost
        elif o.task_loss not in (None, *TASK_LOSSES):
            self.loss_name = 'costs'
            self._check_costs()
            self.cost = self.loss = read_cost_matrix(o.task_loss, self.dataset.label_names.names())

    def _check_costs(self):
        """Refuse a cost matrix where there are no labels that it could be about."""
        info = task_info(self.task.name)
        if info.cost_matrix is None:
            known = ', '.join(info.losses)
            raise UsageError(f'--task-loss {self.o.task_loss}: {info.name} takes no cost matrix (choose from {known})')

    def _build(self):
        from cython_ext.tasks.build import build_problem

        o = self.o
        if self.structure.get('order') == 2:
            memory.check_triplets(len(self.dataset.label_names), self.threads)
        try:
            self.problem = build_problem(
                self.dataset,
                self.task.name,
                o.objective,
                self.loss,
                self.lam,
                o.feature_set,
                self.threads,
                merge=True,
                variant=self.variant,
                kernel=self.kernel,
                kernel_cache=o.kernel_cache,
                similarity=self.classes.similarity,
                structure=self.structure,
            )
        except ValueError as error:
            raise self._refused(error) from error
        self._settle_solver()
        self.run_facts = self._run_facts()
        self.dataset = self.dataset.without_inputs()  # the problem has them in a form of its own
        size = self.problem.memory_estimate() / 2**20
        self.progress.say(f'{self.problem.dim} weights with padding, {size:.0f} MB', level=2)
        if self.kernel is not None:
            self.progress.say(str(self.problem.features.basis), level=2)
        memory.check_problem(self.problem, self.info, *self.task.memory_hint(self.dataset))
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
        from ssvm_cli.warm_start import same_dual_point, transferred_weights

        if 'weights' in self.info.starts_with(self.kernel):
            model = load(self.o.init)
            features = self.problem.features
            blocks = transferred_weights(self.task, model, self.dataset, features, self.o.init)
            self.solver.set_start(features.weights(blocks))
            if 'dual-point' in self.info.starts and model.dual is not None:
                with contextlib.suppress(ValueError):  # of other data, or of another kind: the weights have to do
                    self.solver.set_dual_point(model.dual)
            return
        model = load(self.o.init)
        point = same_dual_point(model, self.dataset, self.structure, self.o.init, self.info.name)
        try:
            self.solver.set_dual_point(point)
        except ValueError as error:
            raise DataError(
                self.o.init, None, str(error), f'{self.info.name} starts from a dual point of these data'
            ) from error

    def _dev_scorer(self):
        if self.o.dev is None:
            return None
        from ssvm_cli.dev import DevScorer

        header = {'task': self.task.name, 'data': self.facts, 'structure': self.structure}
        frozen = Model(header, **self.task.names(self.dataset), scale=self.scale)
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
        from data_formats.log import TrainingLog

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
        o, data = self.o, self.dataset
        return {
            'version': __version__,
            'task': self.task.name,
            'format': self.facts['format'],
            **self.task.facts(data, o),
            **self.structure,
            'min_freq': o.min_freq,
            'feature_set': o.feature_set,
            'kernel': self.kernel,
            'classes': self.classes.kind,
            'bias': o.bias,
            **({} if self.scale is None else {'scale': o.scale}),
            'objective': o.objective,
            'task_loss': self.loss_name,
            'rescale': o.rescale,
            'slack_norm': int(o.slack_norm),
            'hard_margin': o.hard_margin,
            'lambda': self.lam,
            'solver': self.info.name,
            'settings': self.settings,
            'seed': o.seed,
            'gap_every': o.gap_every,
            'certificate': not o.no_certificate,
            'examples': data.n,
            'tokens': data.tokens,
            'data': f'{_checksum(data, self.cost, self.classes.similarity):08x}',
        }

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
        from data_formats import checkpoint

        saved = checkpoint.load(self.checkpoint_path)
        self._saved = True
        return saved

    def _restore_solver(self, saved):
        if saved is None:
            return
        from data_formats.checkpoint import differences

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
        from data_formats import checkpoint

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
        o, data, bounds = self.o, self.dataset, self.monitor.result
        known = bounds.known  # nothing was evaluated before a signal: null in the header
        header = {
            'package_version': __version__,
            'task': self.task.name,
            'objective': o.objective,
            'loss': self.loss_name or 'none',
            'rescale': o.rescale,
            'slack_norm': int(o.slack_norm),
            'hard_margin': o.hard_margin,
            'lambda': self.lam,
            'feature_set': o.feature_set,
            'kernel': self.kernel,
            'classes': self.classes.kind,
            'data': self.facts,
            **({'structure': self.structure} if self.structure else {}),
            'min_freq': o.min_freq,
            'solver': self.info.name,
            'settings': self.settings,
            'seed': o.seed,
            'examples': data.n,
            'tokens': data.tokens,
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
            **self.task.names(data),
            weights=self.problem.features.blocks(bounds.w),
            cost=self.cost,
            dual=bounds.stored_point if tolerance is not None else None,
            similarity=self.classes.similarity,
            scale=self.scale,
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
        self._hint(hints.large_features(self.o.train, self.largest, self._relative_gap()))
        self._hint(hints.short_steps(self.info.name, self.settings))

    def _hint_at_no_weights(self, status, tolerance):
        """What may have kept them from growing, where no hint at the gap says so."""
        silent = status == monitor.CONVERGED or (tolerance is None and status != monitor.INTERRUPTED)
        if silent and self.passes and not np.any(self.monitor.result.w):
            gap = None if tolerance is None else self._relative_gap()
            self._hint(hints.large_features(self.o.train, self.largest, gap))

    @contextlib.contextmanager
    def _failing_explained(self):
        """Say why a run fails, also when it is quiet."""
        with np.errstate(all='ignore'):  # numbers that are not finite end the run, or are of no weights that are kept
            try:
                yield
            except SolverError:
                self._hint(hints.large_features(self.o.train, self.largest, None), level=0)
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
