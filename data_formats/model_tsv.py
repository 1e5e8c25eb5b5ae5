"""A model as text: tab-separated `block, left, right, weight`, and back.

Comment lines `# KEY: JSON` come first and hold the header of the model; then the line of column names; then the weights
with 17 digits, which is exact. Blocks: `state ATTRIBUTE LABEL`, `transition FROM TO`, `edge:ATTRIBUTE FROM TO`,
`triple:FIRST SECOND THIRD`. Weights that are zero are left out, except that each attribute has at least one row, so
that the file names all of them in their order; where only observed pairs have weights, each pair has its row. With a
kernel there are, instead of state weights, rows `support ID LABEL` with the coefficients of a token and rows `vector ID
ATTRIBUTE` with its values, and a comment line `# attributes: [...]` names all attributes. The dual point stays behind.

The last row is `end - - 0`. It tells a whole file from one that was cut off, and stays right when weights are changed,
added or deleted. It has four fields like the others, so that who reads the rows by block need not know of it.

Names stand as they are. Only where one holds a TAB, a line break or a NUL are all written with backslash escapes; a
comment line `# escaped: true` then says so.
"""

import io
import json
import math

import numpy as np

from cython_ext.text.cuts import after_line
from cython_ext.text.vocabulary import Vocabulary
from data_formats.atomic import atomic_output
from data_formats.container import parse_json
from data_formats.errors import DataError, shown
from data_formats.model import MATRICES, Model
from data_formats.model_header import check_header
from data_formats.source import Source
from data_formats.windows import check_names

COLUMNS = ('block', 'left', 'right', 'weight')
START = b'# format: "ssvm-model"'
EDGE, TRIPLE = 'edge:', 'triple:'
END = 'end\t-\t-\t0'
ESCAPES = {'\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r', '\0': '\\0'}
SPECIAL = set(ESCAPES) - {'\\'}  # what no field may hold
# Keys of comment lines that are no part of the header.
LABELS, ATTRIBUTES, BLOCKS, ESCAPED = 'labels', 'attributes', 'blocks', 'escaped'


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
    tables = [names.names() for names in (model.label_names, model.attributes, model.edge_attributes)]
    escaped = any(not SPECIAL.isdisjoint(name) for table in tables for name in table)
    facts = dict(model.header)
    facts[LABELS] = tables[0]
    if model.kernel is not None:
        facts[ATTRIBUTES] = tables[1]
    for name in MATRICES:
        if getattr(model, name) is not None:
            facts[name] = getattr(model, name).tolist()
    facts[BLOCKS] = [block for block in ('transition', 'edge', 'triple') if block in model.weights]
    if escaped:
        facts[ESCAPED] = True
        tables = [[_escape(name) for name in table] for table in tables]
    for key, value in facts.items():
        stream.write(f'# {key}: {json.dumps(value, ensure_ascii=False, allow_nan=False)}\n')
    stream.write('\t'.join(COLUMNS) + '\n')
    _write_rows(model, tables, stream)


def _write_rows(model, tables, stream):
    """The rows of all weights."""
    labels, attributes, edge_attributes = tables
    if model.kernel is not None:
        _write_support(stream, attributes, labels, model.weights)
    elif 'state' in model.weights:
        for name, row in zip(attributes, model.weights['state'], strict=True):
            _write_sparse(stream, f'state\t{name}', labels, row)
    else:
        _write_observed(stream, attributes, labels, model.weights)
    if 'transition' in model.weights:
        _write_square(stream, 'transition', labels, model.weights['transition'])
    for name, square in zip(edge_attributes, model.weights.get('edge', ()), strict=True):
        _write_square(stream, EDGE + name, labels, square)
    for name, square in zip(labels, model.weights.get('triple', ()), strict='triple' in model.weights):
        if square.any():
            _write_square(stream, TRIPLE + name, labels, square)
    stream.write(END + '\n')


def _write_sparse(stream, start, labels, row):
    """The weights of a row that are not zero; the first one if all are."""
    places = np.flatnonzero(row)
    for k in places.tolist() or [0]:
        stream.write(f'{start}\t{labels[k]}\t{row[k]:.17g}\n')


def _write_square(stream, block, labels, square):
    rows = [k for k in range(len(labels)) if square[k].any()] or [0]
    for k in rows:
        _write_sparse(stream, f'{block}\t{labels[k]}', labels, square[k])


