"""All outputs of tiny alignment problems, written out in pure Python (nothing here imports a kernel), and such
problems.

An example is (native, [candidates], number of the right one, (start in the native, start in it, steps)), the steps a
string of S, I and D. Parts and features are counters over

    ('pair', a, b)      letter a of the native paired with letter b of the candidate
    ('gap', 'open')     a step I, or D, that is the first one of its run; with linear gaps every one of them
    ('gap', 'extend')   every further step of a run
    ('label', 0, c)     candidate c; it is no feature
"""

from collections import Counter
from math import comb

import numpy as np

from data_formats.datasets.alignment import Piece, joined
from tests.enumeration import Enumerated, Enumeration, Output, matrix

CODES = {'S': 1, 'I': 2, 'D': 3}


def alignments(x, y, local):
    """Every alignment of two strings as (start in x, start in y, steps); all empty ones as one."""
    found = [(0, 0, '')] if local or not (x or y) else []

    def grow(start, i, j, steps):
        if steps and (local or (i, j) == (len(x), len(y))):
            found.append((*start, steps))
        for step, (di, dj) in {'S': (1, 1), 'I': (0, 1), 'D': (1, 0)}.items():
            if i + di <= len(x) and j + dj <= len(y):
                grow(start, i + di, j + dj, steps + step)

    for i in range(len(x) + 1 if local else 1):
        for j in range(len(y) + 1 if local else 1):
            grow((i, j), i, j, '')
    return found


def number_of_alignments(n, m, local):
    """In closed form: paths in a rectangle are counted by Delannoy numbers."""
    if not local:
        return delannoy(n, m)
    rectangles = ((n - a + 1) * (m - b + 1) * delannoy(a, b) for a in range(n + 1) for b in range(m + 1) if a or b)
    return 1 + sum(rectangles)


def delannoy(n, m):
    return sum(comb(n, k) * comb(m, k) * 2**k for k in range(min(n, m) + 1))


def counts(x, y, alignment, affine):
    """What an alignment of x with y has."""
    i, j, steps = alignment
    found = Counter()
    for t, step in enumerate(steps):
        if step == 'S':
            found['pair', x[i], y[j]] += 1
        else:
            found['gap', 'extend' if affine and t and steps[t - 1] == step else 'open'] += 1
        i, j = i + (step != 'I'), j + (step != 'D')
    return found


def outputs(example, affine, local, free=False):
    """Every output; the right candidate has its right alignment alone, unless free."""
    native, candidates, right, given = example
    for c, other in enumerate(candidates):
        for a in [given] if c == right and not free else alignments(native, other, local):
            features = counts(native, other, a, affine)
            yield Output(code_of(example, c, a), features + Counter({('label', 0, c): 1}), features)


def code_of(example, c, alignment):
    """The code of an alignment with candidate c."""
    native, candidates, _, _ = example
    room = len(native) + max(map(len, candidates), default=0)
    i, j, steps = alignment
    return (c, i, j, *(CODES[step] for step in steps), *[0] * (room - len(steps)))


class AlignmentEnumeration(Enumeration):
    """All outputs of all examples; the task loss is zero-one over candidates."""

    def __init__(self, examples, affine, local, free=False):
        listed = [list(outputs(example, affine, local, free)) for example in examples]
        self.keys = sorted(set().union(*(output.features for some in listed for output in some)))
        self.column, self.loss = {key: k for k, key in enumerate(self.keys)}, 'zero-one'
        self.examples = [self._all(example, some) for example, some in zip(examples, listed, strict=True)]

    def _all(self, example, some):
        codes = [output.code for output in some]
        gold = codes.index(code_of(example, *example[2:]))
        part_keys = sorted(set().union(*(output.parts for output in some)))
        parts = matrix([output.parts for output in some], {key: k for k, key in enumerate(part_keys)})
        features = matrix([output.features for output in some], self.column)
        losses = np.array([float(code[0] != example[2]) for code in codes])
        return Enumerated(codes, gold, part_keys, parts, features, losses)


def dataset_of(examples):
    """The HomologDataset of some examples."""
    pieces = []
    for native, candidates, right, (i, j, steps) in examples:
        sequences = [(b'x', letters.encode()) for letters in (native, *candidates)]
        pieces.append(Piece(sequences, right, (i, j, [CODES[step] for step in steps])))
    return joined(pieces)


def random_examples(rng, sizes, local, letters='ACG'):
    """Examples with sequences of the given lengths, (native, candidate, ...); a random candidate is right, with a
    random alignment that is not empty if it can."""
    examples = []
    for lengths in sizes:
        native, *candidates = (''.join(rng.choice(list(letters), size)) for size in lengths)
        right = int(rng.integers(len(candidates)))
        known = alignments(native, candidates[right], local)
        known = [a for a in known if a[2]] or known
        examples.append((native, candidates, right, known[int(rng.integers(len(known)))]))
    return examples
