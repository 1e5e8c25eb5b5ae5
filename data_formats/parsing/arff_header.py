"""The header of ARFF files: `@relation NAME`, `@attribute NAME TYPE` for each attribute, `@data`."""

import re
from typing import NamedTuple

from cython_ext.text.errors import TextError, shown
from cython_ext.text.formats.arff import unescaped

DECLARATION = re.compile(rb'@(\w+)')
QUOTED = rb"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
NAME = re.compile(QUOTED + rb"""|[^\s{'"%][^\s{]*""")
# a value of {...} with the comma behind it, if there is one
VALUE = re.compile(rb"""(?:\s*(%s)\s*|([^,}'"]+))(,|(?=\}))""" % QUOTED)
CLOSED = re.compile(rb'\}(\s+%.*|\s*)')
MEKA = re.compile(rb'(?:^|\s)-[cC]\s+(-?\d{1,9})(?!\S)')
NUMBERS = (b'numeric', b'real', b'integer')
TEXTS = (b'string', b'date')
DECLARATIONS = 'expected @relation, @attribute NAME TYPE or @data'


class Attribute(NamedTuple):
    """One attribute: its name, its kind as in text.formats.arff, its values (bytes) if it is nominal, or None."""

    name: bytes
    kind: str
    values: list | None
    line: int


class Header(NamedTuple):
    """A header, as far as it has been read."""

    relation: bytes = b''
    attributes: tuple = ()
    complete: bool = False  # whether @data has come

    def first_labels(self):
        """How many labels the relation says there are, as MEKA has it (negative: they are the last attributes), or
        None."""
        found = MEKA.search(self.relation)
        return None if found is None else int(found[1])


def read_header(text, line, carried=None):
    """Go on with a header.

    Args:
        text: whole lines (bytes); line: the number of the first one.
        carried: the Header so far, None at the beginning of a file.

    Returns:
        (Header, what of the text is behind it or None where it is not complete yet, the number of its first line).

    Raises:
        TextError: a line that is no declaration.
    """
    header = carried or Header()
    if header.complete:
        return header, text, line
    relation, attributes, names = header.relation, list(header.attributes), {a.name for a in header.attributes}
    at = 0
    while at < len(text):
        end = text.index(b'\n', at) + 1
        row, number = text[at:end].strip(), line
        at, line = end, line + 1
        if not row or row.startswith(b'%'):
            continue
        word = DECLARATION.match(row)
        kind, rest = (word[1].lower(), row[word.end() :].strip()) if word else (b'', b'')
        if kind == b'data' and attributes:
            return Header(relation, tuple(attributes), True), text[at:], line
        if kind == b'relation':
            quoted = re.match(QUOTED, rest)
            relation = plain(quoted[0]) if quoted else rest
        elif kind == b'attribute':
            attribute = attribute_of(rest, number)
            if attribute.name in names:
                raise TextError(number, f'attribute {shown(attribute.name)} twice', 'expected different names')
            names.add(attribute.name)
            attributes.append(attribute)
        else:
            what = '@data before any attribute' if kind == b'data' else shown(row)
            raise TextError(number, what, DECLARATIONS)
    return Header(relation, tuple(attributes)), None, line


def carry(text, line, carried):
    """The header that the part behind this one needs; what is wrong in it is left to the parser of this one."""
    try:
        return read_header(text, line, carried)[0]
    except TextError:
        return carried


def name_of(text, line):
    """(the name that a text begins with, what is behind it). TextError if there is none."""
    found = NAME.match(text)
    if found is None:
        what = f'{shown(text)} where a name should be' if text else 'no name'
        raise TextError(line, what, 'expected @attribute NAME TYPE')
    return plain(found[0]), text[found.end() :].strip()


def plain(word):
    """A word without its quotes."""
    return unescaped(word[1:-1]) if word[:1] in (b"'", b'"') else word


def attribute_of(text, line):
    """The Attribute that `NAME TYPE` declares."""
    name, kind = name_of(text, line)
    if kind.startswith(b'{'):
        return Attribute(name, 'nominal', values_of(kind, name, line), line)
    word = kind.split()[0].lower() if kind else b''
    if word not in NUMBERS + TEXTS:
        what = f'attribute {shown(name)} has {"the type " + shown(word) if word else "no type"}'
        raise TextError(line, what, 'expected numeric, real, integer, string, date or {VALUE, VALUE, ...}')
    return Attribute(name, 'text' if word in TEXTS else 'number', None, line)


def values_of(text, name, line):
    """The values (bytes) of `{VALUE, VALUE, ...}`."""
    values, at = [], 1
    while (found := VALUE.match(text, at)) is not None:
        values.append(plain(found[1] or found[2].strip()))
        at = found.end()
    # behind the last comma there is a value, and nothing behind the bracket
    if text[at - 1 : at] in (b',', b'{') or not CLOSED.fullmatch(text, at) or b'' in values:
        raise TextError(line, f'values {shown(text)} of attribute {shown(name)}', 'expected {VALUE, VALUE, ...}')
    if len(set(values)) < len(values):
        twice = next(value for k, value in enumerate(values) if value in values[:k])
        raise TextError(line, f'value {shown(twice)} of attribute {shown(name)} twice', 'expected different values')
    return values
