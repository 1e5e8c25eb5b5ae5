"""What is said on standard error, and complaints about outputs that could not be written: a run goes on after them,
since its result is worth more, and the command ends with status 1.
"""

import contextlib
import errno
import sys

import click

from data_formats.errors import DataError, visible_lines
from data_formats.files.streams import let_go

READER_GONE = (errno.EPIPE, errno.EIO)  # a closed pipe, a terminal that is no more
_made = []


def begin():
    """Forget the complaints of another command of this process."""
    _made.clear()


def made():
    """Whether there was a reason to complain."""
    return bool(_made)


def tell(message):
    """One line on standard error, whatever bytes file names and labels are made of."""
    with heard():
        click.echo(visible_lines(str(message)).encode('utf-8', 'surrogateescape'), err=True)


def complain(error):
    """Say what could not be written."""
    _made.append(error)
    tell(error)


@contextlib.contextmanager
def heard():
    """A block that writes to standard error. That what is said is lost is a complaint too."""
    try:
        yield
    except OSError as error:
        _made.append(error)
        if error.errno in READER_GONE:  # a full disk may have room again
            let_go(sys.stderr)


@contextlib.contextmanager
def beside_the_result(path):
    """A block that writes an output which is not the result itself: if that is impossible, complain and go on."""
    try:
        yield
    except BrokenPipeError as error:
        complain(DataError('<stdout>' if path == '-' else path, None, f'cannot be written: {error.strerror}'))
        if path == '-':
            let_go(sys.stdout)
    except DataError as error:
        complain(error)
