"""CRF++ templates in plain Python, one feature string at a time: the truth that the fast expansion is checked against.

It shares no code with the package. `features(rows, template)` gives, for each token, the strings of U lines and of
B lines that have macros.
"""

import itertools


def macro(text):
    """(kind, row, column, size, rest of the text) of a macro at the beginning of a text, or None."""
    kind = text[1:2]
    if not text.startswith('%') or kind not in ('x', 'p', 's', 'w') or text[2:3] != '[' or ']' not in text:
        return None
    inside, rest = text[3:].split(']', 1)
    row, column, *size = (int(number) for number in inside.split(','))
    return kind, row, column, (size or [0])[0], rest


def cell(rows, t, row, column):
    """A cell and whether it is a real one."""
    at = t + row
    if at < 0:
        return f'_B-{-at}', False
    if at >= len(rows):
        return f'_B+{at - len(rows) + 1}', False
    return rows[at][column], True


def kinds(word):
    """The shape of a word."""
    out = []
    for c in word:
        kind = 'X' if c.isupper() else 'x' if c.islower() else 'd' if c.isdigit() else c
        out.append(kind)
    return ''.join(key for key, _ in itertools.groupby(out))


def string(line, rows, t):
    """The feature string of a template line for token t."""
    out = ''
    while line:
        found = macro(line)
        if found is None:
            out, line = out + line[0], line[1:]
            continue
        kind, row, column, size, line = found
        text, real = cell(rows, t, row, column)
        if real and kind == 'p':
            text = text[:size]
        elif real and kind == 's':
            text = text[-size:]
        elif real and kind == 'w':
            text = kinds(text)
        out += text
    return out


def lines_of(template):
    """The lines of a template that make features."""
    lines = (line.rstrip(' \r') for line in template.split('\n'))
    return [line for line in lines if line and not line.startswith('#')]


def features(rows, template):
    """For each token (strings of the U lines, strings of the B lines with macros; none for the first token)."""
    lines = lines_of(template)
    states = [line for line in lines if line[0] == 'U']
    edges = [line for line in lines if line[0] == 'B' and '%' in line]
    return [
        ([string(line, rows, t) for line in states], [string(line, rows, t) for line in edges] if t else [])
        for t in range(len(rows))
    ]
