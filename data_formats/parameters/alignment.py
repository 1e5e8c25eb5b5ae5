"""Weights of pairs of letters, 'substitute' float64[K, K] (native, candidate), and of gaps, 'gap' float64[1] or [2].

As text, a row `substitute A B` for each pair of letters and a row `gap any -`, or `gap open -` and `gap extend -` where
the first letter of a gap has a weight of its own. Weights without a row are 0."""

import numpy as np

from data_formats.errors import shown
from data_formats.parameters import numbers
from data_formats.parameters.values import Key, one_of

VOCABULARIES = ('label_names',)
GAPS = {'linear': ('any',), 'affine': ('open', 'extend')}
STRUCTURE = {
    'gap_model': Key(one_of(*GAPS), ' or '.join(GAPS)),
    'align': Key(one_of('local', 'global'), 'local or global'),
}
SUBSTITUTE, GAP, NONE = 'substitute', 'gap', '-'


def gap_names(header, error):
    """What gaps have weights. error: (what, expected) -> exception where the header does not say."""
    structure = header.get('structure') or {}
    if structure.get('gap_model') is None or structure.get('align') is None:
        raise error('header of an alignment without gap_model and align in its structure', 'expected both')
    return GAPS[structure['gap_model']]


def check_letters(names, error):
    """Raise error(what, expected) unless each name is a letter of a sequence."""
    wrong = next((name for name in names if len(name) != 1 or not '!' <= name <= '~' or name in '>-.'), None)
    if wrong is not None:
        raise error(f'letter {shown(wrong)} of an alignment', 'expected printable characters of ASCII but >, - and .')


def read(container, header, names, as_stored):
    check_letters(names['label_names'].names(), container.error)
    gaps, letters = gap_names(header, container.error), len(names['label_names'])
    return {
        SUBSTITUTE: numbers(container, SUBSTITUTE, (letters, letters)),
        GAP: numbers(container, GAP, (len(gaps),)),
    }


def stored(weights):
    return weights


def listed(model):
    return {}


def blocks(model):
    return [SUBSTITUTE, GAP]


def write_rows(model, tables, stream, spell):
    letters = tables['label_names']
    for a, row in zip(letters, model.weights[SUBSTITUTE].tolist(), strict=True):
        for b, weight in zip(letters, row, strict=True):
            stream.write(f'{SUBSTITUTE}\t{a}\t{b}\t{weight:.17g}\n')
    for name, weight in zip(GAPS[model.header['structure']['gap_model']], model.weights[GAP].tolist(), strict=True):
        stream.write(f'{GAP}\t{name}\t{NONE}\t{weight:.17g}\n')


def read_rows(rows, header, blocks):
    names = gap_names(header, rows.error_of_file)
    check_letters(rows.labels, rows.error_of_file)
    letters = len(rows.labels)
    weights = {SUBSTITUTE: np.zeros((letters, letters)), GAP: np.zeros(len(names))}
    seen = set()
    for block, left, right, text in rows:
        if block == SUBSTITUTE:
            place = rows.label(left), rows.label(right)
        elif block == GAP and left in names and right == NONE:
            place = names.index(left)
        else:
            expected = ', '.join(f'{GAP} {name} {NONE}' for name in names)
            what = f'row {shown(block)} {shown(left)} {shown(right)}'
            raise rows.error(what, f'expected {SUBSTITUTE} and two letters, or {expected}')
        if (block, place) in seen:
            raise rows.error(f'a second weight for {shown(block)} {shown(left)} {shown(right)}')
        seen.add((block, place))
        weights[block][place] = rows.weight(text)
    return {'label_names': rows.labels}, weights