def _write_observed(stream, attributes, labels, weights):
    indptr, places, values = (weights[f'state.{part}'].tolist() for part in ('indptr', 'labels', 'weights'))
    for k, name in enumerate(attributes):
        for place in range(indptr[k], indptr[k + 1]):
            stream.write(f'state\t{name}\t{labels[places[place]]}\t{values[place]:.17g}\n')


def _write_support(stream, attributes, labels, weights):
    indptr, indices = weights['support.indptr'].tolist(), weights['support.indices'].tolist()
    values = weights.get('support.values', np.ones(len(indices)))
    for k, row in enumerate(weights['support.weights']):
        _write_sparse(stream, f'support\t{k + 1}', labels, row)
        for place in range(indptr[k], indptr[k + 1]):
            stream.write(f'vector\t{k + 1}\t{attributes[indices[place]]}\t{values[place]:.17g}\n')


def read_model_tsv(source):
    """Read a model written by write_model_tsv, perhaps changed by hand.

    Args:
        source: a Source or the path of one.

    Raises:
        DataError: FILE:LINE of what is malformed.
    """
    with Source.of(source) as source:
        return _Reader(source).read()


def _lines(source):
    """(number, text) of each line."""
    for block, start in source.blocks(after_line):
        lines = block.decode('utf-8', 'surrogateescape').split('\n')[:-1]
        yield from enumerate(lines, start)


