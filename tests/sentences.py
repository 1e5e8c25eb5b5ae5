"""Every dependency tree over a tiny sentence, written out in pure Python: the ground truth of the tests.

Nothing here imports the compiled core. Words are numbered from 1, the root is 0.

    parts       ('arc', d, h, r)              word d hangs from h with relation r
    features    ('arc', NAME, None)           NAME as the core spells it: template, values, direction and distance
                ('arc', NAME, r)              the same with relation r
"""

import functools
import itertools
from collections import Counter
from typing import NamedTuple

import numpy as np

ARC = (
    *('hw,hp', 'hw', 'hp', 'dw,dp', 'dw', 'dp', 'hw,hp,dw,dp', 'hp,dw,dp', 'hw,dw,dp', 'hw,hp,dp', 'hw,hp,dw'),
    *('hw,dw', 'hp,dp', 'hp,bp,dp', 'hc,bc,dc'),
    *('hp,hp+1,dp-1,dp', 'hp-1,hp,dp-1,dp', 'hp,hp+1,dp,dp+1', 'hp-1,hp,dp,dp+1'),
    *('hc,hc+1,dc-1,dc', 'hc-1,hc,dc-1,dc', 'hc,hc+1,dc,dc+1', 'hc-1,hc,dc,dc+1'),
)
RELATION = (
    *('hp,dp,dir', 'hw,dp,dir', 'hp,dw,dir', 'hc,dc,dir', 'hw,dir', 'dw,dir'),
    *('dp-1,dp,dp+1', 'hp-1,hp,hp+1,dp'),
)


class Sentence(NamedTuple):
    """One sentence as plain lists of names; coarse may be None. A name None is unknown, and has no features."""

    words: list
    tags: list
    coarse: list | None
    gold: tuple
    relations: int
    projective: bool = True
    single_root: bool = True

    @property
    def length(self):
        return len(self.words)


def sentence_of(dataset, i, projective, single_root):
    """Sentence i of anything with the arrays of a SentenceDataset."""
    span = range(int(dataset.offsets[i]), int(dataset.offsets[i + 1]))

    def named(ids, letter):
        return [f'{letter}{ids[k]}' if ids[k] >= 0 else None for k in span]

    gold = (*(int(dataset.heads[k]) for k in span), *(int(dataset.relations[k]) for k in span))
    coarse = None if dataset.coarse is None else named(dataset.coarse, 'p')
    words, tags = named(dataset.words, 'w'), named(dataset.tags, 'p')
    return Sentence(words, tags, coarse, gold, len(dataset.label_names), projective, single_root)


@functools.cache
def trees(length, projective, single_root):
    """The heads of all trees over so many words."""
    found = []
    for heads in itertools.product(range(length + 1), repeat=length):
        if single_root and length and heads.count(0) != 1:
            continue
        above = [ancestors(heads, d) for d in range(1, length + 1)]
        if all(a[-1:] == [0] for a in above) and (not projective or is_projective(heads, above)):
            found.append(heads)
    return found


def ancestors(heads, d):
    """The heads from word d up to the root, or as many as there are words where there is a cycle."""
    found = []
    while d != 0 and len(found) <= len(heads):
        d = heads[d - 1]
        found.append(d)
    return found


def is_projective(heads, above):
    """Whether every word between a head and its dependent hangs below that head, by however many arcs."""
    return all(
        head in above[between - 1]
        for d, head in enumerate(heads, 1)
        for between in range(min(d, head) + 1, max(d, head))
    )


def arc_features(sentence, h, d):
    """Names of the features of an arc without, and with relations."""
    length = abs(h - d)
    distance = ('>' if h < d else '<') + (str(length) if length <= 5 else '6-10' if length <= 10 else '11+')
    between = range(min(h, d) + 1, max(h, d))
    plain = list(tuples(sentence, h, d, ARC, between))
    return plain + [f'{name} {distance}' for name in plain], list(tuples(sentence, h, d, RELATION, ()))


def tuples(sentence, h, d, templates, between):
    for template in templates:
        atoms = template.split(',')
        middle = [atom for atom in atoms if atom[0] == 'b']
        values = {value(sentence, h, d, middle[0], b) for b in between} if middle else {''}
        for b in sorted(v for v in values if v is not None):
            found = [b if atom in middle else value(sentence, h, d, atom) for atom in atoms]
            if None not in found:
                yield ' '.join([template, *found])


def value(sentence, h, d, atom, b=None):
    """Of an atom like dp-1; None where it is unknown or there is no such column."""
    if atom == 'dir':
        return '>' if h < d else '<'
    place = {'h': h, 'd': d, 'b': b}[atom[0]] + int(atom[2:] or 0)
    column = {'w': sentence.words, 'p': sentence.tags, 'c': sentence.coarse}[atom[1]]
    if column is None:
        return None
    if place <= 0 or place > len(column):
        return {0: '<root>', -1: '<s>'}.get(place, '</s>')
    return column[place - 1]


def outputs(sentence):
    """(code, parts, features) of every tree with all its relations."""
    length = sentence.length
    features = {(h, d): arc_features(sentence, h, d) for d in range(1, length + 1) for h in range(length + 1) if h != d}
    for heads in trees(length, sentence.projective, sentence.single_root):
        for relations in itertools.product(range(sentence.relations), repeat=length):
            parts, joint = Counter(), Counter()
            for d, (h, r) in enumerate(zip(heads, relations, strict=True), 1):
                parts['arc', d, h, r] += 1
                plain, related = features[h, d]
                joint.update(('arc', name, -1) for name in plain)
                if sentence.relations > 1:
                    joint.update(('arc', name, r) for name in related)
            yield heads + relations, parts, joint


def count(length, projective, single_root):
    """How many trees there are, by closed forms; the projective ones by their recurrence over spans."""
    if length == 0:
        return 1
    if not projective:
        return length ** (length - 1) if single_root else (length + 1) ** (length - 1)
    below = [1]  # of a head with so many words on one side of it
    whole = [1]  # of so many words that hang from one of them
    for words in range(1, length + 1):
        below.append(sum(below[words - 1 - k] * half_closed(below, k) for k in range(words)))
        whole.append(sum(below[k] * below[words - 1 - k] for k in range(words)))
    return whole[length] if single_root else below[length]


def half_closed(below, words):
    """Ways to hang one word and `words` others, between it and its head, each from one of the two."""
    return sum(below[k] * below[words - k] for k in range(words + 1))


def tiny(lengths=(3, 1, 2), relations=1, words=4, tags=3, coarse=False, projective=True, single_root=True, seed=0):
    """Random sentences with right trees, as arrays with the names of a SentenceDataset but plain numbers of names."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    size = int(offsets[-1])
    chosen = [trees(length, projective, single_root) for length in lengths]
    heads = [h for all_trees in chosen for h in all_trees[rng.integers(len(all_trees))]]

    class Data:
        pass

    data = Data()
    data.offsets, data.heads = offsets, np.array(heads, np.int32)
    data.words, data.tags = (rng.integers(0, n, size).astype(np.int32) for n in (words, tags))
    data.coarse = (data.tags // 2).astype(np.int32) if coarse else None
    data.relations = rng.integers(0, relations, size).astype(np.int32)
    data.word_names, data.tag_names = [f'w{k}' for k in range(words)], [f'p{k}' for k in range(tags)]
    data.label_names = [f'r{k}' for k in range(relations)]
    return data
