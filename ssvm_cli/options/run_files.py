"""The files that `ssvm train` reads and writes, checked before any data are read."""

import os
import sys

from data_formats.files.atomic import is_special
from data_formats.files.checkpoint import is_checkpoint
from data_formats.files.log import is_log
from data_formats.models.model import is_model
from data_formats.models.tsv import is_model_tsv
from ssvm_cli.options.files import beginning, check_overwritten, check_paths, check_there
from ssvm_cli.options.label_pairs import NAMES


def check_files(o, class_kind=None):
    """Refuse files that are given twice, or that would be overwritten and are something else.

    Args:
        o: the options, by parameter name.
        class_kind: the parameter name of the option that describes the classes, or None.

    Raises:
        UsageError: of combinations. DataError: of files.
    """
    inputs = {'TRAIN': o.train, '--dev': o.dev, '--template': o.template}
    if class_kind is not None:
        inputs[f'--{class_kind.replace("_", "-")}'] = getattr(o, class_kind)
    if o.pairs not in NAMES:
        inputs['--pairs'] = o.pairs
    checkpoint = None if o.lambda_path is not None else checkpoint_path(o)
    models = {f'the model of --path-models for lambda {lam:.6g}': path_model(o, lam) for lam in _kept(o)}
    state = '--checkpoint' if o.checkpoint is not None else 'the checkpoint of MODEL'
    log = None if o.log_path == '-' and sys.stdout is None else o.log_path  # a log that is lost ends no run
    check_paths(inputs, {'MODEL': o.model, '--log': log, state: checkpoint, **models})
    check_there(o.dev, o.init)
    for path in (o.model, *models.values()):
        check_model(path)
    check_overwritten(o.log_path, 'log of ssvm', is_log)
    if not o.resume:  # otherwise it is read, which finds more
        check_overwritten(checkpoint, 'ssvm checkpoint', is_checkpoint)


def check_model(path):
    """DataError where there is a file that is neither a model nor the text of one."""
    check_overwritten(path, 'ssvm model', lambda path: is_model(path) or is_model_tsv(beginning(path)))


def checkpoint_path(o):
    """Where the state of the run is kept; None where nobody said and MODEL is no regular file."""
    return o.checkpoint or (None if o.model == '-' or is_special(o.model) else f'{o.model}.checkpoint')


def holds_something(path):
    """Whether there is a file that is not empty."""
    try:
        return os.stat(path).st_size > 0
    except FileNotFoundError:
        return False


def path_model(o, lam):
    """Where --path-models keeps the model of a lambda."""
    return os.path.join(o.path_models, f'lambda-{lam:.6g}.model')


def _kept(o):
    """The values of lambda whose models may meet another file: all, if their folder is there."""
    return o.lambda_path if o.lambda_path and o.path_models and os.path.isdir(o.path_models) else ()
