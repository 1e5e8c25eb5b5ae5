"""Paths on the command line, checked before any work."""

import contextlib
import os

from data_formats.errors import DataError, UsageError, file_errors
from data_formats.files.atomic import check_output, is_special, remove_leftovers

HEAD_BYTES = 256  # bytes that tell what a file is


def check_paths(inputs, outputs):
    """Refuse combinations of files that cannot work; where all can, remove what killed runs left beside the outputs.

    Args:
        inputs, outputs: dictionaries from the name of an argument or option to its path; None where it is not given.

    Raises:
        UsageError: an empty name, standard input or output used twice, a file that is input and output or output twice,
            an output that cannot be written.
    """
    inputs = {name: path for name, path in inputs.items() if path is not None}
    outputs = {name: path for name, path in outputs.items() if path is not None}
    for name, path in (inputs | outputs).items():
        if not path:
            raise UsageError(f'{name} is empty (expected the name of a file)')
    _at_most_one([name for name, path in inputs.items() if path == '-'], 'standard input can be read only once')
    _at_most_one([name for name, path in outputs.items() if path == '-'], 'standard output can be written only once')
    seen = dict(inputs)
    for name, path in outputs.items():
        for other, taken in seen.items():
            if '-' not in (path, taken) and _same(path, taken):
                raise UsageError(f'{path} is both {other} and {name}')
        seen[name] = path
        check_output(path)
    for path in outputs.values():
        remove_leftovers(path)


def check_overwritten(path, what, recognised):
    """Refuse to overwrite a file that is something else than what is written, most likely given by mistake.

    Args:
        path: an output; None or - are no files, and what does not exist, is empty or no regular file may be written to.
        what: what is written, for the message ('ssvm model').
        recognised: function that says whether a file is such a one.

    Raises:
        DataError: the file is there and is something else.
    """
    if path in (None, '-') or is_special(path) or not os.path.isfile(path):
        return
    if beginning(path) and not recognised(path):
        raise DataError(path, None, f'exists and is no {what}', 'delete it first or give another name')


def beginning(path):
    """The first bytes of a file."""
    with file_errors(path), open(path, 'rb') as stream:
        return stream.read(HEAD_BYTES)


def check_there(*paths):
    """DataError for an input that does not exist and would be read late; None and - are no files."""
    for path in paths:
        if path not in (None, '-'):
            with file_errors(path):
                os.stat(path)


def _at_most_one(names, what):
    if len(names) > 1:
        raise UsageError(f'{what} ({" and ".join(names)} are -)')


def _same(a, b):
    if os.path.abspath(a) == os.path.abspath(b):
        return True
    with contextlib.suppress(OSError):
        return os.path.samefile(a, b) and os.path.isfile(a)
    return False