class _Reader:
    def __init__(self, source):
        self.path = source.name
        self.lines = _lines(source)
        self.number = 0

    def error(self, what, expected=None):
        return DataError(self.path, self.number, what, expected)

    def read(self):
        header = self._read_header()
        labels = header.pop(LABELS, None)
        matrices = {name: header.pop(name) for name in MATRICES if name in header}
        blocks = header.pop(BLOCKS, None)
        self.escaped = header.pop(ESCAPED, False)
        whole = lambda what, expected=None: DataError(self.path, None, what, expected)  # noqa: E731
        check_header(header, matrices, whole)
        self.labels = self._places(labels, 'label', LABELS)
        if not labels:
            raise whole('no label names')
        self.kernel = header.get('kernel') is not None
        if self.kernel:
            self.attributes = self._places(header.pop(ATTRIBUTES, None), 'attribute', ATTRIBUTES)
        state, vectors, transition, edges, triples = self._read_weights()
        K = len(labels)
        if self.kernel:
            weights = self._support(state, vectors, K)
        else:
            weights = self._observed(state) if header['feature_set'] == 'observed' else {'state': self._dense(state, K)}
        if not isinstance(blocks, list):
            raise whole('no blocks', f'expected a comment line `# {BLOCKS}: [...]`')
        if 'transition' in blocks:
            weights['transition'] = self._square(transition, K)
        if 'edge' in blocks:
            weights['edge'] = np.array([self._square(pairs, K) for pairs in edges.values()]).reshape(-1, K, K)
        if 'triple' in blocks:
            weights['triple'] = np.zeros((K, K, K))
            for first, pairs in triples.items():
                weights['triple'][first] = self._square(pairs, K)
        if header.get('order') == 2 and 'triple' not in blocks:
            raise whole('no block of triplets', f'expected "triple" in the comment line `# {BLOCKS}`')
        found = {'transition': transition, 'edge': edges, 'triple': triples}
        if any(rows and name not in blocks for name, rows in found.items()):
            raise whole(f'weights of a block that the comment line `# {BLOCKS}` does not list')
        attributes = self.attributes if self.kernel else state
        names = [Vocabulary(_encode(name) for name in table) for table in (labels, attributes, edges)]
        check_names(*names[1:], header['data'], whole)
        matrices = {name: self._matrix(name, rows, K) for name, rows in matrices.items()}
        return Model(header, *names, weights, **matrices)

    def _places(self, names, what, key):
        """The place of each name in the list of a comment line."""
        if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise DataError(self.path, None, f'no {what} names', f'expected a comment line `# {key}: [...]`')
        if len(set(names)) < len(names):
            raise DataError(self.path, None, f'two {what}s have the same name')
        return {name: k for k, name in enumerate(names)}

    def _read_header(self):
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

    def _read_weights(self):
        """Dictionaries: attribute (of a kernel: support token) -> {label: weight}, support token -> {attribute: value},
        from label -> {to label: weight}, edge attribute -> the same, first label -> the same of the two after it."""
        state, vectors, transition, edges, triples = {}, {}, {}, {}, {}
        own = 'support' if self.kernel else 'state'
        for line in self._rows():
            fields = line.split('\t')
            if len(fields) != 4:
                raise self.error(f'{len(fields)} fields', 'expected block, left, right, weight, parted by TABs')
            block, left, right, text = fields
            vector = block == 'vector' and self.kernel
            to = self._attribute(right) if vector else self._label(right)
            weight = self._weight(text)
            if vector:
                row = vectors.setdefault(left, {})
            elif block == own:
                row = state.setdefault(self._name(left), {})
            elif block == 'transition':
                row = transition.setdefault(self._label(left), {})
            elif block.startswith(EDGE):
                row = edges.setdefault(self._name(block.removeprefix(EDGE)), {}).setdefault(self._label(left), {})
            elif block.startswith(TRIPLE):
                first = self._label(block.removeprefix(TRIPLE))
                row = triples.setdefault(first, {}).setdefault(self._label(left), {})
            else:
                known = f'{own}{", vector" * self.kernel}, transition, {EDGE}ATTRIBUTE or {TRIPLE}LABEL'
                raise self.error(f'block {shown(block)}', f'expected {known}')
            if to in row:
                raise self.error(f'a second weight for {shown(block)} {shown(left)} {shown(right)}')
            row[to] = weight
        return state, vectors, transition, edges, triples

    def _rows(self):
        """The rows of weights, up to the end mark, which must be the last row of the file."""
        for number, line in self.lines:
            self.number = number
            line = line.rstrip('\r\n')
            if line == END:
                break
            yield line
        else:
            raise self.error('ends early', f'expected the row {shown(END)} behind the weights')
        for number, line in self.lines:
            self.number = number
            if line.strip():
                raise self.error(f'{shown(line)} behind the end', f'expected the row {shown(END)} to be the last')

    def _attribute(self, text):
        attribute = self.attributes.get(self._name(text))
        if attribute is None:
            raise self.error(f'attribute {shown(text)} is not among the attributes of the model')
        return attribute

    def _label(self, text):
        label = self.labels.get(self._name(text))
        if label is None:
            raise self.error(f'label {shown(text)} is not among the labels of the model')
        return label

    def _name(self, text):
        return _unescape(text) if self.escaped else text

    def _weight(self, text):
        try:
            weight = float(text)
        except ValueError:
            weight = math.nan
        if not math.isfinite(weight):
            raise self.error(f'weight {shown(text)}', 'expected a finite number')
        return weight

    def _dense(self, rows, K):
        array = np.zeros((len(rows), K))
        for k, row in enumerate(rows.values()):
            for label, weight in row.items():
                array[k, label] = weight
        return array

    def _observed(self, rows):
        return dict(zip(('state.indptr', 'state.labels', 'state.weights'), _lists(rows.values()), strict=True))

    def _support(self, rows, vectors, K):
        lost = next((name for name in vectors if name not in rows), None)
        if lost is not None:
            raise DataError(self.path, None, f'vector {shown(lost)} has no line `support`')
        indptr, indices, values = _lists(vectors.get(name, {}) for name in rows)
        weights = {'support.indptr': indptr, 'support.indices': indices, 'support.weights': self._dense(rows, K)}
        return weights if (values == 1).all() else weights | {'support.values': values}

    def _square(self, rows, K):
        array = np.zeros((K, K))
        for k, row in rows.items():
            for label, weight in row.items():
                array[k, label] = weight
        return array

    def _matrix(self, name, rows, K):
        try:
            matrix = np.array(rows, dtype=np.float64)
        except (ValueError, TypeError):
            matrix = np.zeros(0)
        if matrix.shape != (K, K) or not np.isfinite(matrix).all():
            raise DataError(self.path, None, f'{name} is no matrix of {K} x {K} numbers')
        return matrix


def _lists(rows):
    """(indptr int64, places int32 ascending, numbers float64) of some dictionaries place -> number."""
    rows = [sorted(row.items()) for row in rows]
    pairs = [pair for row in rows for pair in row]
    return (
        np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)]).astype(np.int64),
        np.array([place for place, _ in pairs], dtype=np.int32),
        np.array([number for _, number in pairs], dtype=np.float64),
    )


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
