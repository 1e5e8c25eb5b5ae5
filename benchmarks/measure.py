"""Measure whole processes: CPU time of a command and its children, elapsed time, peak memory.

This module stays small on purpose (no numpy): on Linux a child's peak memory starts at what its parent
held when it was forked.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

# One thread everywhere, so that CPU time and elapsed time tell the same story.
SINGLE_THREADED = dict.fromkeys(
    ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'VECLIB_MAXIMUM_THREADS', 'NUMEXPR_NUM_THREADS'), '1'
)
RSS_UNIT = 1 if sys.platform == 'darwin' else 1024


class CommandError(Exception):
    """A measured command ended with another exit status than 0."""


@dataclass(frozen=True)
class Usage:
    """What one run took: user + system CPU seconds, elapsed seconds, peak resident bytes, and its output."""

    cpu: float
    elapsed: float
    peak: int
    stdout: str
    stderr: str


def run(argv, cwd=None, env=None):
    """Run a command to its end and return its Usage; CommandError, with the end of its output, if it fails."""
    # an installed program has its bytecode files
    inherited = {name: value for name, value in os.environ.items() if name != 'PYTHONDONTWRITEBYTECODE'}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        child = subprocess.Popen(
            [str(word) for word in argv],
            cwd=cwd,
            env={**inherited, **SINGLE_THREADED, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
        )
        _, status, used = os.wait4(child.pid, 0)
        elapsed = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        stdout, stderr = (_text(stream) for stream in (out, err))
    if child.returncode:
        raise CommandError(f'exit {child.returncode} from {" ".join(map(str, argv))}\n{(stdout + stderr)[-2000:]}')
    return Usage(used.ru_utime + used.ru_stime, elapsed, used.ru_maxrss * RSS_UNIT, stdout, stderr)


def compare(commands, runs=3, **how):
    """Run several commands in turn, `runs` times round, so that all of them see the same machine.

    commands: dict of name -> argv. Returns dict of name -> Usage with the median CPU time, elapsed time and peak,
    and the output of the last run.
    """
    seen = {name: [] for name in commands}
    for _ in range(runs):
        for name, argv in commands.items():
            seen[name].append(run(argv, **how))
    return {name: median(usages) for name, usages in seen.items()}


def at_once(argv, count, **how):
    """Run `count` copies of a command side by side; their Usages."""
    with ThreadPoolExecutor(count) as executor:
        return list(executor.map(lambda _: run(argv, **how), range(count)))


def median(usages):
    """The Usage whose figures are the medians of the given ones."""
    return Usage(
        statistics.median(u.cpu for u in usages),
        statistics.median(u.elapsed for u in usages),
        int(statistics.median(u.peak for u in usages)),
        usages[-1].stdout,
        usages[-1].stderr,
    )


def size_mb(path):
    """Size of a file in MB (10^6 bytes)."""
    return Path(path).stat().st_size / 1e6


def _text(stream):
    stream.seek(0)
    return stream.read().decode(errors='replace')
