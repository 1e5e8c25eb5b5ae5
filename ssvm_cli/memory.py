"""Refusing what cannot fit into memory, with an estimate, before it is made."""

from data_formats.errors import SolverError
from ssvm_cli.progress import counted
from ssvm_cli.resources import total_memory

GB = 2**30


def check_triplets(labels, threads):
    """Raise SolverError where there are so many labels that the weights of their triplets cannot fit."""
    from cython_ext.structures.chain2 import least_memory

    needed, there = least_memory(labels, threads), total_memory()
    if there is not None and needed > there:
        raise SolverError(
            f'triplets of {counted(labels, "label")} need {needed / GB:.1f} GB at least, and there are '
            f'{there / GB:.1f} GB (--order 1 has none)'
        )


def check_problem(problem, info, many, advice):
    """Raise SolverError where a problem and its solver cannot fit: weights, their change and the best weights are three
    vectors at least; a solver may keep numbers for each part of each example.

    Args:
        problem: the Problem.
        info: the SolverInfo.
        many, advice: what makes the weights many and what would make them fewer, as the task says it.
    """
    needed, there = 3 * problem.memory_estimate(), total_memory()
    if there is None:
        return
    there_are = f'and there are {there / GB:.1f} GB'
    kept = info.part_bytes * int(problem.structure.part_indptr()[-1])
    if kept > there:
        raise SolverError(
            f'{info.name} keeps numbers for each part of each example, {kept / GB:.1f} GB, {there_are} '
            '(another --solver keeps none)'
        )
    basis = getattr(problem.features, 'basis', None)
    if basis is not None and needed + basis.cache_bytes > there:
        raise SolverError(f'{basis}, {there_are} (--kernel-cache MB)')
    if basis is None and needed > there:
        raise SolverError(f'{many} need {needed / GB:.1f} GB at least, {there_are} ({advice})')
