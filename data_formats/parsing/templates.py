"""CRF++ feature templates: parsing, checking, and the built-in ones.

A line that begins with U makes a feature of every token, one that begins with B a feature of every transition (from
the second token on); a B line without macros is the plain transition. `%x[ROW,COLUMN]` stands for a cell, ROW
counted from the token, COLUMN from 0; beyond the sequence the cell reads `_B-1`, `_B-2`, ... or `_B+1`, `_B+2`, ...
The whole line is the feature's name, so lines need an id (`U01:`) to tell positions apart.

Three macros go beyond CRF++ (which refuses them) and take characters, not bytes: `%p[ROW,COLUMN,N]` and
`%s[ROW,COLUMN,N]` are the first and last N characters of a cell, `%w[ROW,COLUMN]` is its shape: `X` for upper-case
letters, `x` for lower-case ones, `d` for digits, anything else as it is, runs written once.
"""

import re
from dataclasses import dataclass
from itertools import groupby

from data_formats.errors import DataError, shown

MACRO = re.compile(
    r'%(?:x\[(?P<row>-?\d+),(?P<column>\d+)\]|(?P<kind>[psw])\[(?P<r>-?\d+),(?P<c>\d+)(?:,(?P<n>\d+))?\])', re.ASCII
)
FARTHEST = 100
LAST_COLUMN = 9999
LONGEST = 100
MOST_MACROS = 64  # of a line: every one makes a table of what it sees together with those before it
LONGEST_LINE = 4096  # characters
LARGEST_FILE = 1 << 20  # bytes


@dataclass(frozen=True)
class Macro:
    """A cell of the row `row` from the token, column `column`; kind x: as it is, p, s: `size` characters, w: shape."""

    row: int
    column: int
    kind: str = 'x'
    size: int = 0


@dataclass(frozen=True)
class Feature:
    """One template line: literal text (bytes) and macros in turn."""

    line: int
    transition: bool  # a B line
    pieces: tuple

    @property
    def macros(self):
        return [piece for piece in self.pieces if isinstance(piece, Macro)]


@dataclass(frozen=True)
class Template:
    """The features of tokens and of transitions, whether label pairs have a weight of their own, and the text."""

    text: str
    name: str
    states: tuple
    edges: tuple
    transitions: bool

    @property
    def width(self):
        """How many columns the macros need."""
        return max((macro.column + 1 for f in (*self.states, *self.edges) for macro in f.macros), default=0)

    def check_columns(self, count):
        """Raise a DataError if a macro asks for a column beyond the `count` before the label."""
        for feature in (*self.states, *self.edges):
            for macro in feature.macros:
                if macro.column >= count:
                    raise DataError(
                        self.name,
                        feature.line,
                        f'there is no column {macro.column}',
                        f'expected 0 to {count - 1}: the data have {count} before the label',
                    )


def parse(text, name='<template>'):
    """The Template that a text describes; DataError with the line that is wrong."""
    states, edges, transitions = [], [], None
    for number, line in enumerate(text.removeprefix('\ufeff').split('\n'), 1):
        line = line.rstrip(' \t\r')
        if not line or line.startswith('#'):
            continue
        feature = Feature(number, line.startswith('B'), _pieces(line, number, name))
        if not feature.transition:
            states.append(feature)
        elif feature.macros:
            edges.append(feature)
        elif transitions is None:
            transitions = number
        else:
            raise DataError(
                name, number, f'{shown(line)} is a second plain transition', f'line {transitions} has it already'
            )
    if not states and not edges and transitions is None:
        raise DataError(name, None, 'a template without features', 'expected lines that begin with U or B')
    return Template(text, name, tuple(states), tuple(edges), transitions is not None)


def _pieces(line, number, name):
    """Literal text and macros of a line, in turn."""
    if line[0] not in 'UB':
        hint = 'expected U (features of a token), B (of a transition) or # in the first column'
        raise DataError(name, number, f'template line {shown(line)} begins with neither U nor B', hint)
    if '\t' in line or '\0' in line:
        raise DataError(name, number, f'a TAB or NUL byte in template line {shown(line)}', 'expected none')
    if len(line) > LONGEST_LINE:
        expected = f'expected at most {LONGEST_LINE} characters'
        raise DataError(name, number, f'template line {shown(line)} has {len(line)} characters', expected)
    pieces, at = [], 0
    for match in MACRO.finditer(line):
        pieces += [_literal(line[at : match.start()], number, name), _macro(match, number, name)]
        at = match.end()
    pieces.append(_literal(line[at:], number, name))
    macros = len(pieces) // 2
    if macros > MOST_MACROS:
        raise DataError(
            name, number, f'{macros} macros in template line {shown(line)}', f'expected at most {MOST_MACROS}'
        )
    return tuple(piece for piece in pieces if piece)


