"""Pairs of labels: two names a line, separated by a tab; comments and blank lines as in taxonomies."""

from data_formats.errors import DataError, shown
from data_formats.files.lines import BLANKS, content_lines

EXPECTED = 'expected two labels, separated by a tab'


def read_pairs(path, label_names):
    """[[j, k], ...] with j < k, ascending, of the labels of a data set.

    Args:
        path: the file.
        label_names: names of the labels of the data, in order.

    Raises:
        DataError: FILE:LINE of a malformed line, a label that the data do not have, one with itself, or a pair that is
            there twice; there are no pairs.
    """
    places = {name: k for k, name in enumerate(label_names)}
    lines = {}
    for line, text in content_lines(path):
        fields = [field.strip(BLANKS) for field in text.split('\t')]
        if len(fields) != 2 or '' in fields:
            what = 'an empty field' if '' in fields else '1 field' if len(fields) == 1 else f'{len(fields)} fields'
            raise DataError(path, line, what, EXPECTED)
        for name in fields:
            if name not in places:
                raise DataError(path, line, f'label {shown(name)} is none of the data', 'expected one of their labels')
        if fields[0] == fields[1]:
            raise DataError(path, line, f'a pair of {shown(fields[0])} and itself', 'expected two labels')
        pair = tuple(sorted(places[name] for name in fields))
        if pair in lines:
            raise DataError(path, line, f'the pair of line {lines[pair]} a second time', 'expected each pair once')
        lines[pair] = line
    if not lines:
        raise DataError(path, None, 'no pairs', f'{EXPECTED}; --pairs none has none')
    return [list(pair) for pair in sorted(lines)]
