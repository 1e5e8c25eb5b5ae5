"""One run of `ssvm train`: read, build, let a plan solve what is to be solved, write."""

import contextlib
import zlib

import numpy as np

from cython_ext.common.errors import UnfitDataError
from cython_ext.features.capabilities import Tables
from cython_ext.solvers.registry import solver_info
from cython_ext.text.vocabulary import Vocabulary
from data_formats.errors import DataError, SolverError, UsageError
from ssvm_cli import __version__
from ssvm_cli.examples import absent_labels
from ssvm_cli.examples.training_set import read_examples
from ssvm_cli.options import constants
from ssvm_cli.options.problem_spec import ProblemSpec
from ssvm_cli.options.solver_choice import LIGHT, require_fit
from ssvm_cli.terminal.progress import counted
from ssvm_cli.terminal.resources import available_cpus, return_memory
from ssvm_cli.terminal.signals import StopFlag
from ssvm_cli.training import hints, memory
from ssvm_cli.training.certificate import Tolerance
from ssvm_cli.training.limits import Limits
from ssvm_cli.training.model_file import ModelFile, model_of
from ssvm_cli.training.request import requested_solver, wanted_of
from ssvm_cli.training.saved_run import SavedRun
from ssvm_cli.training.step import Method, Step

GAP_MISSED = 3


