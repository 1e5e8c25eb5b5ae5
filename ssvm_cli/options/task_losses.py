"""What --task-loss may say: the names of task losses, as the tasks have them, and what svm_struct_learn writes; and
which loss is meant."""

import click

from cython_ext.tasks.registry import TASKS, task_info
from data_formats.errors import UsageError
from ssvm_cli.options.click_types import accepted, listed

OF_SVM_STRUCT = {'0': 'zero-one', '1': 'hamming'}
TREE = 'tree'


class TaskLoss(click.ParamType):
    """The option's type: whether a text is a name or a file is told later, when the task may be known."""

    name = 'text'

    def get_metavar(self, param, ctx=None):
        return f'[{"|".join((*loss_names(), TREE, "FILE"))}]'


def loss_names():
    """The names of the losses of all tasks, which are imported for it."""
    return list(dict.fromkeys(name for task in TASKS for name in task_info(task).losses))


def named_loss(text, task=None):
    """The name of the loss that a text stands for, None where a file or a taxonomy has the costs. task: that of the
    data if it is known, whose losses are looked at first."""
    name = OF_SVM_STRUCT.get(text, text)
    if task is not None and name in task_info(task).losses:
        return name
    return name if name in loss_names() else None


def requested_loss(o, task):
    """The name of the task loss; None where there is none, where it is the usual one of a task that is not known yet
    (None), or where a file or a taxonomy has the costs."""
    if o.objective == 'log':
        return None
    if o.hard_margin:
        return 'zero-one'
    if o.task_loss is None:
        return None if task is None else task_info(task).default_loss
    return None if o.task_loss == TREE else named_loss(o.task_loss, task)


def settled_loss(o, examples):
    """(the name of the task loss for people and models, the cost matrix that it is, None where the name says all), of
    the Examples that were read; (None, None) where there is no task loss.

    Raises:
        UsageError: costs of labels for a task without. DataError: FILE:LINE of what is malformed.
    """
    if o.task_loss == TREE:
        return TREE, examples.classes.tree_loss
    name = requested_loss(o, examples.task.name)
    if o.task_loss is None or name is not None:
        return name, None
    from data_formats.classes.label_matrix import read_cost_matrix

    info = task_info(examples.task.name)
    if info.cost_matrix is None:
        known = ', '.join(info.losses)
        raise UsageError(f'--task-loss {o.task_loss}: {info.name} takes no cost matrix (choose from {known})')
    return 'costs', read_cost_matrix(o.task_loss, examples.dataset.label_names.names())


def accepted_losses():
    """What there is, for messages: ['zero-one (or 0)', ..., 'tree']."""
    return [*accepted(_spellings()), TREE]


def losses_help():
    """The help text: what losses of a single task are, as their functions say, and which are the usual ones."""
    functions, usual = {}, {}
    for task in TASKS:
        info = task_info(task)
        usual.setdefault(info.default_loss, []).append(task)
        for name, function in info.losses.items():
            functions.setdefault(name, []).append(function)
    told = [
        f'{name}: {of_tasks[0].__doc__ or "see the manual"}; '
        for name, of_tasks in functions.items()
        if len(of_tasks) == 1
    ]
    said = dict(zip(functions, accepted(_spellings()), strict=True))
    return (
        f'Loss of a wrong output; {"".join(told)}{TREE}: the height of the lowest node of the --taxonomy above both; '
        'FILE is a tab-separated cost matrix with label names in its header and a row per right label. '
        f'Default: {", ".join(f"{said[name]} for {listed(tasks)}" for name, tasks in usual.items())}.'
    )


def _spellings():
    return {name: name for name in loss_names()} | OF_SVM_STRUCT
