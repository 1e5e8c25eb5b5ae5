"""Small files of every format whose attributes have values, of the sizes that are asked for."""

import json

import numpy as np

NAMES = ('1', '2', '3', '4', '5')
SIZES = {name: 7.0 * 10.0**k for k, name in enumerate(NAMES)}  # of the values of each attribute, from 7 to 70,000
LABELS = ('a', 'b', 'c')


def examples(kind, seed=0, n=24):
    """Rows of random data: a list of examples, each a list of (what stands in front of the features, features)."""
    rng = np.random.default_rng(seed)
    return [list(KINDS[kind](rng, i + 1)) for i in range(n)]


def written(kind, rows, scale=None):
    """Such data as a file; scale: name -> what values are divided by, None to leave them as they are."""
    divided = [
        [
            (front, {k: v if scale is None else v / scale.get(k, 1.0) for k, v in features.items()})
            for front, features in e
        ]
        for e in rows
    ]
    return WRITERS.get(kind, pair_lines)(divided)


def scale_of(rows, how):
    """name -> what the values of an attribute are divided by, worked out value by value."""
    values = {}
    for example in rows:
        for _, features in example:
            for name, value in features.items():
                values.setdefault(name, []).append(value)
    if how == 'max':
        return {name: max(map(abs, several)) for name, several in values.items()}
    return {name: (sum(v * v for v in several) / len(several)) ** 0.5 for name, several in values.items()}


def features_of(rng, y):
    """Features that tell y, some of them left out; always one at least."""
    means = [(y == k % len(LABELS)) * (1 if k < 3 else -1) for k in range(len(NAMES))]
    kept = [name for name in NAMES if rng.random() < 0.8] or [NAMES[0]]
    return {name: float(SIZES[name] * (means[NAMES.index(name)] + 0.5 * rng.normal())) for name in kept}


def svmlight(rng, i):
    y = int(rng.integers(3))
    yield str(y), features_of(rng, y)


def svmhmm(rng, i):
    for _ in range(int(rng.integers(1, 6))):
        y = int(rng.integers(3))
        yield f'{y + 1} qid:{i}', features_of(rng, y)


def crfsuite(rng, i):
    for _ in range(int(rng.integers(1, 6))):
        y = int(rng.integers(3))
        yield LABELS[y], features_of(rng, y)


def svmrank(rng, i):
    for k, y in enumerate(rng.permutation(3).tolist()):
        yield f'{y} qid:{i}', features_of(rng, y) | ({'6': 1.0} if k else {})


def multilabel(rng, i):
    first, second = (int(y) for y in rng.integers(3, size=2))
    one, other = features_of(rng, first), features_of(rng, second)
    both = {name: one.get(name, 0.0) + other.get(name, 0.0) for name in NAMES if name in one or name in other}
    yield ','.join(sorted({LABELS[first], LABELS[second]})), both


def links(rng, i):
    for row in range(3):
        for column in range(3):
            right = row == column
            yield f'{int(right)} qid:{i} {row}-{column}', features_of(rng, 0 if right else 1)


def graph(rng, i):
    for _ in range(3):
        y = int(rng.integers(2))
        yield LABELS[y], features_of(rng, y)
    for pair in ([0, 1], [1, 2]):
        yield pair, {'1': float(SIZES['1'] * rng.random()), 'near': float(3 + rng.random())}


def pair_lines(rows):
    lines = [' '.join([front, *(f'{k}:{v!r}' for k, v in features.items())]) for e in rows for front, features in e]
    return '\n'.join(lines) + '\n'


def attribute_lines(rows):
    blocks = [
        '\n'.join('\t'.join([front, *(f'{k}:{v!r}' for k, v in features.items())]) for front, features in e)
        for e in rows
    ]
    return '\n\n'.join(blocks) + '\n'


def arff_lines(rows):
    header = [f"@relation 'flags: -C {len(LABELS)}'", *(f'@attribute {name} {{0,1}}' for name in LABELS)]
    header += [*(f'@attribute {name} numeric' for name in NAMES), '@data']
    lines = [
        ','.join([*(str(int(y in front.split(','))) for y in LABELS), *(repr(features.get(k, 0.0)) for k in NAMES)])
        for ((front, features),) in rows
    ]
    return '\n'.join(header + lines) + '\n'


def graph_lines(rows):
    lines = []
    for example in rows:
        nodes = [{'features': features, 'label': front} for front, features in example if isinstance(front, str)]
        factors = [{'nodes': front, 'features': features} for front, features in example if isinstance(front, list)]
        lines.append(json.dumps({'states': LABELS[:2], 'nodes': nodes, 'factors': factors}))
    return '\n'.join(lines) + '\n'


KINDS = {
    'svmlight': svmlight,
    'svmhmm': svmhmm,
    'crfsuite': crfsuite,
    'svmrank': svmrank,
    'multilabel': multilabel,
    'arff': multilabel,
    'links': links,
    'graph': graph,
}
WRITERS = {'crfsuite': attribute_lines, 'arff': arff_lines, 'graph': graph_lines}
