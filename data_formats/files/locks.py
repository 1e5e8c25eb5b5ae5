"""Two runs that write the same model, checkpoint or log would spoil both: each output has one writer at a time.

A lock is a small hidden file beside the output, which names the process and its machine. The system's own lock on it
goes with the process, however that ends; all processes of a machine see it, and on most shared file systems those of
others too. For the rest, a process shows that it is alive by touching the file.
"""

import contextlib
import fcntl
import os
import threading
import time
import zlib

from data_formats.errors import DataError
from data_formats.files.atomic import UNFINISHED, is_alive, is_special

BEAT_SECONDS = 5.0  # seconds between two signs of life
SILENCE_SECONDS = 30.0  # seconds without one after which a process of another machine is no more


@contextlib.contextmanager
def locked(outputs, say):
    """Hold the locks of some outputs while the block runs.

    Args:
        outputs: paths; None and what is no regular file need no lock.
        say: a function of texts for people.

    Raises:
        DataError: another process holds one.
    """
    files = [path for path in outputs if path not in (None, '-') and not is_special(path)]
    held, ended, thread = {}, threading.Event(), None
    try:
        for path in files:
            name = lock_name(path)
            if name not in held:
                held[name] = _take(path, name, say)
        descriptors = [descriptor for descriptor in held.values() if descriptor is not None]
        thread = threading.Thread(target=_show_life, args=(descriptors, ended), daemon=True)
        thread.start()
        yield
    finally:
        ended.set()
        if thread is not None:
            thread.join()
        for name, descriptor in held.items():
            _release(name, descriptor)


def lock_name(path):
    """Where the lock of an output is."""
    folder, name = os.path.split(os.fsencode(os.path.realpath(path)))
    if len(name) > 200:  # names have up to 255 bytes
        name = name[:150].decode('utf-8', 'ignore').encode() + b'-%08x' % zlib.crc32(name)
    return os.fsdecode(os.path.join(folder, b'.%b.lock' % name))


def _take(path, name, say):
    """The descriptor of a lock that is ours now; None in a folder that can have none."""
    while True:
        try:
            descriptor = os.open(name, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:
            return None
        try:
            if _is_free(path, name, descriptor, say):
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f'{os.uname().nodename}\n{os.getpid()}\n'.encode(), 0)
                UNFINISHED.add(name)
                return descriptor
        except OSError:  # no room for a line: the system's lock has to do
            return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # its holder has removed it: once more


def _is_free(path, name, descriptor, say):
    """Whether a lock may be taken; False where the file is no longer there. DataError: another process holds it."""
    alone = _lock(descriptor)
    if not _is_at(name, descriptor):
        return False
    host, pid = _holder(descriptor)
    here = host == os.uname().nodename
    if alone is False:
        raise _is_written(path, host, pid)
    if host is None or (here and (alone or pid == os.getpid() or not is_alive(pid))):
        return True
    if here:
        raise _is_written(path, host, pid)
    say(f'{path}: process {pid} on {host} was writing it: waiting {SILENCE_SECONDS:g} s for a sign of life')
    before, end = _state(name), time.monotonic() + SILENCE_SECONDS
    while time.monotonic() < end:
        time.sleep(min(1.0, SILENCE_SECONDS / 10))
        now = _state(name)
        if now is None:
            return False
        if now != before:
            raise _is_written(path, host, pid, f'; if it is gone, remove {name}')
    return True


def _is_written(path, host, pid, more=''):
    who = 'another process' if host is None else f'process {pid} on {host}'
    return DataError(path, None, f'{who} is writing it', f'wait for that run, end it, or give another name{more}')


def _lock(descriptor):
    """Whether the system's lock is ours now; None where the file system has none."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _holder(descriptor):
    """(machine, process) that a lock names; (None, None) where that is nobody."""
    lines = os.pread(descriptor, 1000, 0).decode('utf-8', 'replace').splitlines()
    if len(lines) < 2 or not (lines[1].isascii() and lines[1].isdigit()):
        return None, None
    return lines[0], int(lines[1])


def _is_at(name, descriptor):
    """Whether an open file is still the one of that name."""
    try:
        return os.path.samestat(os.stat(name), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _state(name):
    """What changes when a file is touched; None where it is gone. Opened anew, since shared file systems look then."""
    try:
        descriptor = os.open(name, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        found = os.fstat(descriptor)
        return found.st_ino, found.st_mtime_ns
    finally:
        os.close(descriptor)


def _show_life(descriptors, ended):
    while not ended.wait(BEAT_SECONDS):
        for descriptor in descriptors:
            with contextlib.suppress(OSError):
                os.utime(descriptor)


def _release(name, descriptor):
    if descriptor is None:
        return
    with contextlib.suppress(OSError):
        if _is_at(name, descriptor):
            os.unlink(name)
    UNFINISHED.discard(name)
    os.close(descriptor)
