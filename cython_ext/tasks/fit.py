"""Whether what is asked for fits together: a solver with an objective and its variant, a kernel, the loss of a task, a
start, and the oracles of a structure.

What each of them needs and offers stands with it, as data: in SolverInfo, in the class of a loss (losses/loss.pyx), in
the oracles of a structure. Here they are compared, as soon as they are known: before any data are read, when the task
is known, and once there is a problem.
"""

from dataclasses import dataclass
from typing import Any

from cython_ext.solvers.registry import all_solvers
from cython_ext.tasks.registry import TASKS, task_info

VARIANTS = {'slack': 'slack rescaling', 'squared': 'slack norm 2', 'hard-margin': 'a hard margin'}


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a solver is asked for; () and None where that is nothing, or not known yet.

    objective: its name; variants: of the hinge (objectives.registry.Variant.names); kernel: as Kernel.of takes it;
    task: its name; loss: the name of the task loss, None for one of a file; loss_class: of a loss whose name does not
    tell it; from_model: whether to begin with the weights or the dual point of a model; oracles: of the structure.
    """

    objective: str
    variants: tuple = ()
    kernel: dict | None = None
    task: str | None = None
    loss: str | None = None
    loss_class: Any = None
    from_model: bool = False
    oracles: tuple | None = None

    @classmethod
    def of(cls, problem):
        """What a Problem asks of its solver."""
        return cls(
            objective=problem.objective_name,
            task=problem.structure_name,
            loss=problem.loss_name,
            loss_class=None if problem.loss_name is None else type(problem.objective.loss),
            oracles=problem.structure.oracles,
        )

    def class_of_loss(self):
        """None where there is none, or it is not known. Raises ValueError where the task has no such loss."""
        if self.loss_class is not None or self.task is None or self.loss is None:
            return self.loss_class
        return task_info(self.task).loss_class(self.loss)


def check_fit(info, wanted):
    """Refuse what a solver cannot do, or none can. Called when it is chosen, and before it is made.

    Args:
        info: the SolverInfo.
        wanted: the Wanted.

    Raises:
        ValueError: with the first reason, and what works instead.
    """
    for misfit in MISFITS:
        reason = misfit(info, wanted)
        if reason is not None:
            raise ValueError(reason)


def suits(info, objective):
    """Whether a solver minimises an objective over any outputs; dlpw, which sends messages, is for graphs alone."""
    return info.minimises and info.oracle.get(objective, 'messages') != 'messages'


def with_kernels(objective):
    """Names of the solvers that minimise an objective with a kernel."""
    return [info.name for info in all_solvers() if info.kernels and info.minimises and objective in info.objectives]


def sums_everywhere(loss):
    """Whether a task loss of this name is a sum over parts on whatever task has it."""
    infos = map(task_info, TASKS)
    return all(info.loss_class(loss).decomposable for info in infos if loss in info.losses)


# Each returns the reason why not, or None.


def _objective(info, wanted):
    if wanted.objective in info.objectives:
        return None
    able = _solvers_that(lambda other: suits(other, wanted.objective))
    return (
        f'{info.name} does not {"minimise" if info.minimises else "report"} {wanted.objective}, only '
        f'{", ".join(info.objectives)} (solvers for {wanted.objective}: {able})'
    )


def _variants(info, wanted):
    lacking = [VARIANTS[variant] for variant in wanted.variants if variant not in info.variants]
    if not lacking:
        return None
    able = _solvers_that(lambda other: set(wanted.variants) <= set(other.variants))
    return f'{info.name} cannot do {" and ".join(lacking)} (solvers that can: {able})'


def _kernel(info, wanted):
    if wanted.kernel is None or info.kernels:
        return None
    able = ', '.join(with_kernels(wanted.objective)) or 'none'
    return (
        f'{info.name} needs the weights themselves, which a kernel does not have '
        f'(solvers for {wanted.objective} that work with kernels: {able})'
    )


def _sum_over_parts(info, wanted):
    loss = wanted.class_of_loss()
    if loss is None or loss.decomposable or not info.decomposable:
        return None
    losses = task_info(wanted.task).losses_that(lambda other: other.decomposable)
    able = _solvers_that(lambda other: suits(other, wanted.objective) and not other.decomposable)
    instead = [f'losses of {wanted.task} that are: {", ".join(losses)}'] if losses else []
    instead.append(f'solvers that do without: {able}')
    return (
        f'{info.name} needs a task loss that is a sum over parts, and {wanted.loss} on {wanted.task} is not '
        f'({"; ".join(instead)})'
    )


def _strata(_, wanted):
    """What no solver can do: all variants take the best output of each value of the loss."""
    loss = wanted.class_of_loss()
    if loss is None or loss.unstratified is None or not wanted.variants:
        return None
    able = ', '.join(task_info(wanted.task).losses_that(lambda other: other.unstratified is None))
    return (
        f'slack rescaling and slack norm 2 take the best output of each value of the loss, and of {wanted.loss} on '
        f'{wanted.task} {loss.unstratified} (use --task-loss {able}, or margin rescaling with slack norm 1)'
    )


def _start(info, wanted):
    if not wanted.from_model or info.starts_with(wanted.kernel):
        return None
    able = _solvers_that(lambda other: other.starts_with(wanted.kernel))
    return f'--init: {info.name} cannot start from a model (solvers that can: {able})'


def _oracle(info, wanted):
    if wanted.oracles is None or _calls(info, wanted.objective, wanted.oracles):
        return None
    able = _solvers_that(lambda other: other.minimises and _calls(other, wanted.objective, wanted.oracles))
    return (
        f'{info.name} needs the {info.oracle[wanted.objective]} oracle, which {wanted.task} lacks '
        f'(solvers for {wanted.objective} that do without: {able})'
    )


def _calls(info, objective, oracles):
    """Whether a solver can do with these oracles. Those with a choice of them take what is there
    (objectives/smoothed.pyx)."""
    return info.oracle.get(objective) in oracles or 'oracle' in info.options


def _solvers_that(can):
    """Names of the solvers that meet a condition, as a list for people."""
    return ', '.join(info.name for info in all_solvers() if can(info))


MISFITS = (_objective, _variants, _kernel, _sum_over_parts, _strata, _start, _oracle)
