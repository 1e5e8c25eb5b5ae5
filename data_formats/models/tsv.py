"""A model as text: tab-separated `block, left, right, weight`, and back.

Comment lines `# KEY: JSON` come first and hold the header of the model; then the line of column names; then the weights
with 17 digits, which is exact; data_formats.parameters has the blocks of each task. The dual point stays behind.

The last row is `end - - 0`. It tells a whole file from one that was cut off, and stays right when weights are changed,
added or deleted. It has four fields like the others, so that who reads the rows by block need not know of it.

Names stand as they are. Only where one holds a TAB, a line break or a NUL are all written with backslash escapes; a
comment line `# escaped: true` then says so.
"""

import io
import json
import math

import numpy as np

from cython_ext.text.boundaries import after_line
from cython_ext.text.vocabulary import Vocabulary
from data_formats.errors import DataError, shown
from data_formats.files.atomic import atomic_output
from data_formats.files.container import parse_json
from data_formats.files.source import Source
from data_formats.models.header import check_header
from data_formats.models.model import MATRICES, SCALE, Model
from data_formats.parameters import parameters_of

COLUMNS = ('block', 'left', 'right', 'weight')
START = b'# format: "ssvm-model"'
END = 'end\t-\t-\t0'
ESCAPES = {'\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r', '\0': '\\0'}
SPECIAL = set(ESCAPES) - {'\\'}  # what no field may hold
# Keys of comment lines that are no part of the header.
LABELS, BLOCKS, ESCAPED = 'labels', 'blocks', 'escaped'


def is_model_tsv(head):
    """Whether the first bytes of a file are those of a model as text."""
    return head.startswith(START)


def write_model_tsv(model, path):
    """Write a model as text ('-' is standard output)."""
    with atomic_output(path) as binary:
        stream = io.TextIOWrapper(binary, encoding='utf-8', errors='surrogateescape', newline='\n', write_through=False)
        try:
            _write(model, stream)
            stream.flush()
        finally:
            stream.detach()


def _write(model, stream):
    parameters = parameters_of(model.header)
    tables = {name: getattr(model, name).names() for name in parameters.VOCABULARIES}
    escaped = any(not SPECIAL.isdisjoint(name) for table in tables.values() for name in table)
    facts = dict(model.header)
    if 'label_names' in tables:
        facts[LABELS] = tables['label_names']
    facts |= parameters.listed(model)
    for name in MATRICES:
        if getattr(model, name) is not None:
            facts[name] = getattr(model, name).tolist()
    facts[BLOCKS] = parameters.blocks(model)
    if escaped:
        facts[ESCAPED] = True
    spell = _escape if escaped else str
    tables = {name: [spell(text) for text in table] for name, table in tables.items()}
    for key, value in facts.items():
        stream.write(f'# {key}: {json.dumps(value, ensure_ascii=False, allow_nan=False)}\n')
    stream.write('\t'.join(COLUMNS) + '\n')
    parameters.write_rows(model, tables, stream, spell)
    if model.scale is not None:
        for name, divisor in zip(tables['attributes'], model.scale.tolist(), strict=True):
            stream.write(f'{SCALE}\t{name}\t-\t{divisor:.17g}\n')
    stream.write(END + '\n')


def read_model_tsv(source):
    """Read a model written by write_model_tsv, perhaps changed by hand.

    Args:
        source: a Source or the path of one.

    Raises:
        DataError: FILE:LINE of what is malformed.
    """
    with Source.of(source) as source:
        rows = Rows(source)
        header = rows.read_header()
        labels = header.pop(LABELS, None)
        matrices = {name: header.pop(name) for name in MATRICES if name in header}
        blocks = header.pop(BLOCKS, None)
        rows.escaped = header.pop(ESCAPED, False)
        check_header(header, matrices, rows.error_of_file)
        parameters = parameters_of(header)
        if 'label_names' in parameters.VOCABULARIES:
            rows.labels = rows.places(labels, 'label', LABELS)
            if not labels:
                raise rows.error_of_file('no label names')
        if not isinstance(blocks, list):
            raise rows.error_of_file('no blocks', f'expected a comment line `# {BLOCKS}: [...]`')
        rows.scale = None if header['data'].get(SCALE) is None else {}
        tables, weights = parameters.read_rows(rows, header, blocks)
        names = {name: Vocabulary(_encode(text) for text in table) for name, table in tables.items()}
        matrices = {name: _matrix(rows, name, matrix) for name, matrix in matrices.items()}
        scale = None if rows.scale is None else rows.scale_of(tables.get('attributes', ()))
        return Model(header, **names, weights=weights, **matrices, scale=scale)


