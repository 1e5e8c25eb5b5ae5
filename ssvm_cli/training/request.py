"""What `ssvm train` is asked for: solver, loss and variant, settled and checked before any data are read."""

import os

from cython_ext.objectives.registry import Variant
from cython_ext.solvers.registry import all_solvers
from cython_ext.tasks.registry import task_info
from data_formats.errors import UsageError
from ssvm_cli.examples.reading import task_before_reading
from ssvm_cli.options import other_programs
from ssvm_cli.options.classes import requested_kind
from ssvm_cli.options.kernel import requested_kernel
from ssvm_cli.options.label_pairs import check_pairs
from ssvm_cli.options.run_files import check_files
from ssvm_cli.options.settings import check_oracle, parse_settings, with_oracle
from ssvm_cli.options.solver_choice import choose, suits
from ssvm_cli.options.task_losses import TREE, accepted_losses, named_loss, requested_loss

# Why the best outputs of all values of a loss are out of reach.
UNTOLD = {
    'hamming': 'no oracle finds the best one with a given number of errors',
    None: 'there are too many values',
}


def check_request(o):
    """Refuse what cannot work before any data are read.

    Returns:
        (SolverInfo, settings): the solver that will run, and its options.
    """
    if o.task_loss is not None and o.objective == 'log':
        raise UsageError('--task-loss has no effect on --objective log (use --objective softmax-margin)')
    if o.no_certificate and (o.require_gap or o.epsilon is not None):
        raise UsageError('--no-certificate computes no gap, so --require-gap and --epsilon cannot be met')
    if o.resume and o.resume_if_saved:
        raise UsageError('--resume and --resume-if-saved exclude each other: give one of them')
    if o.resume and o.init:
        raise UsageError('--resume goes on from a checkpoint and --init from a model: give one of them')
    check_loss_is_one(o)
    check_pairs(o)
    kernel = requested_kernel(o)
    kind = requested_kind(o)
    task = task_before_reading(o.train, o.format_name, o.task)
    loss = requested_loss(o, task)
    info, settings = requested_solver(o, loss)
    check_loss(info, task, loss, o)
    if o.init is not None and not info.starts_with(kernel):
        able = [other.name for other in all_solvers() if other.starts_with(kernel)]
        raise UsageError(f'--init: {info.name} cannot start from a model (solvers that can: {", ".join(able)})')
    check_files(o, kind)
    return info, settings


def check_loss_is_one(o):
    """Refuse a --task-loss that is neither a name nor a file."""
    if o.task_loss in (None, TREE) or os.path.exists(o.task_loss) or named_loss(o.task_loss, o.task) is not None:
        return
    known = ', '.join(accepted_losses())
    raise UsageError(f'--task-loss {o.task_loss}: no such file (expected {known} or a file)')


def requested_solver(o, loss):
    """(SolverInfo, settings) for a task loss, None where it is the usual one of the task."""
    variants, order = requested_variant(o).names, int(o.order)
    info = choose(o.solver, o.objective, requested_kernel(o) is not None, variants, loss, order)
    texts = with_oracle(o.settings, o.oracle, info, all_solvers())
    settings = parse_settings(texts, info.name, info.options)
    check_oracle(o.oracle, o.objective, info, settings)
    return info, settings


def check_loss(info, task, loss, o):
    """Refuse a loss that the task does not have, one that is no sum over parts where the solver needs one, and one
    without Strata where the variant needs them; task and loss as in requested_loss."""
    if task is None or loss is None:
        return
    structure = task_info(task)
    if loss not in structure.losses:
        raise UsageError(f'{task} has no task loss {loss} (choose from {", ".join(structure.losses)})')
    if info.decomposable and loss not in structure.decomposable:
        able = [other.name for other in all_solvers() if suits(other, o.objective) and not other.decomposable]
        solvers = f'solvers that do without: {", ".join(able)}'
        losses = f'losses of {task} that are: {", ".join(structure.decomposable)}' if structure.decomposable else ''
        raise UsageError(
            f'{info.name} needs a task loss that is a sum over parts, and {loss} on {task} is not '
            f'({"; ".join(filter(None, (losses, solvers)))})'
        )
    if not o.hard_margin and not requested_variant(o).plain and loss not in structure.strata:
        able = ', '.join(structure.strata)
        raise UsageError(
            f'slack rescaling and slack norm 2 take the best output of each value of the loss, and of {loss} on {task} '
            f'{UNTOLD.get(loss, UNTOLD[None])} (use --task-loss {able}, or margin rescaling with slack norm 1)'
        )


def requested_variant(o):
    """The Variant of the hinge that is asked for."""
    variant = Variant(o.rescale, int(o.slack_norm), o.hard_margin)
    try:
        variant.check(o.objective)
    except ValueError as error:
        hint = other_programs.parameter_hint(o.slack_norm) if o.slack_norm == '2' else ''
        raise UsageError(f'{error}{"." + hint if hint else ""}') from error
    if variant.hard_margin and o.task_loss not in (None, 'zero-one', '0'):
        raise UsageError('--hard-margin has zero-one loss: leave --task-loss out')
    return variant
