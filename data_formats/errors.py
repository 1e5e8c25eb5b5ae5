"""Every error a user can cause, and the exit status each one stands for."""

from contextlib import contextmanager

from cython_ext.text.errors import shown, visible, visible_lines

__all__ = ['DataError', 'SolverError', 'SsvmError', 'UsageError', 'file_errors', 'shown', 'visible', 'visible_lines']


class SsvmError(Exception):
    """The root of all errors that end in one line on stderr and never in a traceback."""

    exit_code = 1


LONGEST_MESSAGE = 1000  # characters of what is said of a file, which names of any length may be part of


def brief(text):
    """A text with its middle left out where it is longer than LONGEST_MESSAGE."""
    return text if len(text) <= LONGEST_MESSAGE else f'{text[: LONGEST_MESSAGE - 200]} ... {text[-195:]}'


class DataError(SsvmError):
    """A file that is missing, unreadable or malformed: ``FILE:LINE: what is wrong (what was expected)``."""

    def __init__(self, path, line, what, expected=None):
        """
        Parameters
        ----------
        path : str or path
            The file as the user named it.
        line : int or None
            Line in that file, from 1; None when the error is about the file as a whole.
        what : str
            What is wrong, with the offending word.
        expected : str, optional
            What should have stood there, usually beginning with "expected".
        """
        super().__init__(path, line, what, expected)
        self.path = str(path)
        self.line = line
        self.what = what
        self.expected = expected

    def __str__(self):
        place = self.path if self.line is None else f'{self.path}:{self.line}'
        hint = f' ({self.expected})' if self.expected else ''
        return visible(f'{place}: {brief(self.what + hint)}')


class UsageError(SsvmError):
    """An option, or a combination of options, that cannot work."""

    exit_code = 2


class SolverError(SsvmError):
    """A run that failed; the message carries the last certificate."""


@contextmanager
def file_errors(path):
    """Turn what the operating system says about a file into a DataError that names it."""
    try:
        yield
    except OSError as error:
        raise DataError(path, None, error.strerror or str(error)) from error
