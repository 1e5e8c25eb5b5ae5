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

LINEAR = ('basis', 'similarity')  # what tasks refuse together whose features are neither compared nor shared


@dataclass(frozen=True, kw_only=True)
class TaskInfo:
    """Of what a task is composed.

    build(dataset, **how) -> (Structure, FeatureMap), called by `compose`: how are what models keep of the structure and
    those of feature_set, basis (merge goes with it) and similarity that are not refused; refused: name of one of these
    -> why the task has no use for it; losses: name -> function that imports the class of a TaskLoss, whose
    `on(structure)` makes one (what is said of it in help texts is the function's docstring, where no other task has a
    loss of that name); cost_matrix() -> likewise the class that takes (structure, matrix), or None where costs per
    label make no sense; problem_arguments(how, lam, objective, loss, variant) -> further arguments of build() that
    depend on the problem, or None where nothing does; log_values(features) -> further columns of a log as Problem takes
    them, or None where there are none."""

    name: str
    summary: str
    build: Any
    losses: dict
    default_loss: str
    refused: dict = field(default_factory=dict)
    cost_matrix: Any = None
    problem_arguments: Any = None
    log_values: Any = None

    def refuse(self, feature_set='all', basis=None, similarity=None):
        """Raise ValueError where something is asked for that the task has no use for; as of compose."""
        asked = {'basis': basis is not None, 'similarity': similarity is not None, 'feature_set': feature_set != 'all'}
        for name, reason in self.refused.items():
            if asked[name]:
                raise ValueError(reason)

    def compose(self, dataset, feature_set='all', merge=False, basis=None, similarity=None, **how):
        """(Structure, FeatureMap) of a dataset. feature_set, merge, basis, similarity: as in tasks/token_features.py;
        merge is a wish, about features that a kernel could be between. Raises ValueError."""
        self.refuse(feature_set, basis, similarity)
        given = {'feature_set': feature_set, 'basis': basis, 'similarity': similarity}
        how |= {name: value for name, value in given.items() if name not in self.refused}
        return self.build(dataset, **how, **({} if 'basis' in self.refused else {'merge': merge}))

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
