"""The features of arcs as text, and back: a template and its values, parted by blanks, `hw,dw eats fish`.

A feature that belongs to a direction and a distance has them in the end: `hw,dw eats fish >2`, `>` where the head is
before the dependent. In a value `\\s` is a blank and `\\\\` a backslash; `<root>`, `<s>` and `</s>` stand for the root
and for what is before and behind the sentence, and a word or tag that is spelled so has a backslash before it.
"""

import re

import numpy as np

from cython_ext.features.arcs.templates import ARC, BEGIN, BINS, DIRECTIONS, END, RELATION, ROOT, radix

SPECIAL_WORDS = (ROOT, BEGIN, END)
FEATURES_SPELLED_AT_ONCE = 1 << 16  # features that are spelled at a time


def spelled(blocks, word_names, tag_names):
    """Yield (feature, relation or -1, weight) for each weight that is not 0. blocks: of ArcTable, of a dictionary;
    word_names, tag_names: lists of str."""
    words, tags = _values(word_names), _values(tag_names)
    bins, weights = blocks['arc.bins'], blocks['arc.weights']
    at = 0
    for start, texts in _texts(blocks['arc.keys'], ARC, words, tags):
        for text, bits in zip(texts, bins[start : start + FEATURES_SPELLED_AT_ONCE].tolist(), strict=True):
            for k, name in enumerate(BINS):
                if bits >> k & 1:
                    if weights[at]:
                        yield (f'{text} {name}' if name else text), -1, float(weights[at])
                    at += 1
    if 'relation.keys' in blocks:
        table = blocks['relation.weights']
        for start, texts in _texts(blocks['relation.keys'], RELATION, words, tags):
            for text, row in zip(texts, table[start : start + FEATURES_SPELLED_AT_ONCE], strict=True):
                for relation in np.flatnonzero(row).tolist():
                    yield text, relation, float(row[relation])


def _texts(keys, templates, words, tags):
    """Yield (place of the first one, texts) for each FEATURES_SPELLED_AT_ONCE of features."""
    shape = len(words) - len(SPECIAL_WORDS), len(tags) - len(SPECIAL_WORDS)
    directions = np.array(DIRECTIONS, object)
    for start in range(0, len(keys), FEATURES_SPELLED_AT_ONCE):
        some = keys[start : start + FEATURES_SPELLED_AT_ONCE] - np.uint64(1)
        number, rest = some % np.uint64(len(templates)), some // np.uint64(len(templates))
        texts = np.empty(len(some), object)
        for k in np.unique(number).tolist():
            mine = np.flatnonzero(number == k)
            text, values = np.full(len(mine), templates[k], object), rest[mine]
            for atom in templates[k].split(','):
                size = np.uint64(radix(atom, shape))
                names = directions if atom == 'dir' else words if atom[1] == 'w' else tags
                text = text + ' ' + names[(values % size).astype(np.int64)]
                values //= size
            texts[mine] = text
        yield start, texts.tolist()


def is_arc_feature(feature):
    """Whether a feature has one weight, and not one for each relation. Raises ValueError where it is none."""
    template = feature.partition(' ')[0]
    if template not in ARC and template not in RELATION:
        raise ValueError(f'{feature!r} is no feature of an arc (expected a template such as {ARC[0]}, and its values)')
    return template in ARC


def parsed(rows, word_names, tag_names, n_relations, skip_unknown=False):
    """The blocks of the (feature, relation or -1, weight) of `rows`, read one by one. skip_unknown: leave out features
    of words or tags that are not among the names. Raises ValueError for what is no feature, or comes twice."""
    shape = len(word_names), len(tag_names)
    places = {'w': _places(word_names), 'p': _places(tag_names), 'dir': {d: k for k, d in enumerate(DIRECTIONS)}}
    places['c'] = places['p']
    bins = {name: k for k, name in enumerate(BINS)}
    arcs, relations = {}, {}
    for feature, relation, weight in rows:
        alone = is_arc_feature(feature)
        if alone != (relation < 0) or (not alone and n_relations < 2):
            raise ValueError(f'feature {feature!r} {"has no" if alone else "needs a"} relation')
        template, *values = feature.split(' ')
        atoms = template.split(',')
        place = bins.get(values.pop()) if alone and len(values) == len(atoms) + 1 else 0
        if len(values) != len(atoms) or place is None:
            raise ValueError(f'feature {feature!r} does not have {len(atoms)} values')
        key = _key(template, atoms, values, places, shape)
        if key is None and skip_unknown:
            continue
        if key is None:
            raise ValueError(f'feature {feature!r} has a word or a tag that the model does not have')
        row = (arcs if alone else relations).setdefault(key, {})
        if (place if alone else relation) in row:
            raise ValueError(f'a second weight for the feature {feature!r}')
        row[place if alone else relation] = weight
    return _blocks(arcs, relations, shape, n_relations)


def _key(template, atoms, values, places, shape):
    """The key of a feature (see reader.pyx); None where a value is unknown."""
    templates = ARC if template in ARC else RELATION
    key = 0
    for atom, value in zip(reversed(atoms), reversed(values), strict=True):
        place = places['dir' if atom == 'dir' else atom[1]].get(value)
        if place is None or place >= radix(atom, shape):
            return None
        key = key * radix(atom, shape) + place
    return key * len(templates) + templates.index(template) + 1


def _blocks(arcs, relations, shape, n_relations):
    rows = [sorted(row.items()) for row in arcs.values()]
    blocks = {
        'arc.shape': np.array(shape, np.int64),
        'arc.keys': np.array(list(arcs), np.uint64),
        'arc.bins': np.array([sum(1 << k for k, _ in row) for row in rows], np.uint16),
        'arc.weights': np.array([weight for row in rows for _, weight in row], np.float64),
    }
    if n_relations > 1:
        table = np.zeros((len(relations), n_relations))
        for k, row in enumerate(relations.values()):
            table[k, list(row)] = list(row.values())
        blocks |= {'relation.keys': np.array(list(relations), np.uint64), 'relation.weights': table}
    return blocks


def _values(names):
    """The texts of all values of an atom, an array of str."""
    return np.array([*map(_escaped, names), *SPECIAL_WORDS], object)


def _places(names):
    return {text: k for k, text in enumerate(_values(names))}


def _escaped(name):
    text = re.sub(r'[\\ ]', lambda match: '\\s' if match[0] == ' ' else '\\\\', name)
    return '\\' + text if text in SPECIAL_WORDS else text