def _macro(match, number, name):
    """A macro, its numbers checked."""
    kind = match['kind'] or 'x'
    row, column = _number(match['row'] or match['r']), _number(match['column'] or match['c'])
    size, text = _number(match['n']), match[0] if len(match[0]) <= 40 else match[0][:40] + '...'
    if abs(row) > FARTHEST:
        raise DataError(name, number, f'row {row} of {text}', f'expected -{FARTHEST} to {FARTHEST}')
    if column > LAST_COLUMN:
        raise DataError(name, number, f'column {column} of {text}', f'expected 0 to {LAST_COLUMN}')
    if (kind in 'ps') != (match['n'] is not None) or (kind in 'ps' and not 1 <= size <= LONGEST):
        form = '%w[ROW,COLUMN]' if kind == 'w' else f'%{kind}[ROW,COLUMN,N] with N from 1 to {LONGEST}'
        raise DataError(name, number, f'macro {text}', f'expected {form}')
    return Macro(row, column, kind, size)


def _number(digits):
    """A whole number, 0 where there is none; one with very many digits is far out of every range."""
    return int((digits or '0')[:10])


def _literal(text, number, name):
    """Text between macros: no percent sign, and no comment, which CRF++ would make part of the feature."""
    if '%' in text:
        macro = re.search(r'%[^%\]]*\]?', text)[0]
        hint = 'expected %x[ROW,COLUMN] with whole numbers, no blanks and no plus sign, like %x[-1,0]'
        raise DataError(name, number, f'{shown(macro)} is no macro', hint)
    if ' #' in text:
        raise DataError(
            name,
            number,
            f'{shown(text[text.index(" #") :])} behind a pattern',
            'expected comments on lines of their own',
        )
    return text.encode('utf-8', 'surrogateescape')


def derivation(macro):
    """None for a cell as it is, otherwise (kind, size, function from a cell (bytes) to what the macro stands for)."""
    kind, size = macro.kind, macro.size
    if kind == 'x':
        return None
    of = {'p': lambda text: text[:size], 's': lambda text: text[-size:], 'w': shape}[kind]
    return kind, size, lambda cell: of(cell.decode('utf-8', 'surrogateescape')).encode('utf-8', 'surrogateescape')


def shape(text):
    """The kinds of characters in a word, runs written once: `Mc-20b` is `Xx-dx`."""
    kinds = ('X' if c.isupper() else 'x' if c.islower() else 'd' if c.isdigit() else c for c in text)
    return ''.join(kind for kind, _ in groupby(kinds))


def builtin(columns):
    """The text of the template for files of so many columns, the label included.

    The first column is taken for the word, the second, if it is not the label, for its part of speech; every
    further one gets a window of three.
    """
    states = [f'%x[{row},0]' for row in range(-2, 3)]
    states += ['%x[-1,0]/%x[0,0]', '%x[0,0]/%x[1,0]']
    if columns == 2:
        states += [f'%p[0,0,{n}]' for n in range(1, 5)] + [f'%s[0,0,{n}]' for n in range(1, 5)]
        states += [f'%s[{row},0,{n}]' for row in (-1, 1) for n in (2, 3)]
        states += [f'%w[{row},0]' for row in (-1, 0, 1)] + ['%w[-1,0]/%w[0,0]', '%w[0,0]/%w[1,0]']
    if columns > 2:
        states += [f'%x[{row},1]' for row in range(-2, 3)]
        states += [f'%x[{row},1]/%x[{row + 1},1]' for row in range(-2, 2)]
        states += [f'%x[{row},1]/%x[{row + 1},1]/%x[{row + 2},1]' for row in range(-2, 1)]
        states += ['%p[0,0,3]', '%s[0,0,3]', '%w[-1,0]', '%w[0,0]', '%w[1,0]']
    for column in range(2, columns - 1):
        states += [f'%x[{row},{column}]' for row in (-1, 0, 1)]
        states += [f'%x[-1,{column}]/%x[0,{column}]', f'%x[0,{column}]/%x[1,{column}]']
    width = len(str(len(states) - 1))
    return ''.join(f'U{i:0{width}d}:{state}\n' for i, state in enumerate(states)) + 'B\n'
