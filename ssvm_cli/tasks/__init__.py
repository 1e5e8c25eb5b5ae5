"""Tasks as the commands see them, each in a module with its name that has its class as TASK, a base.Task; and the
options that not every task has.
"""

from importlib import import_module

from data_formats.errors import UsageError

# Options that not every task has: parameter name -> (spelling, the value that asks for nothing).
TASK_OPTIONS = {
    'template': ('--template', None),
    'min_freq': ('--min-freq', 1),
    'bias': ('--bias', False),
    'kernel': ('--kernel', 'linear'),
    'taxonomy': ('--taxonomy', None),
    'class_features': ('--class-features', None),
    'class_similarity': ('--class-similarity', None),
    'window': ('--window', 0),
    'order': ('--order', '1'),
    'edge_features': ('--edge-features', False),
    'nonprojective': ('--nonprojective', False),
    'single_root': ('--single-root and --multi-root', None),
    'unlabelled': ('--unlabelled', False),
    'hash_bits': ('--hash-bits', None),
    'no_punctuation': ('--no-punctuation', False),
    'gap_model': ('--gap-model', 'linear'),
    'align': ('--align', 'local'),
    'terminals': ('--terminals', 'word'),
    'max_length': ('--max-length', None),
    'relaxation': ('--relaxation', None),
    'rho': ('--rho', None),
    'augmented_lagrangian': ('--augmented-lagrangian', False),
    'smooth_max': ('--smooth-max', None),
    'grades': ('--grades', False),
    'marginals': ('--marginals', False),
    'inference': ('--inference', None),
    'pairs': ('--pairs', 'all'),
}


def task_named(name):
    """A new base.Task of a name."""
    return import_module(f'ssvm_cli.tasks.{name}').TASK()


def check_options(task, o):
    """Refuse options that have no meaning for a task.

    Raises:
        UsageError: one of them is given.
    """
    spelled = getattr(o, 'spelled', {})
    for parameter, (spelling, nothing) in TASK_OPTIONS.items():
        if parameter not in task.options and getattr(o, parameter, nothing) != nothing:
            raise UsageError(
                f'{spelled.get(parameter, spelling)} has no meaning for the task {task.name}: leave it out'
            )
