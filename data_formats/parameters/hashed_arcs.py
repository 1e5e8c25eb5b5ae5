"""Weights of hashed features of arcs as text: a row for each that is not zero, named by the number of its bucket.

`arc-bucket NUMBER -` is a weight that is the same for all relations, `relation-bucket NUMBER RELATION` one of a row of
weights of relations. How many buckets there are follows from the hash bits and the number of relations; which features
fall into them from the words and tags, so that the comment lines name these in their order.
"""

import numpy as np

from data_formats.errors import shown

ARC, RELATION, NONE = 'arc-bucket', 'relation-bucket', '-'


def write_rows(weights, relations, stream):
    """relations: names."""
    arcs = weights['arc.weights']
    for bucket in np.flatnonzero(arcs).tolist():
        stream.write(f'{ARC}\t{bucket}\t{NONE}\t{arcs[bucket]:.17g}\n')
    if 'relation.weights' in weights:
        table = weights['relation.weights']
        for bucket in np.flatnonzero(table.any(axis=1)).tolist():
            for relation in np.flatnonzero(table[bucket]).tolist():
                stream.write(f'{RELATION}\t{bucket}\t{relations[relation]}\t{table[bucket, relation]:.17g}\n')


def read_rows(rows, shape, hash_bits):
    """The weights. rows: a model_tsv.Rows; shape: (words, tags). Raises DataError."""
    from cython_ext.features.arcs.table import ArcTable
    from cython_ext.structures.choice import padded

    count = len(rows.labels)
    try:
        table = ArcTable(shape, count, 1 if count == 1 else padded(count), hash_bits)
    except ValueError as error:
        raise rows.error_of_file(str(error)) from error
    tables = {ARC: np.zeros((table.arc_weights, 1))}
    if count > 1:
        tables[RELATION] = np.zeros((table.relation_rows, count))
    seen = {block: np.zeros(array.shape, bool) for block, array in tables.items()}
    for block, left, right, text in rows:
        if block not in tables:
            raise rows.error(f'block {shown(block)}', f'expected {" or ".join(tables)}')
        place = bucket(rows, left, len(tables[block])), column(rows, block, right)
        if seen[block][place]:
            raise rows.error(f'a second weight of {block} {left} {right}')
        seen[block][place], tables[block][place] = True, rows.weight(text)
    weights = {'arc.shape': np.array(shape, np.int64), 'arc.weights': tables[ARC].ravel()}
    return weights | ({'relation.weights': tables[RELATION]} if count > 1 else {})


def bucket(rows, text, count):
    """The number of a bucket."""
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) < count):
        raise rows.error(f'bucket {shown(text)}', f'expected a number from 0 to {count - 1}')
    return int(text)


def column(rows, block, right):
    """Where a weight stands in the row of its bucket."""
    if block == RELATION:
        return rows.label(right)
    if right != NONE:
        raise rows.error(f'{block} with a relation', f'expected {NONE}')
    return 0
