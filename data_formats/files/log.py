"""The training log: CSV, one flushed row per checkpoint."""

import contextlib
import os
import sys

from data_formats.errors import DataError, file_errors
from data_formats.files.atomic import atomic_output
from data_formats.files.streams import let_go

COLUMNS = (
    'pass',
    'oracle_calls',
    'seconds',
    'primal',
    'dual',
    'gap',
    'relative_gap',
    'primal_now',
    'dual_now',
)
LONGEST_COMMENT = 1 << 20


class TrainingLog:
    """Appends rows to a log file. Where one cannot be written (its reader goes away, the disk is full), the log ends.

    Args:
        path: the file; '-' is standard output.
        comment: text of the first line, which begins with '#'.
        extra: names of the columns behind COLUMNS (dev scores).
        keep: number of rows of an existing log to go on from; None starts the file anew, as does an empty one.

    Raises:
        DataError: the file cannot be opened, or is the log of another run.

    Attributes:
        lost: the DataError that says why the log has ended before the run, None otherwise.
    """

    def __init__(self, path, comment, extra=(), keep=None):
        self.path = os.fspath(path)
        self.columns = (*COLUMNS, *extra)
        self.rows, self.lost = 0, None
        start = [f'# {comment}\n', ','.join(self.columns) + '\n']
        if self.path == '-':
            self._stream = sys.stdout
            if self._stream is None:
                self._end('is closed')
            self._put(start)
            return
        with file_errors(self.path):
            if keep is not None and os.path.exists(self.path) and os.stat(self.path).st_size != 0:
                self._cut(keep)
                start = []
            mode = 'w' if start else 'a'
            self._stream = open(self.path, mode, encoding='utf-8', errors='surrogateescape')  # noqa: SIM115
        self._put(start)

    def write(self, row):
        """Write one row, a dictionary from column to number; what is missing or None stays empty.

        Raises:
            DataError: it cannot be written. This is raised once, since the log ends there.
        """
        before, values = self.lost, (row.get(column) for column in self.columns)
        self._put([','.join('' if v is None else str(v) for v in values) + '\n'])
        self.rows += 1
        if self.lost is not before:
            raise self.lost

    def _put(self, lines):
        if self.lost is not None:
            return
        try:
            self._stream.writelines(lines)
            self._stream.flush()
        except OSError as error:
            self._end(f'cannot be written: {error.strerror or error}')
            let_go(self._stream)

    def _end(self, why):
        self.lost = DataError('<stdout>' if self.path == '-' else self.path, None, why, 'the log ends here')

    def close(self):
        if self._stream is not sys.stdout:
            with contextlib.suppress(OSError):  # what could not be flushed has been reported by write
                self._stream.close()

    def _cut(self, keep):
        """Drop the rows behind the first `keep`: the resumed run writes them again."""
        with open(self.path, encoding='utf-8', errors='surrogateescape') as stream:
            lines = stream.readlines()
        head = next((k for k, line in enumerate(lines) if not line.startswith('#')), len(lines))
        if head == len(lines) or lines[head].rstrip('\n').split(',') != list(self.columns):
            raise DataError(
                self.path,
                min(head + 1, len(lines)) or 1,
                'is not the log of the run to resume',
                'expected the header line ' + ','.join(self.columns),
            )
        kept = lines[: head + 1 + keep]
        if len(kept) > head + 1 and not kept[-1].endswith('\n'):  # the disk was full in the middle of a row
            kept.pop()
        self.rows = len(kept) - head - 1
        if len(kept) < len(lines):
            with atomic_output(self.path) as stream:
                stream.write(''.join(kept).encode('utf-8', 'surrogateescape'))


def is_log(path):
    """Whether a file is a log, with its comment or without."""
    header = ','.join(COLUMNS).encode()
    with file_errors(path), open(path, 'rb') as stream:
        first = stream.readline(LONGEST_COMMENT)
        return (stream.readline(len(header)) if first.startswith(b'# ssvm ') else first).startswith(header)


def read_log(path):
    """The rows of a log as dictionaries of strings, comments left out."""
    import csv

    with file_errors(path), open(path, newline='', encoding='utf-8', errors='surrogateescape') as stream:
        return list(csv.DictReader(line for line in stream if not line.startswith('#')))
