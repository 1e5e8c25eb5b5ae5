"""Labels that look like the mark of a token without one: they are learned as labels like any other, which is said."""

import re

from data_formats.atomic import is_special
from data_formats.errors import shown
from data_formats.source import Source

MARKS = ('?', '_', '*', '')
# Where a label stands in a line, by format. What others name (relations, phrases, letters, columns) are names.
PLACES = {
    'svmlight': rb'^[ \t]*(%s)(?=[ \t\r\n])',
    'svmhmm': rb'^[ \t]*(%s)(?=[ \t\r\n])',
    'crfsuite': rb'^(%s)(?=[\t\r\n])',
    'conll': rb'[ \t](%s)[ \t]*\r?$',
    'multilabel': rb'^(?:[^\s:,]*,)*(%s)(?=[,\s])',
    'graph': rb'"label"\s*:\s*"(%s)"',
}


def warning(path, names, format_name):
    """A text about the first line of a file that has such a label among others; None where none has.

    The file is looked at again, up to that line, where there is such a name; what came through a pipe is gone.
    """
    found = [name for name in MARKS if name in names]
    if not found or len(names) < 2 or format_name not in PLACES:
        return None
    said = ' and '.join(shown(name) if name else 'an empty name' for name in found)
    line = None if path == '-' or is_special(path) else first_line(path, found, format_name)
    place = path if line is None else f'{path}:{line}'
    return (
        f'{place}: {said} is learned as a label like any other (if it marks what has no label, leave those '
        'examples out of the training data, or give them their labels)'
    )


def first_line(path, names, format_name):
    """The number of the first line with one of these labels; None if there is none."""
    spelled = b'|'.join(re.escape(name.encode()) for name in names)
    pattern = re.compile(PLACES[format_name] % spelled, re.MULTILINE)
    with Source(path) as source:
        for block, line in source.blocks(lambda buffer: buffer.rfind(b'\n') + 1):
            match = pattern.search(block)
            if match:
                return line + block.count(b'\n', 0, match.start(1))
    return None
