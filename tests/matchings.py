"""Every matching over a few links, written out in pure Python: the ground truth of the tests.

An example is a list of links (row, column, target, {attribute: value}), where the target is '1', '0' or 'P'. Rows are
numbered in their order, and so are the links of a row, in the order of their columns.

    code        for each row the number of its link, or how many it could have
    parts       ('label', r, column)        the r-th row has the link with that column, -1: none
    features    ('feature', attribute)      sum of the values of the attribute over the links
"""

import itertools
from collections import Counter

import numpy as np

from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.matching import NO, POSSIBLE, SURE, MatchingDataset
from data_formats.datasets.tokens import indptr_of
from tests.enumeration import Enumerated, Enumeration, Output, matrix

TARGETS = {'0': NO, '1': SURE, 'P': POSSIBLE}


def choices_of(example):
    """For each row its links in the order of their columns."""
    rows = sorted({link[0] for link in example})
    return [sorted((link for link in example if link[0] == row), key=lambda link: link[1]) for row in rows]


def outputs(example):
    """Every output."""
    choices = choices_of(example)
    for code in itertools.product(*(range(len(links) + 1) for links in choices)):
        taken = [links[v] if v < len(links) else None for v, links in zip(code, choices, strict=True)]
        columns = [link[1] for link in taken if link]
        if len(set(columns)) < len(columns):
            continue
        parts = Counter({('label', r, link[1] if link else -1): 1 for r, link in enumerate(taken)})
        features = Counter()
        for link in filter(None, taken):
            features.update({('feature', name): value for name, value in link[3].items()})
        yield Output(code, parts, features)


def right_code(example):
    """The code of the sure links."""
    found = []
    for links in choices_of(example):
        sure = [v for v, link in enumerate(links) if link[2] == '1']
        found.append(sure[0] if sure else len(links))
    return tuple(found)


def links_of(example, code):
    """The set of pairs (row, column) of an output."""
    chosen = zip(choices_of(example), code, strict=True)
    return {links[v][:2] for links, v in chosen if v < len(links)}


def wrong_links(example, code):
    """How many sure links are missing, and how many links there are that are neither sure nor possible."""
    found = links_of(example, code)
    sure, possible = ({link[:2] for link in example if link[2] == target} for target in ('1', 'P'))
    return float(len(sure - found) + len(found - sure - possible))


def number_of_matchings(example):
    """Without listing them: how many there are for each set of columns that is used, row by row."""
    counts = Counter({frozenset(): 1})
    for links in choices_of(example):
        before = counts.copy()
        for used, count in before.items():
            for column in {link[1] for link in links} - used:
                counts[used | {column}] += count
    return counts.total()


class MatchingEnumeration(Enumeration):
    """All outputs of all examples. loss: 'hamming' (wrong links) or 'zero-one'."""

    def __init__(self, examples, loss='hamming'):
        listed = [list(outputs(example)) for example in examples]
        self.keys = sorted(set().union(*(output.features for some in listed for output in some)))
        self.column, self.loss = {key: k for k, key in enumerate(self.keys)}, loss
        self.examples = [self._all(example, some) for example, some in zip(examples, listed, strict=True)]

    def _all(self, example, some):
        codes = [output.code for output in some]
        gold = codes.index(right_code(example))
        part_keys = sorted(set().union(*(output.parts for output in some)))
        parts = matrix([output.parts for output in some], {key: k for k, key in enumerate(part_keys)})
        features = matrix([output.features for output in some], self.column)
        losses = np.array([wrong_links(example, code) for code in codes])
        if self.loss == 'zero-one':
            losses = (np.arange(len(codes)) != gold).astype(float)
        return Enumerated(codes, gold, part_keys, parts, features, losses)


def part_columns(example, part_keys):
    """Where parts stand in theta: links in the order of the example, then the rows without one."""
    places = {link[:2]: p for p, link in enumerate(example)}
    rows = sorted({link[0] for link in example})
    return np.array([places[rows[r], c] if c >= 0 else len(example) + r for _, r, c in part_keys], dtype=np.intp)


def dataset_of(examples):
    """The MatchingDataset of some examples; attributes are in alphabetical order."""
    links = [link for example in examples for link in example]
    names = sorted({name for link in links for name in link[3]})
    rows = [sorted((names.index(name), value) for name, value in link[3].items()) for link in links]
    return MatchingDataset(
        offsets=indptr_of([len(example) for example in examples]),
        link_rows=np.array([link[0] for link in links], np.int32),
        link_columns=np.array([link[1] for link in links], np.int32),
        targets=np.array([TARGETS[link[2]] for link in links], np.int32),
        indptr=indptr_of([len(row) for row in rows]),
        indices=np.array([name for row in rows for name, _ in row], np.int32),
        values=np.array([value for row in rows for _, value in row], np.float64),
        attributes=Vocabulary(name.encode() for name in names),
    )


def random_example(rng, n, m, share=1.0, attributes=4):
    """Links of n rows with m columns (numbered with gaps) in random order, that share of them all; a random matching of
    them is sure, some others are possible."""
    pairs = [(2 * r + 1, 3 * c) for r in range(n) for c in range(m) if rng.random() < share]
    rng.shuffle(pairs)
    pairs = [tuple(map(int, pair)) for pair in pairs]
    sure = []
    for r, c in pairs:
        if rng.random() < 0.7 and all(r != s and c != d for s, d in sure):
            sure.append((r, c))
    links = []
    for pair in pairs:
        names = rng.choice(attributes, size=2, replace=False)
        target = '1' if pair in sure else 'P' if rng.random() < 0.2 else '0'
        links.append((*pair, target, {f'a{name}': float(rng.normal()) for name in names}))
    return links
