"""Refusing what cannot fit into memory, with an estimate, before it is made."""

from data_formats.errors import SolverError
from ssvm_cli.terminal.progress import counted
from ssvm_cli.terminal.resources import free_memory, total_memory

GB = 2**30
WEIGHT_VECTORS = 3  # weights, their change and the best weights


def check_triplets(labels, threads):
    """Raise SolverError where there are so many labels that the weights of their triplets cannot fit."""
    from cython_ext.structures.labels.chain2 import least_memory

    needed, there = least_memory(labels, threads), total_memory()
    if there is not None and needed > there:
        raise SolverError(
            f'triplets of {counted(labels, "label")} need {needed / GB:.1f} GB at least, and there are '
            f'{there / GB:.1f} GB (--order 1 has none)'
        )


def kept_bytes(problem, info):
    """What a solver keeps for the parts of all examples."""
    return info.part_bytes * int(problem.structure.part_indptr()[-1])


def too_much(problem, info):
    """A text about what a solver would keep of a problem, where more than the memory that is free; None elsewhere."""
    kept, free = kept_bytes(problem, info), free_memory()
    if not kept or free is None or kept + WEIGHT_VECTORS * problem.memory_estimate() <= free:
        return None
    return f'{info.name} would keep {_gigabytes(kept)} for the parts of all examples, and {_gigabytes(free)} are free'


def check_problem(problem, info, many, advice):
    """Raise SolverError where a problem and its solver cannot fit: weights, their change and the best weights are three
    vectors at least; a solver may keep numbers for each part of each example.

    Args:
        problem: the Problem.
        info: the SolverInfo.
        many, advice: what makes the weights many and what would make them fewer, as the task says it.
    """
    needed, there = WEIGHT_VECTORS * problem.memory_estimate(), total_memory()
    if there is None:
        return
    there_are = f'and there are {there / GB:.1f} GB'
    kept = kept_bytes(problem, info)
    if kept > there:
        log = problem.objective_name != 'hinge'
        instead = f'--solver {"lbfgs" if log else "bcfw"}, or another one, keeps none'
        raise SolverError(
            f'{info.name} keeps numbers for each part of each example, {kept / GB:.1f} GB, {there_are} ({instead})'
        )
    basis = getattr(problem.features, 'basis', None)
    if basis is not None and needed + basis.cache_bytes > there:
        raise SolverError(f'{basis}, {there_are} (--kernel-cache MB)')
    if basis is None and needed > there:
        raise SolverError(f'{many} need {needed / GB:.1f} GB at least, {there_are} ({advice})')


def _gigabytes(size):
    return f'{max(size, 0) / GB:.3g} GB'
