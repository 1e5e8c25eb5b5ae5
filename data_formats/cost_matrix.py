"""Cost matrices of --task-loss FILE: tab-separated, label names in the header, one row per right label."""

import math

import numpy as np

from data_formats.errors import DataError, file_errors, shown


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
    with file_errors(path):
        try:
            with open(path, encoding='utf-8-sig') as stream:
                lines = stream.read().splitlines()
        except UnicodeDecodeError as error:
            raise DataError(path, None, 'not UTF-8', 'expected a tab-separated cost matrix') from error
    rows = [(number, line.split('\t')) for number, line in enumerate(lines, 1) if line.strip()]
    if len(rows) < 2:
        raise DataError(path, None, 'no cost matrix', 'expected a header of label names and a row per right label')
    columns, named = _header(rows, set(label_names))
    line = rows[0][0]
    if len(set(columns)) < len(columns):
        twice = next(name for k, name in enumerate(columns) if name in columns[:k])
        raise DataError(path, line, f'label {shown(twice)} stands twice in the header')
    for name in label_names:
        if name not in columns:
            raise DataError(path, line, f'label {shown(name)} of the data is missing from the header')
    costs = {}
    for k, (number, fields) in enumerate(rows[1:]):
        if named:
            name, fields = fields[0], fields[1:]
        elif k < len(columns):
            name = columns[k]
        else:
            raise DataError(path, number, 'one row too many', f'expected {len(columns)} rows, as many as labels')
        if name not in columns:
            raise DataError(path, number, f'row of {shown(name)}, which is not in the header', 'expected a label name')
        if name in costs:
            raise DataError(path, number, f'a second row for label {shown(name)}')
        costs[name] = _row(path, number, fields, columns, name)
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


def _row(path, number, fields, columns, name):
    if len(fields) != len(columns):
        raise DataError(path, number, f'{len(fields)} costs', f'expected {len(columns)}, as many as the header')
    row = []
    for column, text in zip(columns, fields, strict=True):
        try:
            cost = float(text)
        except ValueError:
            cost = math.nan
        if not 0 <= cost < math.inf:
            raise DataError(path, number, f'cost {shown(text)}', 'expected a number from 0')
        if column == name and cost:
            raise DataError(path, number, f'predicting {shown(name)} where it is right costs {text}', 'expected 0')
        row.append(cost)
    return row
