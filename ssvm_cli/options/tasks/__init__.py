"""Options of `ssvm train` that belong to one task: a module with its name has them as OPTIONS, in their section of the
help text. A task without options of its own has no module here."""

from importlib import import_module
from importlib.util import find_spec

from cython_ext.tasks.registry import TASKS
from ssvm_cli.options.click_types import together


def own_options(command):
    """Give a command the options of all tasks, in the order of TASKS."""
    modules = [f'{__name__}.{task}' for task in TASKS]
    options = [option for name in modules if find_spec(name) for option in import_module(name).OPTIONS]
    return together(*options)(command)
