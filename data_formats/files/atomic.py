"""Writing files so that a killed job never leaves half of one."""

import contextlib
import glob
import os
import stat
import sys

from data_formats.errors import DataError, UsageError

UNFINISHED = set()  # names of files that are no use to anybody when this process ends now


@contextlib.contextmanager
def atomic_output(path):
    """A binary stream whose contents appear at `path` all at once, when the block ends without an exception.

    The bytes go to a temporary name in the same folder, are flushed to the disk and renamed. A symbolic link stays
    one, and a file that is replaced hands on its permissions, owner and group as far as the system lets us; a new one
    has those of the umask. '-' is standard output; what is no regular file (/dev/null, a named pipe) is written to as
    it stands.

    Raises:
        DataError: the file cannot be written.
    """
    path = os.fspath(path)
    target = os.path.realpath(path)
    temporary = _temporary(target, str(os.getpid()))
    with _errors_of_writing('<stdout>' if path == '-' else path, (target, temporary)):
        if path == '-':
            if sys.stdout is None:
                raise _closed()
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        elif is_special(path):
            with open(path, 'wb') as stream:
                yield stream
        else:
            try:
                UNFINISHED.add(temporary)
                with open(temporary, 'wb') as stream:
                    _take_over(stream.fileno(), target)
                    yield stream
                    stream.flush()
                    os.fsync(stream.fileno())
                os.replace(temporary, target)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
            finally:
                UNFINISHED.discard(temporary)


def _take_over(descriptor, target):
    """Give an open file the permissions, owner and group of the file that it will replace, if there is one."""
    try:
        old = os.stat(target)
    except OSError:
        return
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        for owner in (old.st_uid, -1):  # only root may give files away; a group of our own is another matter
            with contextlib.suppress(OSError):
                os.fchown(descriptor, owner, old.st_gid)
                break
    with contextlib.suppress(OSError):  # file systems without permissions
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode) & ~(stat.S_ISUID | stat.S_ISGID))


def _closed():
    return DataError('<stdout>', None, 'is closed', 'expected an open standard output')


def remove_unfinished():
    """Remove the temporary files of this process, which ends without cleaning up."""
    for path in list(UNFINISHED):
        with contextlib.suppress(OSError):
            os.unlink(path)


def remove_leftovers(path):
    """Remove the temporary files that killed processes of this machine left behind when they wrote to `path`."""
    if path == '-':
        return
    target = os.path.realpath(path)
    start, end = _temporary(target, '\0').split('\0')
    for name in glob.iglob(f'{glob.escape(start)}*{end}'):
        pid = name[len(start) : -len(end)]
        if pid.isascii() and pid.isdigit() and not is_alive(int(pid)):
            with contextlib.suppress(OSError):
                os.unlink(name)


def _temporary(target, pid):
    """Where a process writes what becomes `target`. The machine is in the name because folders may be shared and the
    numbers of processes are not; a long name of the target is cut, since names have up to 255 bytes."""
    folder, name = os.path.split(os.fsencode(target))
    short = name[:150].decode('utf-8', 'ignore').encode() if len(name) > 150 else name
    return os.fsdecode(os.path.join(folder, b'.%b.%b.%b.tmp' % (short, _machine(), pid.encode())))


def _machine():
    return os.fsencode(os.uname().nodename.replace('/', '_'))[:64]


def is_alive(pid):
    """Whether a process of this machine may exist."""
    try:
        os.kill(pid, 0)  # sends nothing
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # somebody else's, or no number of a process
        return True
    return True


def is_special(path):
    """Whether an output is written as it stands: a device, a pipe, or whatever /dev/stdout happens to be."""
    if path.startswith(('/dev/', '/proc/')):
        return os.path.exists(path)
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


@contextlib.contextmanager
def _errors_of_writing(path, names):
    """Name the output in what the system says about it; a closed pipe, and other files, are not our matter."""
    try:
        yield
    except OSError as error:
        if isinstance(error, BrokenPipeError) or error.filename not in (None, *names):
            raise
        raise DataError(path, None, f'cannot be written: {error.strerror or error}') from error


def check_output(path):
    """Complain before the work starts about an output path that cannot be written after it.

    Raises:
        UsageError: the folder is missing or not writable, or the path is a folder or no path at all.
        DataError: standard output is closed.
    """
    path = os.fspath(path)
    if path == '-':
        if sys.stdout is None:
            raise _closed()
        return
    if os.path.isdir(path) or os.path.basename(path) in ('', '.', '..'):
        raise UsageError(f'{path}: is a folder (expected the name of a file to write)')
    try:
        os.lstat(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UsageError(f'{path}: {error.strerror} (expected the name of a file to write)') from error
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise UsageError(f'{path}: folder {folder} does not exist (expected an existing folder to write into)')
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        folder = path
    if not os.access(folder, os.W_OK):
        raise UsageError(f'{path}: {folder} is not writable')
