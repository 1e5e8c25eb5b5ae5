"""A weight for each attribute and set of labels, 'state' float64[F, C(K, chosen)]; as text, rows `state NAME
NUMBER`."""

from math import comb

import numpy as np

from data_formats.parameters import numbers
from data_formats.parameters.values import Key, up_to

VOCABULARIES = ('label_names', 'attributes')
STRUCTURE = {'chosen': Key(up_to(100), 'a whole number from 0 to 100', needed=True)}


def width(header, labels):
    return comb(len(labels), header['structure']['chosen'])


def read(container, header, names, as_stored):
    return {'state': numbers(container, 'state', (len(names['attributes']), width(header, names['label_names'])))}


def stored(weights):
    return weights


def listed(model):
    return {}


def blocks(model):
    return ['state']


def write_rows(model, tables, stream, spell):
    for name, row in zip(tables['attributes'], model.weights['state'].tolist(), strict=True):
        for k, weight in enumerate(row):
            stream.write(f'state\t{name}\t{k}\t{weight:.17g}\n')


def read_rows(rows, header, blocks):
    table = {}
    for _, left, right, text in rows:
        table.setdefault(rows.name(left), {})[int(right)] = rows.weight(text)
    sets = width(header, rows.labels)
    state = np.array([[row.get(k, 0.0) for k in range(sets)] for row in table.values()]).reshape(-1, sets)
    return {'label_names': rows.labels, 'attributes': table}, {'state': state}
