"""The state of a run on the disk: where it is kept, what it must fit, and going on from it."""

import contextlib
import os

from data_formats.errors import DataError, UsageError
from data_formats.files.atomic import remove_leftovers
from ssvm_cli.options.run_files import checkpoint_path, holds_something
from ssvm_cli.terminal.progress import counted

# What a state that is none raises.
MISFITS = (KeyError, ValueError, TypeError, IndexError, AttributeError)


class SavedRun:
    """The checkpoint of a run.

    Args:
        o: the options of `train`.
        progress: Progress.
        complain: a function of the error where it cannot be written.

    Attributes:
        path: its file; None where there is no place for one.
        exists: there is one of this run.
    """

    def __init__(self, o, progress, complain):
        self.path = checkpoint_path(o)
        self.exists = False
        self._o, self._progress, self._complain = o, progress, complain
        self._unsaved = None  # why the last one could not be written, if so

    def load(self):
        """The Checkpoint to go on from; None for a run that starts from the beginning."""
        o = self._o
        if self.path:
            remove_leftovers(self.path)
        if not (o.resume or o.resume_if_saved):
            return None
        if self.path is None:
            raise UsageError(f'{self._option} needs --checkpoint FILE if MODEL is no regular file')
        if not o.resume and not holds_something(self.path):
            self._progress.say(f'{self.path}: nothing is saved there, so the run starts from the beginning')
            return None
        from data_formats.files import checkpoint

        saved = checkpoint.load(self.path)
        self.exists = True
        return saved

    def restore_solver(self, saved, facts, solver):
        """Go on from a Checkpoint; facts: those of the present run, which must be the same.

        Raises:
            DataError: they are not, or the state does not fit.
        """
        from data_formats.files.checkpoint import differences

        found = differences(saved.run, facts)
        if found:
            raise DataError(
                self.path,
                None,
                'is the checkpoint of another run: ' + '; '.join(found),
                f'give the command line and the data of that run again, or leave {self._option} out',
            )
        try:
            solver.restore(saved.parts['solver'])
        except MISFITS as error:
            raise DataError(self.path, None, f'does not fit the solver ({error})') from error
        self._progress.say(f'going on from {self.path} after {counted(solver.passes, "pass", "passes")}')

    def restore_monitor(self, saved, monitor):
        """The same of what drives the solver."""
        try:
            monitor.restore(saved.parts)
        except MISFITS as error:
            raise DataError(self.path, None, f'does not fit the run ({error})') from error

    def save(self, facts, monitor, **parts):
        """Write the present state; a complaint that stays the same is made once. parts: further ones, by name."""
        from data_formats.files import checkpoint

        state = {'solver': monitor.solver.state(), **monitor.state(), **parts}
        try:
            checkpoint.save(checkpoint.Checkpoint(facts, state), self.path)
        except DataError as error:
            if str(error) != self._unsaved:
                self._complain(error)
            self._unsaved = str(error)
        else:
            self.exists, self._unsaved = True, None

    def end(self):
        """Remove it at the end of the run, unless somebody asked for it."""
        if self._o.checkpoint is None and self.exists:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path)

    @property
    def _option(self):
        return '--resume' if self._o.resume else '--resume-if-saved'
