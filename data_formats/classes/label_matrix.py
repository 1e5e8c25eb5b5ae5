"""Matrices over the labels, costs of --task-loss FILE and similarities of --class-similarity FILE: tab-separated, label
names in the header, a row for each (right) label."""

import numpy as np

from data_formats.errors import DataError, shown
from data_formats.files.lines import BLANKS, number, text_lines


def read_cost_matrix(path, label_names):
    """The costs of predicting a label where another one is right.

    Args:
        path: the file. Rows may begin with the name of their label; otherwise they come in the order of the header.
        label_names: names of the labels of the data, in order.

    Returns:
        float64[K, K] (right label, predicted label), in the order of label_names.

    Raises:
        DataError: a malformed line, a label that is missing, a negative cost, a diagonal that is not zero.
    """
    return _read(path, label_names, 'cost', 'costs', _cost)


def read_class_similarity(path, label_names):
    """How similar labels are, as inner products of whatever describes them.

    Args:
        path, label_names: as of read_cost_matrix.

    Returns:
        float64[K, K], in the order of label_names.

    Raises:
        DataError: a malformed line, a label that is missing.
    """
    return _read(path, label_names, 'similarity', 'similarities', _similarity)


def _cost(path, line, text, right, predicted):
    cost = number(path, line, text, 'cost', least=0)
    if right == predicted and cost:
        raise DataError(path, line, f'predicting {shown(right)} where it is right costs {text}', 'expected 0')
    return cost


def _similarity(path, line, text, right, predicted):
    return number(path, line, text, 'similarity')


def _read(path, label_names, one, many, cell):
    """The matrix of what is called so; cell: (path, line, text, label of the row, label of the column) -> number."""
    rows = [(at, line.split('\t')) for at, line in enumerate(text_lines(path), 1) if line.strip(BLANKS)]
    if len(rows) < 2:
        raise DataError(path, None, f'no {one} matrix', 'expected a header of label names and a row for each label')
    columns, named = _header(rows, set(label_names))
    line = rows[0][0]
    if len(set(columns)) < len(columns):
        twice = next(name for k, name in enumerate(columns) if name in columns[:k])
        raise DataError(path, line, f'label {shown(twice)} stands twice in the header')
    for name in label_names:
        if name not in columns:
            raise DataError(path, line, f'label {shown(name)} of the data is missing from the header')
    costs = {}
    for k, (at, fields) in enumerate(rows[1:]):
        if named:
            name, fields = fields[0], fields[1:]
        elif k < len(columns):
            name = columns[k]
        else:
            raise DataError(path, at, 'one row too many', f'expected {len(columns)} rows, as many as labels')
        if name not in columns:
            raise DataError(path, at, f'row of {shown(name)}, which is not in the header', 'expected a label name')
        if name in costs:
            raise DataError(path, at, f'a second row for label {shown(name)}')
        costs[name] = _row(path, at, fields, columns, name, many, cell)
    for name in label_names:
        if name not in costs:
            raise DataError(path, None, f'no row for label {shown(name)}')
    return np.array([[costs[right][columns.index(name)] for name in label_names] for right in label_names])


def _header(rows, labels):
    """Names of the columns, and whether rows begin with a name."""
    header, first = rows[0][1], rows[1][1]
    if header[0] == '' or (len(first) == len(header) and header[0] not in labels and first[0] in header[1:]):
        return header[1:], True
    return header, len(first) == len(header) + 1


def _row(path, line, fields, columns, name, many, cell):
    if len(fields) != len(columns):
        raise DataError(path, line, f'{len(fields)} {many}', f'expected {len(columns)}, as many as the header')
    return [cell(path, line, text, name, column) for column, text in zip(columns, fields, strict=True)]
