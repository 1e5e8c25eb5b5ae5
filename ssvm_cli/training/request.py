"""What `ssvm train` is asked for: solver, loss and variant, settled and checked before any data are read."""

import os

from cython_ext.objectives.registry import Variant
from cython_ext.solvers.registry import all_solvers
from cython_ext.tasks.fit import Wanted
from data_formats.errors import UsageError
from ssvm_cli.examples.reading import task_before_reading
from ssvm_cli.options import other_programs
from ssvm_cli.options.classes import requested_kind
from ssvm_cli.options.kernel import requested_kernel
from ssvm_cli.options.label_pairs import check_pairs
from ssvm_cli.options.run_files import check_files
from ssvm_cli.options.settings import check_oracle, parse_settings, with_oracle
from ssvm_cli.options.solver_choice import choose
from ssvm_cli.options.task_losses import TREE, accepted_losses, named_loss, requested_loss


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
    kind = requested_kind(o)
    info, settings = requested_solver(o, task_before_reading(o.train, o.format_name, o.task))
    check_files(o, kind)
    return info, settings


def check_loss_is_one(o):
    """Refuse a --task-loss that is neither a name nor a file."""
    if o.task_loss in (None, TREE) or os.path.exists(o.task_loss) or named_loss(o.task_loss, o.task) is not None:
        return
    known = ', '.join(accepted_losses())
    raise UsageError(f'--task-loss {o.task_loss}: no such file (expected {known} or a file)')


def requested_solver(o, task):
    """(SolverInfo, settings) for a task, None where it is not known yet. UsageError where it does not fit."""
    info = choose(o.solver, wanted_of(o, task), int(o.order), o.relaxation)
    texts = with_oracle(o.settings, o.oracle, info, all_solvers())
    settings = parse_settings(texts, info.name, info.options)
    check_oracle(o.oracle, o.objective, info, settings)
    return info, settings


def wanted_of(o, task):
    """What is Wanted of the solver, of a task or one that is not known yet (None)."""
    return Wanted(
        objective=o.objective,
        variants=requested_variant(o).names,
        kernel=requested_kernel(o),
        task=task,
        loss=requested_loss(o, task),
        from_model=o.init is not None,
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
