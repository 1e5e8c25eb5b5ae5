"""Features of classes: `CLASS FEATURE[:VALUE] ...`, one class a line, for instance the words that describe it."""

import re

import numpy as np

from data_formats.errors import DataError, shown
from data_formats.files.lines import BLANKS, content_lines, number, words

LARGEST_ENTRY = 1e15  # the similarities are products of two
EXPECTED = 'CLASS FEATURE[:VALUE] ...'
# What a value looks like, those that are refused included; what else stands behind a colon belongs to the feature.
NUMBER = re.compile(r'[-+]?(\d[\d.]*|\.\d+)([eE][-+]?\d+)?|[-+]?(nan|inf|infinity)', re.IGNORECASE)


def read_class_features(path, label_names):
    """The inner products of the features of the labels of a data set, float64[K, K].

    Args:
        path: the file. The class ends at the first tab, or at the first blank where there is no tab; features are
            separated by blanks, have the value 1 if none is given, and one that stands there twice counts twice; `#`
            begins a comment.
        label_names: names of the labels of the data, in order.

    Raises:
        DataError: FILE:LINE of a malformed line or a class that is there twice; a label that is missing.
    """
    classes, columns = {}, {}
    for line, text in content_lines(path):
        text = text.strip(BLANKS)
        name, *rest = text.split('\t' if '\t' in text else ' ', 1)
        if name in classes:
            raise DataError(path, line, f'a second line for class {shown(name)}', 'expected one')
        classes[name] = _features(path, line, rest[0] if rest else '', columns)
    missing = next((name for name in label_names if name not in classes), None)
    if missing is not None:
        raise DataError(path, None, f'no line for label {shown(missing)} of the data', f'expected {EXPECTED}')
    table = np.zeros((len(label_names), len(columns)))
    for k, name in enumerate(label_names):
        for column, value in classes[name]:
            table[k, column] += value
    return table @ table.T


def _features(path, line, text, columns):
    """[(column, value)] of a line; columns grows by the features that are new."""
    found = []
    for word in words(text):
        feature, _, value = word.rpartition(':')
        if not NUMBER.fullmatch(value) or word == value:
            feature, value = word, '1'
        if not feature:
            raise DataError(path, line, f'{shown(word)} has no name', f'expected {EXPECTED}')
        found.append(
            (columns.setdefault(feature, len(columns)), number(path, line, value, 'value', most=LARGEST_ENTRY))
        )
    if not found:
        raise DataError(path, line, 'a class without features', f'expected {EXPECTED}')
    return found
