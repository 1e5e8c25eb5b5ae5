"""The model of a run: what is in it, and where it goes, also where its place has become one that cannot be written: a
full disk, a folder that is gone."""

import contextlib
import os

from data_formats.errors import DataError
from data_formats.files.atomic import is_special, remove_leftovers
from data_formats.models.model import Model, save
from ssvm_cli import __version__
from ssvm_cli.options.run_files import check_model
from ssvm_cli.training import older_model
from ssvm_cli.training.certificate import absolute_gap, relative_gap


def model_of(step, examples, tolerance, status):
    """The Model of the best weights of a Step that is over, on Examples; tolerance: None without certificate."""
    spec, bounds = step.spec, step.result
    known = bounds.known  # nothing was evaluated before a signal: null in the header
    header = {
        'package_version': __version__,
        **spec.to_header(),
        **step.method.facts(),
        **examples.figures,
        'passes': step.passes,
        'oracle_calls': step.oracle_calls,
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
        weights=step.problem.features.blocks(bounds.w),
        cost=spec.cost,
        dual=bounds.stored_point if tolerance is not None else None,
        similarity=spec.similarity,
        scale=examples.scale,
    )


class ModelFile:
    """MODEL, or where else the model of a run ends up.

    Args:
        asked: MODEL.
        complain: a function of the error where it cannot be written there.
        say: a function of a text for people, which even quiet ones get.

    Attributes:
        path: where the model is.
        earlier: mark of the complete model that was there at the beginning, None where there was none.
    """

    def __init__(self, asked, complain, say):
        self.asked = self.path = asked
        self.earlier = None
        self._special = asked == '-' or is_special(asked)  # a pipe or a device
        self._complain, self._say = complain, say
        self._resumed = self._stays = False

    def look(self, saved):
        """Note what is there before the run begins; saved: the Checkpoint that it goes on from, or None."""
        remove_leftovers(self.asked + older_model.BESIDE)
        self._resumed = saved is not None
        self.earlier = older_model.mark(self.asked) if saved is None else saved.parts.get('model', {}).get('earlier')

    def write(self, model, stop, interrupted):
        """MODEL, or where that has become impossible another file: an hour's work is not thrown away.

        Raises:
            DataError: neither could be written.
        """
        if self._special:
            stop.stand_aside()
        try:
            self.path = self.save(model, self.asked, interrupted)
            self._stays = self.path != self.asked
            if self._resumed and not interrupted:
                older_model.remove_beside(self.asked, model.header)
        except DataError as error:
            elsewhere = save_elsewhere(model)
            if elsewhere is None:
                raise
            self._complain(error)
            self.path = elsewhere
            self._say(f'{elsewhere}: the model is here instead')

    def save(self, model, path, interrupted):
        """Write a model, that of an interrupted run beside a complete one of another run; returns its file."""
        if interrupted:
            path = older_model.place(path, model.header, self._resumed, self.earlier)
            check_model(path)
        save(model, path)
        return path

    def of_another_run(self):
        """What the last line says of the model that was there."""
        what = f'; {self.asked} is a complete model of another run and stays, this one is {self.path}'
        return what if self._stays else ''


def save_elsewhere(model):
    """Write a model to a new file in the folder for temporary files; returns its name, None if that fails too."""
    import tempfile  # brings a cryptographic library along, which few runs need

    name = None
    try:
        descriptor, name = tempfile.mkstemp(prefix='ssvm-', suffix='.model')
        os.close(descriptor)
        save(model, name)
    except (OSError, DataError):
        if name is not None:
            with contextlib.suppress(OSError):
                os.unlink(name)
        return None
    return name
