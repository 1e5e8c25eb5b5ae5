"""Launchers of parallel programs that have started several copies of this one."""

import contextlib
import os

from data_formats.errors import UsageError

# How many copies there are, as Open MPI, MPICH and its kin (Intel MPI, Cray) and MVAPICH2 say it; MPICH also says how
# many there are on this machine.
SIZE_VARIABLES = ('OMPI_COMM_WORLD_SIZE', 'PMI_SIZE', 'MV2_COMM_WORLD_SIZE', 'MPI_LOCALNRANKS')
# Slurm counts the tasks of every step; only with one of these they are ranks of one program.
SLURM_SIZE = 'SLURM_STEP_NUM_TASKS'
SLURM_RANKS = ('PMIX_RANK', 'PMI_RANK')


def refuse_copies(environ=os.environ):
    """UsageError where a launcher has started several copies of this process, which would write the same files."""
    names = [*SIZE_VARIABLES]
    if any(name in environ for name in SLURM_RANKS):
        names.append(SLURM_SIZE)
    for name in names:
        copies = 0
        with contextlib.suppress(KeyError, ValueError):
            copies = int(environ[name])
        if copies > 1:
            raise UsageError(
                f'{name}={copies}: a launcher has started {copies} copies of this command, which would write the same '
                'files. Start it once, without mpiexec or srun (--threads uses the CPUs of one machine); separate runs '
                f'are an array job. Where no other copy writes to these files, unset {name}'
            )
