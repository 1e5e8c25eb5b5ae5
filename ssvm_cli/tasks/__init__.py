"""Tasks as the commands see them, each in a module with its name that has its class as TASK, a base.Task."""

from importlib import import_module

from data_formats.errors import UsageError
from ssvm_cli.options.click_types import OF_TASKS


def task_named(name):
    """A new base.Task of a name."""
    return import_module(f'ssvm_cli.tasks.{name}').TASK()


def check_options(task, o):
    """Refuse options that have no meaning for a task.

    Raises:
        UsageError: one of them is given.
    """
    spelled = getattr(o, 'spelled', {})
    for parameter, (spelling, nothing, of) in reversed(OF_TASKS.items()):  # decorators apply the last option first
        has = of == task.name or parameter in task.options
        if not has and getattr(o, parameter, nothing) != nothing:
            raise UsageError(
                f'{spelled.get(parameter, spelling)} has no meaning for the task {task.name}: leave it out'
            )