class Rows:
    """The lines of a model as text: first the header, then an iterator over (block, left, right, weight) as they stand.

    Attributes:
        labels: name -> place of the labels.
        escaped: whether names are.
        scale: attribute -> what its values are divided by, as far as rows have been read; None: there are no such rows.
    """

    def __init__(self, source):
        self.path = source.name
        self.lines = _lines(source)
        self.number = 0
        self.labels, self.escaped, self.scale = {}, False, None

    def error(self, what, expected=None):
        """A DataError about the line that was read last."""
        return DataError(self.path, self.number, what, expected)

    def error_of_file(self, what, expected=None):
        return DataError(self.path, None, what, expected)

    def places(self, names, what, key):
        """The place of each name in the list of a comment line."""
        if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise self.error_of_file(f'no {what} names', f'expected a comment line `# {key}: [...]`')
        if len(set(names)) < len(names):
            raise self.error_of_file(f'two {what}s have the same name')
        return {name: k for k, name in enumerate(names)}

    def read_header(self):
        header = {}
        for number, line in self.lines:
            self.number = number
            line = line.rstrip('\r\n')
            if not line.startswith('#'):
                if tuple(line.split('\t')) != COLUMNS:
                    raise self.error(f'{shown(line)} after the comment lines', 'expected block, left, right, weight')
                return header
            key, colon, text = line[1:].strip().partition(':')
            if not colon:
                continue  # somebody's own comment
            if key in header:
                raise self.error(f'{shown(key)} stands here twice')
            try:
                header[key] = parse_json(text)
            except (ValueError, RecursionError):
                raise self.error(f'{key}: {shown(text.strip())} is no JSON') from None
        raise self.error('the file ends before the weights', 'expected the line block, left, right, weight')

    def __iter__(self):
        """The rows of weights, up to the end mark, which must be the last row of the file."""
        for number, line in self.lines:
            self.number = number
            line = line.rstrip('\r\n')
            if line == END:
                break
            fields = line.split('\t')
            if len(fields) != 4:
                raise self.error(f'{len(fields)} fields', 'expected block, left, right, weight, parted by TABs')
            if self.scale is not None and fields[0] == SCALE:
                self._take_scale(*fields[1:])
            else:
                yield fields
        else:
            raise self.error('ends early', f'expected the row {shown(END)} behind the weights')
        for number, line in self.lines:
            self.number = number
            if line.strip():
                raise self.error(f'{shown(line)} behind the end', f'expected the row {shown(END)} to be the last')

    def _take_scale(self, left, right, text):
        divisor = self.weight(text)
        if right != '-' or divisor <= 0:
            row = f'row {SCALE} {shown(left)} {shown(right)} {shown(text)}'
            raise self.error(row, f'expected {SCALE} NAME - and a number above 0')
        if self.name(left) in self.scale:
            raise self.error(f'a second {SCALE} of {shown(left)}')
        self.scale[self.name(left)] = divisor

    def scale_of(self, attributes):
        """float64 [attributes]; rows of what is no attribute (any more) do nothing."""
        lost = next((name for name in attributes if name not in self.scale), None)
        if lost is not None:
            raise self.error_of_file(f'no row `{SCALE}` of the attribute {shown(lost)}')
        return np.array([self.scale[name] for name in attributes], np.float64)

    def label(self, text):
        """The place of a label."""
        label = self.labels.get(self.name(text))
        if label is None:
            raise self.error(f'label {shown(text)} is not among the labels of the model')
        return label

    def name(self, text):
        """A name without escapes."""
        return _unescape(text) if self.escaped else text

    def weight(self, text):
        try:
            weight = float(text)
        except ValueError:
            weight = math.nan
        if not math.isfinite(weight):
            raise self.error(f'weight {shown(text)}', 'expected a finite number')
        return weight


def _lines(source):
    """(number, text) of each line."""
    for block, start in source.blocks(after_line):
        lines = block.decode('utf-8', 'surrogateescape').split('\n')[:-1]
        yield from enumerate(lines, start)


def _matrix(rows, name, values):
    """A matrix over the labels."""
    K = len(rows.labels)
    try:
        matrix = np.array(values, dtype=np.float64)
    except (ValueError, TypeError):
        matrix = np.zeros(0)
    if matrix.shape != (K, K) or not np.isfinite(matrix).all():
        raise rows.error_of_file(f'{name} is no matrix of {K} x {K} numbers')
    return matrix


def _encode(name):
    return name.encode('utf-8', 'surrogateescape')


def _escape(name):
    return ''.join(ESCAPES.get(c, c) for c in name)


def _unescape(text):
    """The inverse of _escape; a backslash before anything else stays."""
    back = {v: k for k, v in ESCAPES.items()}
    out, k = [], 0
    while k < len(text):
        pair = text[k : k + 2]
        out.append(back.get(pair, text[k]))
        k += 2 if pair in back else 1
    return ''.join(out)