class Session:
    """One run of `ssvm train`: what all of its steps share, and what plans ask for.

    Args:
        o: the options, by parameter name.
        method: the Method that they ask for, as far as they say without the data.
        plan: which problems are solved, see single_problem.py.
        progress: Progress.

    Attributes:
        begun: there is something to save from here on.
        saved_run, model_file: SavedRun and ModelFile.
        examples: Examples, after reading without their inputs.
        step: the present Step; plans go on to the next.
        tolerance: Tolerance, None without certificate; limits: Limits.
        dev: DevScorer, or None.
    """

    def __init__(self, o, method, plan, progress):
        self.o, self.plan, self.progress = o, plan, progress
        self.begun = False
        self.saved_run = SavedRun(o, progress, self.complain)
        self.model_file = ModelFile(o.model, self.complain, lambda text: progress.say(text, level=0))
        self.tolerance = None if o.no_certificate else Tolerance(o.rel_gap, o.epsilon)
        self._method = method
        self._threads = o.threads or available_cpus()
        self._failed = False  # something was asked for that could not be written

    def run(self):
        """Returns the exit code."""
        saved = self.saved_run.load()
        self.model_file.look(saved)
        spec = self._read()
        self._build(spec, saved)
        self._start(saved)
        with StopFlag() as stop:
            self.begun = True
            outcome = self.plan.solve(self, stop, saved)
            if outcome.model is not None:
                self.model_file.write(outcome.model, stop, outcome.interrupted)
        if self._log:
            self._log.close()
        self.plan.conclude(self, outcome)
        if outcome.interrupted:
            return stop.exit_code
        if self._failed:
            return 1
        return GAP_MISSED if self.o.require_gap and outcome.missed else 0

    # ------------------------------------------------------------------------------------------- before the run

    def _read(self):
        """The ProblemSpec of the options, with the examples that it is about."""
        o = self.o
        self.examples = examples = read_examples(o, self._say_of_data)
        self._fit_method(examples.task.name)
        lam, origin = constants.settle(o, examples.dataset.n)
        spec = ProblemSpec.from_options(o, examples, lam)
        for text in examples.descriptions(o):
            self._say_of_data(text)
        names = examples.dataset.label_names.names()
        self.hint(absent_labels.warning(o.train, names, examples.facts['format']))
        threads = counted(self._threads, 'thread')
        self.progress.say(f'{spec.sentence(origin)}, solver {self._method.info.name}, seed {o.seed}, {threads}')
        return spec

    def _fit_method(self, task):
        """Of `auto`, whose choice was made before the task was known, another one where the usual loss asks for it."""
        o, wanted = self.o, wanted_of(self.o, task)
        usual_loss = wanted.class_of_loss() if o.task_loss is None else None
        if usual_loss is not None and not usual_loss.decomposable:
            self._method = Method.of(*requested_solver(o, task), o.seed)
        require_fit(self._method.info, wanted)

    def _build(self, spec, saved):
        """The first step. saved: the Checkpoint that it goes on from, or None."""
        o, dataset = self.o, self.examples.dataset
        if spec.order == 2:
            memory.check_triplets(len(dataset.label_names), self._threads)
        with self._refusing():
            problem = spec.build(dataset, self._threads, merge=True, kernel_cache=o.kernel_cache)
        self._lighten(problem, saved.run.get('solver') if saved else None)
        info = self._method.info
        self._facts = self._facts_of(spec)
        self.examples = self.examples.without_inputs()
        self.progress.say(f'{problem.dim} weights with padding, {problem.memory_estimate() / 2**20:.0f} MB', level=2)
        if spec.kernel is not None:
            self.progress.say(str(problem.features.basis), level=2)
        memory.check_problem(problem, info, *self.examples.task.memory_hint(self.examples.dataset))
        with self._refusing():
            self.step = Step(spec, problem, self._method)
        # the time is that of the process, so that reading and building count
        most = info.max_passes if o.max_passes is None else o.max_passes
        self.limits = Limits(most, o.max_time, o.started)

    def _lighten(self, problem, had):
        """`auto` takes a solver that keeps nothing for each part where there is no memory for that; a run that goes on
        keeps the one that it had."""
        o, info = self.o, self._method.info
        if o.solver != 'auto' or o.settings or o.oracle or had == info.name or o.kernel != 'linear':
            return
        light, why = LIGHT.get(info.name), memory.too_much(problem, info)
        if light is None or not (why or had == light):
            return
        self._method = Method.of(solver_info(light), {}, o.seed)
        self.progress.say(f'solver {light}: {why or "as before"}')

    @contextlib.contextmanager
    def _refusing(self):
        """Say what the core cannot do: with the values in the data, or with these options."""
        try:
            yield
        except ValueError as error:
            if isinstance(error, UnfitDataError):
                raise DataError(self.o.train, None, str(error)) from error
            raise UsageError(str(error)) from error

    def _start(self, saved):
        """From where the solver starts, with what looks on: scores of held-out data, and the log."""
        o, step = self.o, self.step
        self.dev = None
        if o.dev is not None:
            from ssvm_cli.training.dev_scores import DevScorer

            self.dev = DevScorer(o.dev, step.spec, step.problem, self.examples)
        if saved is not None:
            self.saved_run.restore_solver(saved, self._facts, step.solver)
        elif o.init is not None:
            from ssvm_cli.initial.weights import start_from

            start_from(o.init, step, self.examples)
        self._open_log(saved.parts['monitor']['rows'] if saved else None)

    def _facts_of(self, spec):
        """What decides the result of the run: a checkpoint is good for the same run only."""
        o, examples = self.o, self.examples
        return {
            'version': __version__,
            **spec.facts(),
            **self._method.facts(),
            'gap_every': o.gap_every,
            'certificate': not o.no_certificate,
            **examples.figures,
            'data': f'{_checksum(examples.dataset, spec.cost, spec.similarity):08x}',
        }

    # ------------------------------------------------------------------------------------------- for the plans

    def watched(self, tolerance, limits, **how):
        """The Monitor of the present step; how: further arguments of it."""
        return self.step.watched(tolerance, limits, self.o.gap_every, self.progress, **how)

    def save_state(self, running):
        """Write a checkpoint; running: the Monitor."""
        earlier = self.model_file.earlier
        self.saved_run.save(self._facts, running, **({} if earlier is None else {'model': {'earlier': earlier}}))

    def model(self, status):
        """The Model of the present step, which is over."""
        return model_of(self.step, self.examples, self.tolerance, status)

    def let_go(self, passes=0, oracle_calls=0):
        """Of all that the model does not take to be written; arguments: as of Step.let_go."""
        self.step.let_go(passes, oracle_calls)
        self.step.problem.features.helper(Tables).forget()
        return_memory()

    @contextlib.contextmanager
    def failing_explained(self):
        """Say why a run fails, also when it is quiet."""
        with np.errstate(all='ignore'):  # numbers that are not finite end the run, or are of no weights that are kept
            try:
                yield
            except SolverError:
                self.hint(hints.large_features(self.o.train, self.examples.largest, None), level=0)
                raise

    # ------------------------------------------------------------------------------------------ log and messages

    def _open_log(self, keep):
        """The log with its first lines written; keep: rows to go on from."""
        self._log = None
        if self.o.log_path is None:
            return
        from data_formats.files.log import TrainingLog

        step, scores = self.step, self.dev.columns if self.dev else ()
        columns = (*self.plan.columns, *step.problem.log_columns(), *step.solver.figures(), *scores)
        options = ' '.join(f'{key}={value}' for key, value in self._facts.items() if key != 'template')
        heading = f'ssvm {__version__} {options}'.replace('\n', ' ')
        self._log = TrainingLog(self.o.log_path, heading, columns, keep)
        if self._log.lost is not None:
            self.complain(self._log.lost)

    def write_row(self, row):
        """Of the log, where there is one."""
        if self._log is None:
            return
        try:
            self._log.write(row)
        except DataError as error:
            self.complain(error)

    def complain(self, error):
        """A full disk is no reason to lose a run: say so, go on, and end with status 1."""
        self._failed = True
        self.progress.say(str(error), level=0)

    def hint(self, text, level=1):
        """Something for people, or None."""
        if text is not None:
            self.progress.say(text, level=level)

    def _say_of_data(self, text):
        self.progress.say(f'{self.o.train}: {text}')


def _checksum(dataset, *matrices):
    """CRC of everything that makes the problem: the arrays of the data, the names, matrices that may be None."""
    crc = 0
    fields = vars(dataset).values()
    arrays = [value for value in fields if isinstance(value, np.ndarray)]
    arrays += [array for names in fields if isinstance(names, Vocabulary) for array in names.to_arrays()]
    for array in [*arrays, *(matrix for matrix in matrices if matrix is not None)]:
        crc = zlib.crc32(np.ascontiguousarray(array).view(np.uint8), crc)
    return crc
