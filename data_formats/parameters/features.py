"""One weight for each attribute, 'feature' float64[F]: of links, of candidates, or of the words of pictures.

As text, a row `feature NAME -` for each attribute. One that is deleted is an attribute less.
"""

import numpy as np

from data_formats.errors import shown
from data_formats.parameters import numbers

VOCABULARIES = ('attributes',)
BLOCK, NONE = 'feature', '-'


def read(container, header, names, as_stored):
    return {BLOCK: numbers(container, BLOCK, (len(names['attributes']),))}


def stored(weights):
    return weights


def listed(model):
    return {}


def blocks(model):
    return [BLOCK]


def write_rows(model, tables, stream, spell):
    for name, weight in zip(tables['attributes'], model.weights[BLOCK].tolist(), strict=True):
        stream.write(f'{BLOCK}\t{name}\t{NONE}\t{weight:.17g}\n')


def read_rows(rows, header, blocks):
    weights = {}
    for block, left, right, text in rows:
        if (block, right) != (BLOCK, NONE):
            raise rows.error(f'row {shown(block)} {shown(left)} {shown(right)}', f'expected {BLOCK} NAME {NONE}')
        name = rows.name(left)
        if name in weights:
            raise rows.error(f'a second weight for {shown(block)} {shown(left)}')
        weights[name] = rows.weight(text)
    return {'attributes': list(weights)}, {BLOCK: np.array(list(weights.values()), np.float64)}
