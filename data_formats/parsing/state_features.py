"""Features of graphs that have a value for each state, and one weight:

{"per_state": {"x": [0.5, 2]}, ...}                            of a node: a value for each of its states,
{"per_state": {"x": {"b": 2}}, ...}                            the same by their names, where the others are 0,
{"nodes": [0, 1], "per_state": {"x": [[1, 0], [0, 3]]}}        of a factor: for each joint state,
{"nodes": [0, 1], "per_state": {"x": 1}}                       that where all states are the same, else 0 (Potts)
"""

import numpy as np

from cython_ext.structures.graph.layout import StateRows
from cython_ext.text.errors import shown
from data_formats.datasets.tokens import indptr_of

MEMBER = 'per_state'


class StateFeatures:
    """StateRows under construction."""

    def __init__(self):
        self.counts, self.entries = [], []

    def push(self, parser, owner, who, names):
        """The row of a node or factor. names: those of the states of each of its nodes, or of its buckets."""
        found, sizes = [], [len(each) for each in names]
        for name, value in self.given(parser, owner, who).items():
            what = f'feature {shown(name)} of {who}'
            if isinstance(value, list) or (isinstance(value, dict) and len(names) == 1):
                values = flat(parser, value, names, what)
            elif len(names) > 1:
                values = same(value, names, parser, what)
            else:
                parser.fail(f'{what} is {parser.told(value)}', f'expected {shape(sizes)}')
            numbers = [x if type(x) is float else parser.whole(x, name, who) for x in values]
            attribute = parser.attribute(name, who) if any(numbers) else -1
            if attribute >= 0:
                found += [(state, attribute, x) for state, x in enumerate(numbers) if x]
        self.counts.append(len(found))
        self.entries += sorted(found)

    def given(self, parser, owner, who):
        """The object of a node or factor that has them by name."""
        found = owner.get(MEMBER)
        if found is not None:
            parser.check_object(found, f'{MEMBER} of {who}', 'expected {NAME: [NUMBER, ...], ...}')
        return found or {}

    def take(self):
        """The StateRows."""
        columns = list(zip(*self.entries, strict=True)) or [(), (), ()]
        states, attributes = (np.array(column, np.int32) for column in columns[:2])
        return StateRows(indptr_of(self.counts), attributes, states, np.array(columns[2], np.float64))


def shape(sizes):
    """What a table of these sizes is, for a message."""
    return ' lists of '.join([*map(str, sizes[:-1]), number_of('number', sizes[-1])]) + ', one for each state'


def number_of(what, count):
    return f'{count} {what}{"s" * (count != 1)}'


def flat(parser, table, names, what):
    """The values of nested lists, or of objects by names of the last node's states, which changes fastest."""
    rows, sizes = [table], [len(each) for each in names]
    for k, size in enumerate(sizes):
        if k == len(sizes) - 1:
            rows = [by_name(parser, row, names[k], what) if isinstance(row, dict) else row for row in rows]
        for row in rows:
            if not isinstance(row, list) or len(row) != size:
                has = number_of('value', len(row)) if isinstance(row, list) else f'{parser.told(row)} for a list'
                parser.fail(f'{what} has {has}', f'expected {shape(sizes[k:])}')
        rows = [value for row in rows for value in row]
    return rows


def by_name(parser, values, names, what):
    """The list that an object {STATE: NUMBER, ...} is, where those that it leaves out are 0."""
    names = [str(name) for name in names]
    unknown = next((name for name in values if name not in names), None)
    if unknown is not None:
        parser.fail(f'{what} has a value for {shown(unknown)}', f'expected one of {", ".join(names[:10])}')
    return [values.get(name, 0) for name in names]


def same(value, names, parser, what):
    """A value where all nodes have the same state, else 0."""
    if any(each != names[0] for each in names):
        expected = f'expected {shape([len(each) for each in names])}'
        parser.fail(f'{what} is {parser.told(value)}, and its nodes have different states', expected)
    values = np.zeros([len(each) for each in names], object)
    for state in range(len(names[0])):
        values[(state,) * len(names)] = value
    return values.ravel().tolist()


def written(entries, names):
    """The JSON value of a feature. entries: (joint state, value); names: as of push."""
    sizes = [len(each) for each in names]
    table = np.zeros(sizes)
    for state, value in entries:
        table.flat[state] = value
    if len(names) > 1 and all(each == names[0] for each in names):
        value = float(table.flat[0])
        if value and np.array_equal(table, np.reshape(same(value, names, None, None), sizes)):
            return value
    return table.tolist()


def of_pairs(factor, count, parser, who):
    """Those of each of so many pairs of a global factor, which has them for all pairs or a list with one for each."""
    found = factor.get(MEMBER)
    if not isinstance(found, list):
        return [found] * count
    if len(found) != count:
        pairs = number_of('pair', count)
        parser.fail(f'{MEMBER} of {who} is a list of {len(found)} for {pairs}', 'expected one for each')
    return found
