"""Weights of label sets: 'state' float64[attributes, K], and 'pair' float64[P] for the pairs of labels that the header
lists in structure.pairs, or for all, (0, 1), (0, 2), ..., (1, 2), ... Where soft constraints were trained with, what
belongs to the training examples and only `ssvm gap` needs: 'agreement', their agreement variables, 'multipliers', what
these are pulled to, and 'smoothing', weights of their joint states.

As text, rows `state ATTRIBUTE LABEL` and `pair LABEL LABEL`. Weights that are zero are left out, except that each
attribute has at least one row, so that the file names all of them in their order.
"""

from itertools import pairwise

import numpy as np

from cython_ext.structures.graph.label_pairs import all_pairs
from cython_ext.tasks.relaxations import RELAXATIONS
from data_formats.errors import shown
from data_formats.parameters import numbers
from data_formats.parameters.values import Key, lists_of, one_of, positive

VOCABULARIES = ('label_names', 'attributes')
STATE, PAIR = 'state', 'pair'
MULTIPLIERS = 'multipliers'
AGREEMENT = 'agreement'
OF_EXAMPLES = (AGREEMENT, MULTIPLIERS, 'smoothing')


def ascending_pairs(value):
    """Ascending pairs of labels, the smaller number first."""
    if not (isinstance(value, list) and all(lists_of(int)([each]) and len(each) == 2 for each in value)):
        return False
    return all(0 <= a < b for a, b in value) and all(a < b for a, b in pairwise(value))


RELAXED = {
    'relaxation': Key(one_of(*RELAXATIONS), ' or '.join(RELAXATIONS), needed=True),
    'rho': Key(positive, 'a number above 0', nullable=True),
    'smoothing': Key(positive, 'a number above 0'),
}
STRUCTURE = {**RELAXED, 'pairs': Key(ascending_pairs, 'ascending pairs of numbers of labels', nullable=True)}


def pairs_of(header, labels, error):
    """int32[P, 2], the pairs of labels that have weights. error: function of a text that makes an exception, for a pair
    of labels that there are not."""
    listed = (header.get('structure') or {}).get('pairs')
    if listed is None:
        return all_pairs(labels)
    beyond = next((pair for pair in listed if pair[1] >= labels), None)
    if beyond is not None:
        raise error(f'header has the pair {beyond} in structure.pairs and there are {labels} labels')
    return np.array(listed, np.int32).reshape(-1, 2)


def read(container, header, names, as_stored):
    labels = len(names['label_names'])
    pairs = pairs_of(header, labels, container.error)
    weights = {
        STATE: numbers(container, STATE, (len(names['attributes']), labels)),
        PAIR: numbers(container, PAIR, (len(pairs),)),
    }
    return weights | of_examples(container, header, as_stored)


def of_examples(container, header, as_stored):
    """What belongs to the training examples of soft constraints; nothing where predicting is all. Models that were
    texts have neither that nor a dual point."""
    if header['structure'].get('relaxation') != 'soft':
        return {}
    if any(name.startswith('dual.') for name in container.names()):
        container.verify(f'weights.{AGREEMENT}')
    found = [name for name in OF_EXAMPLES if f'weights.{name}' in container.names() and not as_stored]
    return {name: numbers(container, name, (None,)) for name in found}


def stored(weights):
    return weights


def listed(model):
    return {}


def blocks(model):
    return [STATE, PAIR]


def write_rows(model, tables, stream, spell):
    labels = tables['label_names']
    for name, row in zip(tables['attributes'], model.weights[STATE], strict=True):
        for k in np.flatnonzero(row).tolist() or [0]:
            stream.write(f'{STATE}\t{name}\t{labels[k]}\t{row[k]:.17g}\n')
    pairs = pairs_of(model.header, len(labels), ValueError)
    for (a, b), weight in zip(pairs.tolist(), model.weights[PAIR].tolist(), strict=True):
        if weight:
            stream.write(f'{PAIR}\t{labels[a]}\t{labels[b]}\t{weight:.17g}\n')


def read_rows(rows, header, blocks):
    labels = len(rows.labels)
    pairs = pairs_of(header, labels, rows.error_of_file)
    places = {(a, b): k for k, (a, b) in enumerate(pairs.tolist())}
    states, weights = {}, np.zeros(len(pairs))
    seen = set()
    for block, left, right, text in rows:
        if block == STATE:
            place, table = rows.label(right), states.setdefault(rows.name(left), {})
            again = place in table
            table[place] = rows.weight(text)
        elif block == PAIR:
            a, b = sorted((rows.label(left), rows.label(right)))
            if a == b:
                raise rows.error(f'a pair of {shown(left)} and itself', 'expected two labels')
            again = (a, b) in seen
            seen.add((a, b))
            if (a, b) not in places:
                raise rows.error(f'pair {shown(left)} {shown(right)}', 'expected one that structure.pairs lists')
            weights[places[a, b]] = rows.weight(text)
        else:
            raise rows.error(f'block {shown(block)}', f'expected {STATE} or {PAIR}')
        if again:
            raise rows.error(f'a second weight for {shown(block)} {shown(left)} {shown(right)}')
    state = np.zeros((len(states), labels))
    for row, table in zip(state, states.values(), strict=True):
        for place, weight in table.items():
            row[place] = weight
    return {'label_names': rows.labels, 'attributes': states}, {STATE: state, PAIR: weights}
