"""What a run says to people, on standard error."""

import shutil
import sys
import time

from ssvm_cli.terminal.complaints import heard, tell

REDRAW_SECONDS = 0.2  # seconds between two drawings of the progress line


class Progress:
    """Messages by verbosity; one plain line per checkpoint, or a line that is redrawn if stderr is a terminal.

    Args:
        level: 0 nothing, 1 the usual, 2 and 3 details.
    """

    def __init__(self, level=1):
        self.level = level
        self.redraw = level > 0 and sys.stderr.isatty()
        self._drawn = 0.0
        self._dirty = False

    def say(self, text, level=1):
        """One line for people who asked for at least this level."""
        if self.level >= level:
            self._clear()
            tell(text)

    def row(self, row):
        """One checkpoint of the run, a row of the log."""
        text = row_text(row)
        if not self.redraw or self.level >= 2:
            self.say(text)
        else:
            self._draw(text)

    def step(self, passes, seconds):
        """One pass is over: redraw, if anybody is watching and enough time has gone by."""
        if self.redraw and time.monotonic() - self._drawn > REDRAW_SECONDS:
            self._draw(f'pass {passes}  {seconds:.1f} s', transient=True)

    def close(self):
        self._clear()

    def _draw(self, text, transient=False):
        if transient and self._dirty:
            text = f'{self._last}   [{text}]'
        else:
            self._last = text
        width = shutil.get_terminal_size().columns - 1  # a line that wraps cannot be drawn over
        self._write('\r' + text[:width] + '\x1b[K')
        self._dirty = True
        self._drawn = time.monotonic()

    def _clear(self):
        if self._dirty:
            self._write('\r\x1b[K')
            self._dirty = False

    @staticmethod
    def _write(text):
        with heard():
            sys.stderr.write(text)
            sys.stderr.flush()


def counted(number, one, many=None):
    """'1 label', '2 labels'; many: the plural where it is not one + 's'."""
    return f'{number} {one if number == 1 else many or one + "s"}'


def row_text(row):
    """A row of the log in words."""
    parts = [f'pass {row["pass"]}', f'primal {row["primal"]:.6g}']
    if row.get('dual') is not None:
        parts += [f'dual {row["dual"]:.6g}', f'relative gap {row["relative_gap"]:.3g}']
    parts += [f'{name.removeprefix("dev_")} {value:.4f}' for name, value in row.items() if name.startswith('dev_')]
    parts.append(f'{row["seconds"]:.1f} s')
    return '  '.join(parts)
