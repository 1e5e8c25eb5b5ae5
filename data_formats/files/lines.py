"""Small text files of a line for each fact: their lines, and numbers in them."""

import math
import re

from data_formats.errors import DataError, shown
from data_formats.files.source import Source

LARGEST_VALUE = 1e30  # what stays a number in single precision, and when it is squared and summed
COMMENT = re.compile(r'(^|[ \t]+)#.*', re.DOTALL)
LINE_END = re.compile(r'\r\n?|\n')
BLANKS = ' \t'  # what parts words; other white space may stand in names


def text_lines(path):
    """The lines of a file, in which bytes that are no UTF-8 are kept as in the names of data."""
    with Source(path) as source:
        return LINE_END.split(source.contents().decode('utf-8', 'surrogateescape'))


def content_lines(path):
    """[(number, text)] of the lines without their comments, which a `#` at the beginning of a line or behind a blank
    begins, and without those that are blank then."""
    lines = enumerate((COMMENT.sub('', line) for line in text_lines(path)), 1)
    return [(k, line) for k, line in lines if line.strip(BLANKS)]


def words(text):
    """What blanks and TABs part in a line."""
    return [word for word in text.replace('\t', ' ').split(' ') if word]


def number(path, line, text, what, least=-math.inf, positive=False, most=LARGEST_VALUE):
    """A finite number, from `least`, up to `most` in size, above 0 where it has to be positive. DataError at FILE:LINE
    where it is none."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= least) or (positive and value <= 0):
        kind = 'a positive number' if positive else 'a finite number' if least < 0 else f'a number from {least}'
        raise DataError(path, line, f'{what} {shown(text)}', f'expected {kind}')
    if abs(value) > most:
        raise DataError(path, line, f'{what} {shown(text)}', f'expected one up to {most:g} in size')
    return value
