"""Weights of attributes, labels, pairs and triplets of labels as rows of text.

Blocks: `state ATTRIBUTE LABEL`, `transition FROM TO`, `edge:ATTRIBUTE FROM TO`, `triple:FIRST SECOND THIRD`. Weights
that are zero are left out, except that each attribute has at least one row, so that the file names all of them in their
order; where only observed pairs have weights, each pair has its row, and a comment line `# attributes: [...]` names all
attributes if one is in no pair, as those of neighbours that no token has. With a kernel there are, instead of state
weights, rows `support ID LABEL` with the coefficients of a token and rows `vector ID ATTRIBUTE` with its values, and
that comment line always.
"""

import numpy as np

from cython_ext.text.vocabulary import Vocabulary, encoded
from data_formats.errors import shown
from data_formats.parsing.windows import check_names

EDGE, TRIPLE = 'edge:', 'triple:'
ATTRIBUTES = 'attributes'


def order_of(header):
    """How many labels before a label the parts of a model look at."""
    return (header.get('structure') or {}).get('order') or 1


def listed(model):
    if model.kernel is None and ('state' in model.weights or np.diff(model.weights['state.indptr']).all()):
        return {}  # the rows name them
    return {ATTRIBUTES: model.attributes.names()}


def blocks(model):
    return [block for block in ('transition', 'edge', 'triple') if block in model.weights]


def write_rows(model, tables, stream, spell):
    labels, attributes = tables['label_names'], tables['attributes']
    if model.kernel is not None:
        _write_support(stream, attributes, labels, model.weights)
    elif 'state' in model.weights:
        for name, row in zip(attributes, model.weights['state'], strict=True):
            _write_sparse(stream, f'state\t{name}', labels, row)
    else:
        _write_observed(stream, attributes, labels, model.weights)
    if 'transition' in model.weights:
        _write_square(stream, 'transition', labels, model.weights['transition'])
    for name, square in zip(tables['edge_attributes'], model.weights.get('edge', ()), strict=True):
        _write_square(stream, EDGE + name, labels, square)
    for name, square in zip(labels, model.weights.get('triple', ()), strict='triple' in model.weights):
        if square.any():
            _write_square(stream, TRIPLE + name, labels, square)


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


def read_rows(rows, header, blocks):
    return _Reader(rows, header).read(blocks)


class _Reader:
    def __init__(self, rows, header):
        self.rows = rows
        self.kernel = header.get('kernel') is not None
        self.observed = header['feature_set'] == 'observed'
        self.order, self.facts = order_of(header), header['data']
        self.attributes = None  # name -> place; None: those of the rows
        if self.kernel or (self.observed and ATTRIBUTES in header):
            self.attributes = rows.places(header.pop(ATTRIBUTES, None), 'attribute', ATTRIBUTES)

    def read(self, blocks):
        state, vectors, transition, edges, triples = self._read_weights()
        K = len(self.rows.labels)
        if self.kernel:
            weights = self._support(state, vectors, K)
        else:
            weights = self._observed(state) if self.observed else {'state': self._dense(state, K)}
        if 'transition' in blocks:
            weights['transition'] = self._square(transition, K)
        if 'edge' in blocks:
            weights['edge'] = np.array([self._square(pairs, K) for pairs in edges.values()]).reshape(-1, K, K)
        if 'triple' in blocks:
            weights['triple'] = np.zeros((K, K, K))
            for first, pairs in triples.items():
                weights['triple'][first] = self._square(pairs, K)
        elif self.order == 2:
            raise self.rows.error_of_file('no block of triplets', 'expected "triple" in the comment line `# blocks`')
        found = {'transition': transition, 'edge': edges, 'triple': triples}
        if any(rows and name not in blocks for name, rows in found.items()):
            raise self.rows.error_of_file('weights of a block that the comment line `# blocks` does not list')
        attributes = state if self.attributes is None else self.attributes
        names = (Vocabulary(encoded(name) for name in table) for table in (attributes, edges))
        check_names(*names, self.facts, self.rows.error_of_file)
        return {'label_names': self.rows.labels, 'attributes': attributes, 'edge_attributes': edges}, weights

    def _read_weights(self):
        """Dictionaries: attribute (of a kernel: support token) -> {label: weight}, support token -> {attribute: value},
        from label -> {to label: weight}, edge attribute -> the same, first label -> the same of the two after it."""
        rows = self.rows
        state, vectors, transition, edges, triples = {}, {}, {}, {}, {}
        listed = self.attributes is not None and not self.kernel
        if listed:
            state = {name: {} for name in self.attributes}
        own = 'support' if self.kernel else 'state'
        for block, left, right, text in rows:
            vector = block == 'vector' and self.kernel
            to = self._attribute(right) if vector else rows.label(right)
            weight = rows.weight(text)
            if vector:
                row = vectors.setdefault(left, {})
            elif block == own:
                if listed:
                    self._attribute(left)
                row = state.setdefault(rows.name(left), {})
            elif block == 'transition':
                row = transition.setdefault(rows.label(left), {})
            elif block.startswith(EDGE):
                row = edges.setdefault(rows.name(block.removeprefix(EDGE)), {}).setdefault(rows.label(left), {})
            elif block.startswith(TRIPLE):
                first = rows.label(block.removeprefix(TRIPLE))
                row = triples.setdefault(first, {}).setdefault(rows.label(left), {})
            else:
                known = f'{own}{", vector" * self.kernel}, transition, {EDGE}ATTRIBUTE or {TRIPLE}LABEL'
                raise rows.error(f'block {shown(block)}', f'expected {known}')
            if to in row:
                raise rows.error(f'a second weight for {shown(block)} {shown(left)} {shown(right)}')
            row[to] = weight
        return state, vectors, transition, edges, triples

    def _attribute(self, text):
        attribute = self.attributes.get(self.rows.name(text))
        if attribute is None:
            raise self.rows.error(f'attribute {shown(text)} is not among the attributes of the model')
        return attribute

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
            raise self.rows.error_of_file(f'vector {shown(lost)} has no line `support`')
        indptr, indices, values = _lists(vectors.get(name, {}) for name in rows)
        weights = {'support.indptr': indptr, 'support.indices': indices, 'support.weights': self._dense(rows, K)}
        return weights if (values == 1).all() else weights | {'support.values': values}

    def _square(self, rows, K):
        array = np.zeros((K, K))
        for k, row in rows.items():
            for label, weight in row.items():
                array[k, label] = weight
        return array


def _lists(rows):
    """(indptr int64, places int32 ascending, numbers float64) of some dictionaries place -> number."""
    rows = [sorted(row.items()) for row in rows]
    pairs = [pair for row in rows for pair in row]
    return (
        np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)]).astype(np.int64),
        np.array([place for place, _ in pairs], dtype=np.int32),
        np.array([number for _, number in pairs], dtype=np.float64),
    )
