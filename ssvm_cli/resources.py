"""What this job may use: CPUs and memory."""

import contextlib
import os
from pathlib import Path


def available_cpus(environ=os.environ, proc=Path('/proc/self/cgroup'), cgroups=Path('/sys/fs/cgroup')):
    """The smallest of CPU affinity, cgroup quota and SLURM_CPUS_PER_TASK; at least 1."""
    limits = [_affinity()]
    quota = _cgroup_quota(proc, cgroups)
    if quota is not None:
        limits.append(quota)
    with contextlib.suppress(KeyError, ValueError):
        limits.append(int(environ['SLURM_CPUS_PER_TASK']))
    return max(1, min(limits))


def _affinity():
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cgroup_quota(proc, cgroups):
    """CPUs that the CPU-time quota of this process's cgroups amounts to (versions 1 and 2), or None."""
    try:
        lines = proc.read_text().splitlines()
    except OSError:
        return None
    found = []
    for line in lines:
        _, _, rest = line.partition(':')
        controllers, _, name = rest.partition(':')
        if controllers == '':
            found += [_quota_v2(cgroups / parent) for parent in _parents(name)]
        elif 'cpu' in controllers.split(','):
            found += [_quota_v1(cgroups / controllers / parent) for parent in _parents(name)]
    found = [quota for quota in found if quota is not None]
    return min(found) if found else None


def _parents(name):
    """'/a/b' -> 'a/b', 'a', '': a quota holds for everything below it."""
    parts = [part for part in name.split('/') if part not in ('', '..')]
    return ['/'.join(parts[:k]) for k in range(len(parts), -1, -1)]


def _quota_v2(folder):
    with contextlib.suppress(OSError, ValueError):
        quota, period = (folder / 'cpu.max').read_text().split()
        return max(1, round(int(quota) / int(period)))
    return None


def _quota_v1(folder):
    with contextlib.suppress(OSError, ValueError):
        quota = int((folder / 'cpu.cfs_quota_us').read_text())
        period = int((folder / 'cpu.cfs_period_us').read_text())
        return max(1, round(quota / period)) if quota > 0 else None
    return None


def return_memory():
    """Give memory that is free back to the system. glibc keeps what came in small pieces, for the same program only."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError, TypeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def total_memory():
    """Bytes of memory of the machine, or None where that is not known."""
    try:
        return os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE')
    except (AttributeError, OSError, ValueError):
        return None
