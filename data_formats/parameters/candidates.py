"""Weights of the attributes of candidates, or of the words of pictures, 'feature' float64[F].

As text, a row `feature NAME -` for each attribute, which name all of them in their order."""

import numpy as np

from data_formats.errors import shown
from data_formats.parameters import numbers

VOCABULARIES = ('attributes',)
FEATURE, NONE = 'feature', '-'


def read(container, header, names, as_stored):
    return {FEATURE: numbers(container, FEATURE, (len(names['attributes']),))}


def stored(weights):
    return weights


def listed(model):
    return {}


def blocks(model):
    return [FEATURE]


def write_rows(model, tables, stream):
    for name, weight in zip(tables['attributes'], model.weights[FEATURE].tolist(), strict=True):
        stream.write(f'{FEATURE}\t{name}\t{NONE}\t{weight:.17g}\n')


def read_rows(rows, header, blocks):
    weights = {}
    for block, left, right, text in rows:
        if block != FEATURE or right != NONE:
            raise rows.error(f'row {shown(block)} {shown(left)} {shown(right)}', f'expected {FEATURE} NAME {NONE}')
        name = rows.name(left)
        if name in weights:
            raise rows.error(f'a second weight for {shown(name)}')
        weights[name] = rows.weight(text)
    return {'attributes': weights}, {FEATURE: np.array(list(weights.values()), np.float64)}
