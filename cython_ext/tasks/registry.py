"""All tasks, in the order that help texts and tables have. The module of a task, in this package and in the others that
know tasks, has its name."""

from dataclasses import dataclass, field
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
    function of the structure that gives a TaskLoss (what is said of it in help texts is its docstring, where no other
    task has a loss of that name); cost_matrix(structure, matrix) -> TaskLoss, or None where costs per
    label make no sense; strata: name of a loss ('costs' for a matrix) -> function of structure and TaskLoss that gives
    its Strata, for the losses that have some; decomposable: the names of the losses that add up over parts;
    problem_arguments(how, lam, objective, loss, variant) -> further arguments of build() that depend on the problem, or
    None where nothing does; log_values(features) -> further columns of a log as Problem takes them, or None where there
    are none."""

    name: str
    summary: str
    build: Any
    losses: dict
    default_loss: str
    cost_matrix: Any = None
    strata: dict = field(default_factory=dict)
    decomposable: tuple = ()
    problem_arguments: Any = None
    log_values: Any = None


def task_info(name):
    """The TaskInfo of a task; KeyError when there is none."""
    if name not in TASKS:
        raise KeyError(name)
    return import_module(f'cython_ext.tasks.{name}').INFO
