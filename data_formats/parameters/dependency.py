"""Weights of the features of arcs: dependency trees. cython_ext.features.arcs.table says what the arrays are.

As text, a row `arc FEATURE RELATION` for each weight that is not zero, `-` for RELATION where it is the same for all of
them; comment lines name all words and tags. Hashed features have no names: see hashed_arcs.py.
"""

from data_formats.errors import shown
from data_formats.parameters import hashed_arcs, numbers
from data_formats.parameters.values import Key, exactly, up_to

VOCABULARIES = ('label_names', 'word_names', 'tag_names')
MOST_BITS = 2**31 - 1  # what fits the number that is checked later
STRUCTURE = {
    'nonprojective': Key(exactly(bool), 'true or false', needed=True),
    'single_root': Key(exactly(bool), 'true or false', needed=True),
    'hash_bits': Key(up_to(MOST_BITS), f'a whole number from 0 to {MOST_BITS}', nullable=True),
}
WORD_LISTS = {'word_names': 'word', 'tag_names': 'tag'}
BLOCK_KINDS = {'arc.shape': '<i8', 'arc.keys': '<u8', 'arc.bins': '<u2', 'relation.keys': '<u8'}
BLOCK, NONE = 'arc', '-'


def read(container, header, names, as_stored):
    from cython_ext.features.arcs.table import table_of_blocks

    prefix, shapes = 'weights.', hashed_shapes(container, header, names)
    weights = {}
    for name in (name.removeprefix(prefix) for name in container.names() if name.startswith(prefix)):
        if name in BLOCK_KINDS:
            weights[name] = container.array(prefix + name, BLOCK_KINDS[name], (None,))
        else:
            weights[name] = numbers(container, name, shapes.get(name, (None,) * (1 + name.startswith('relation.'))))
    try:
        table = table_of_blocks(weights, hash_bits_of(header))
    except ValueError as error:
        raise container.error(f'its weights are none: {error}') from error
    if (*table.shape, table.n_labels) != tuple(len(names[name]) for name in (*WORD_LISTS, 'label_names')):
        raise container.error('its weights are not those of its words, tags and relations')
    return weights


def hashed_shapes(container, header, names):
    """The shapes of weights that the number of hash bits decides, by name; none for a dictionary."""
    from cython_ext.features.arcs.table import ArcTable
    from cython_ext.structures.choice import padded

    hash_bits, relations = hash_bits_of(header), len(names['label_names'])
    if not hash_bits:
        return {}
    shape = tuple(len(names[name]) for name in WORD_LISTS)
    try:
        table = ArcTable(shape, relations, 1 if relations == 1 else padded(relations), hash_bits)
    except ValueError as error:
        raise container.error(str(error)) from error
    return {'arc.weights': (table.arc_weights,), 'relation.weights': (table.relation_rows, relations)}


def hash_bits_of(header):
    """The number of bits that features are hashed to, None for a dictionary."""
    return (header.get('structure') or {}).get('hash_bits')


def stored(weights):
    return weights


def listed(model):
    return {name: getattr(model, name).names() for name in WORD_LISTS}


def blocks(model):
    if not hash_bits_of(model.header):
        return [BLOCK]
    return [hashed_arcs.ARC, *([hashed_arcs.RELATION] if 'relation.weights' in model.weights else [])]


def write_rows(model, tables, stream, spell):
    from cython_ext.features.arcs.names import spelled

    relations = tables['label_names']
    if hash_bits_of(model.header):
        hashed_arcs.write_rows(model.weights, relations, stream)
        return
    for feature, relation, weight in spelled(model.weights, model.word_names.names(), model.tag_names.names()):
        stream.write(f'{BLOCK}\t{spell(feature)}\t{NONE if relation < 0 else relations[relation]}\t{weight:.17g}\n')


def read_rows(rows, header, blocks):
    from cython_ext.features.arcs.names import is_arc_feature, parsed

    names = {name: rows.places(header.pop(name, None), what, name) for name, what in WORD_LISTS.items()}
    hash_bits = hash_bits_of(header)
    if hash_bits:
        shape = tuple(len(names[name]) for name in WORD_LISTS)
        return {'label_names': rows.labels, **names}, hashed_arcs.read_rows(rows, shape, hash_bits)

    def features():
        for block, left, right, text in rows:
            if block != BLOCK:
                raise rows.error(f'block {shown(block)}', f'expected {BLOCK}')
            weight, feature = rows.weight(text), rows.name(left)
            if not is_arc_feature(feature):
                yield feature, rows.label(right), weight
            elif right == NONE:
                yield feature, -1, weight
            else:
                raise rows.error(f'feature {shown(left)} with a relation', f'expected {NONE}')

    try:
        weights = parsed(features(), list(names['word_names']), list(names['tag_names']), len(rows.labels))
    except ValueError as error:
        raise rows.error(str(error)) from error
    return {'label_names': rows.labels, **names}, weights
