"""A weight for each attribute and triple of labels, 'state' float64[F, C(K, 3)]; as text, rows `state NAME NUMBER`."""

from math import comb

import numpy as np

from data_formats.parameters import numbers

VOCABULARIES = ('label_names', 'attributes')


def read(container, header, names, as_stored):
    return {'state': numbers(container, 'state', (len(names['attributes']), comb(len(names['label_names']), 3)))}


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
    width = comb(len(rows.labels), 3)
    state = np.array([[row.get(k, 0.0) for k in range(width)] for row in table.values()]).reshape(-1, width)
    return {'label_names': rows.labels, 'attributes': table}, {'state': state}
