"""All tasks, in the order that help texts and tables have. The module of a task, in this package and in the others that
know tasks, has its name."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

TASKS = (
    'multiclass',
    'chain',
    'dependency',
    'alignment',
    'cfg',
    'multilabel',
    'graph',
    'matching',
    'candidates',
    'boxes',
)


@dataclass(frozen=True, kw_only=True)
class TaskInfo:
    """Of what a task is composed.

    build(dataset, feature_set, **how) -> (Structure, FeatureMap), how as in tasks/token_features.py; losses: name ->
    function that imports the class of a TaskLoss, whose `on(structure)` makes one (what is said of it in help texts is
    the function's docstring, where no other task has a loss of that name); cost_matrix() -> likewise the class that
    takes (structure, matrix), or None where costs per label make no sense; problem_arguments(how, lam, objective, loss,
    variant) -> further arguments of build() that depend on the problem, or None where nothing does;
    log_values(features) -> further columns of a log as Problem takes them, or None where there are none."""

    name: str
    summary: str
    build: Any
    losses: dict
    default_loss: str
    cost_matrix: Any = None
    problem_arguments: Any = None
    log_values: Any = None

    def loss_class(self, name):
        """The class of a task loss, which says what it can do. Raises ValueError where there is none of that name."""
        if name not in self.losses:
            raise ValueError(f'{self.name} has no task loss {name} (choose from {", ".join(self.losses)})')
        return self.losses[name]()

    def losses_that(self, can):
        """Names of the losses whose class meets a condition."""
        return [name for name in self.losses if can(self.loss_class(name))]


def task_info(name):
    """The TaskInfo of a task; KeyError when there is none."""
    if name not in TASKS:
        raise KeyError(name)
    return import_module(f'cython_ext.tasks.{name}').INFO
