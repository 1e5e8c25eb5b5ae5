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
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


def _cgroup_quota(proc, cgroups):
    """CPUs that the CPU-time quota of this process's cgroups amounts to (versions 1 and 2), or None."""
    return min(_found_in_cgroups('cpu', proc, cgroups, _quota_v2, _quota_v1), default=None)


def _found_in_cgroups(controller, proc, cgroups, look_v2, look_v1):
    """What looking into the folders of this process's cgroups, and of those above them, finds; without None."""
    try:
        lines = proc.read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        _, _, rest = line.partition(':')
        controllers, _, name = rest.partition(':')
        if controllers == '':
            found += [look_v2(cgroups / parent) for parent in _parents(name)]
        elif controller in controllers.split(','):
            found += [look_v1(cgroups / controllers / parent) for parent in _parents(name)]
    return [one for one in found if one is not None]


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
    """Bytes of memory that this process can ever have: that of the machine, or less by its limits; None where that is
    not known."""
    return min((limit for limit, _ in _limits()), default=None)


def free_memory():
    """Bytes of it that nobody uses at present, or None."""
    return min((limit - used for limit, used in _limits()), default=None)


def _limits(environ=os.environ, proc=Path('/proc/self'), meminfo=Path('/proc/meminfo'), cgroups=Path('/sys/fs/cgroup')):
    """[(bytes, those of them in use)]: of the machine, of control groups, of a job of Slurm's, and of the process."""
    found = _found_in_cgroups('memory', proc / 'cgroup', cgroups, _memory_v2, _memory_v1)
    sizes = _kilobytes(proc / 'status')
    with contextlib.suppress(AttributeError, OSError, ValueError):
        total = os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE')
        found.append((total, total - min(total, _kilobytes(meminfo).get('MemAvailable', total))))
    for name, count in (('SLURM_MEM_PER_NODE', '1'), ('SLURM_MEM_PER_CPU', environ.get('SLURM_CPUS_ON_NODE'))):
        with contextlib.suppress(KeyError, TypeError, ValueError):
            limit = int(environ[name]) * int(count) * 2**20
            if limit > 0:  # 0 is all of the node
                found.append((limit, sizes.get('VmRSS', 0)))
    with contextlib.suppress(ImportError, AttributeError, OSError, ValueError):
        import resource

        for name, size in (('RLIMIT_AS', 'VmSize'), ('RLIMIT_DATA', 'VmData')):
            limit, _ = resource.getrlimit(getattr(resource, name))
            if limit != resource.RLIM_INFINITY:
                found.append((limit, sizes.get(size, 0)))
    return found


def _kilobytes(path):
    """{name: bytes} of the lines `Name:   123 kB` of a file in /proc."""
    with contextlib.suppress(OSError):
        words = [line.split() for line in path.read_text().splitlines()]
        return {word[0].rstrip(':'): int(word[1]) << 10 for word in words if len(word) == 3 and word[2] == 'kB'}
    return {}


def _memory_v2(folder):
    return _memory(folder, 'memory.max', 'memory.current', 'inactive_file')


def _memory_v1(folder):
    return _memory(folder, 'memory.limit_in_bytes', 'memory.usage_in_bytes', 'total_inactive_file')


def _memory(folder, limit, used, cache):
    """(limit, use) of a control group; pages of files that can be dropped are no use. None where there is no limit."""
    with contextlib.suppress(OSError, ValueError):
        bound, use = (int((folder / name).read_text()) for name in (limit, used))  # the word max is no number
        with contextlib.suppress(OSError, ValueError, StopIteration):
            rows = (line.split() for line in (folder / 'memory.stat').read_text().splitlines())
            use -= next(int(row[1]) for row in rows if row[0] == cache)
        return bound, max(use, 0)
    return None
