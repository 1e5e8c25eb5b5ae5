"""Labels that look like the mark of a token without one: they are learned as labels like any other, which is said."""

import re

from data_formats.errors import shown
from data_formats.files.atomic import is_special
from data_formats.files.source import Source

MARKS = ('?', '_', '*', '')
# The formats in which `_` is a name like any other, and where there are no empty ones.
NAMES = {'conllx': ('_', ''), 'conllu': ('_', ''), 'brackets': ('_', '')}
RELATION = rb'^[0-9]+\t(?:[^\t\n]*\t){6}(%s)(?=[\t\r\n])'
# Where a label stands in a line, by format; what others name (letters, columns) are names.
PLACES = {
    'svmlight': rb'^[ \t]*(%s)(?=[ \t\r\n])',
    'svmhmm': rb'^[ \t]*(%s)(?=[ \t\r\n])',
    'crfsuite': rb'^(%s)(?=[\t\r\n])',
    'conll': rb'[ \t](%s)[ \t]*\r?$',
    'conllx': RELATION,
    'conllu': RELATION,
    'brackets': rb'\([ \t\r\n]*(%s)(?=[-=|() \t\r\n])',
    'multilabel': rb'^(?:[^\s:,]*,)*(%s)(?=[,\s])',
    'arff': rb'^[ \t]*@(?i:attribute)[ \t]+(?![ \t])(?P<quote>["\']?)(?P<label>%s)(?P=quote)(?=[\s{])',
    'graph': rb'"label"\s*:\s*"(%s)"',
}


def warning(path, names, format_name):
    """A text about the first line of a file that has such a label among others; None where none has.

    The file is looked at again, up to that line, where there is such a name; what came through a pipe is gone.
    """
    marks = [name for name in MARKS if name not in NAMES.get(format_name, ())]
    found = [name for name in marks if name in names]
    if not found or len(names) < 2 or format_name not in PLACES:
        return None
    line = None if path == '-' or is_special(path) else first_line(path, found, format_name)
    place = '<stdin>' if path == '-' else path if line is None else f'{path}:{line}'
    *others, last = [shown(name) if name else 'an empty name' for name in found]
    said = f'{", ".join(others)} and {last} are learned as labels' if others else f'{last} is learned as a label'
    return (
        f'{place}: {said} like any other (if {"they mark" if others else "it marks"} what has no label, leave those '
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
                return line + block.count(b'\n', 0, match.start(match.lastindex))
    return None
