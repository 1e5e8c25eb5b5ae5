"""Files of a few large examples for each task, whose oracles take long: each returns the text of n examples."""

import json

import numpy as np


def multiclass(n, rng, labels=3000):
    return ''.join(f'{i % labels + 1} 1:{x:.2f} 2:{y:.2f}\n' for i, (x, y) in enumerate(rng.normal(size=(n, 2))))


def chain(n, rng, labels=100, length=600):
    lines = []
    for _ in range(n):
        tags = rng.integers(labels, size=length)
        lines += [f'w{tag * 7 % 50} t{tag}\n' for tag in tags.tolist()]
        lines.append('\n')
    return ''.join(lines)


def dependency(n, rng, words=200):
    lines = []
    for _ in range(n):
        for k in range(words):
            head, relation = (0, 'root') if k == 0 else (k, f'r{int(rng.integers(5))}')
            lines.append(f'{k + 1}\tw{int(rng.integers(40))}\t_\tX\t_\t_\t{head}\t{relation}\t_\t_\n')
        lines.append('\n')
    return ''.join(lines)


def alignment(n, rng, length=600):
    lines = []
    for i in range(1, n + 1):
        native, homolog, decoy = (''.join(rng.choice(list('ACDEFGHIK'), length)) for _ in range(3))
        lines += [f'>native {i}\n{native}\n', f'>homolog {i} 0:0:{"S" * length}\n{homolog}\n', f'>decoy {i}\n{decoy}\n']
    return ''.join(lines)


def cfg(n, rng, words=40, labels=12):
    def tree(begin, end):
        label = f'L{int(rng.integers(labels))}'
        if end - begin == 1:
            return f'({label} (T{int(rng.integers(6))} w{int(rng.integers(9))}))'
        middle = int(rng.integers(begin + 1, end))
        return f'({label} {tree(begin, middle)} {tree(middle, end)})'

    return ''.join(f'(TOP {tree(0, words)})\n' for _ in range(n))


def multilabel(n, rng, labels=13, attributes=5):
    rows = []
    for i in range(n):
        chosen = ','.join(str(k + 1) for k in np.flatnonzero(rng.random(labels) < 0.3).tolist()) or str(i % labels + 1)
        values = ''.join(f' {k + 1}:{value:.2f}' for k, value in enumerate(rng.normal(size=attributes)))
        rows.append(f'{chosen}{values}\n')
    return ''.join(rows)


def graph(n, rng, side=8, states=3):
    names = [f's{k}' for k in range(states)]
    rows = []
    for _ in range(n):
        nodes = [
            {'features': {'x': round(float(rng.normal()), 2), 'one': 1}, 'label': names[int(rng.integers(states))]}
            for _ in range(side * side)
        ]
        pairs = [(k, k + 1) for k in range(side * side) if (k + 1) % side]
        pairs += [(k, k + side) for k in range(side * (side - 1))]
        factors = [{'nodes': list(pair), 'features': {'one': 1}} for pair in pairs]
        rows.append(json.dumps({'states': names, 'nodes': nodes, 'factors': factors}) + '\n')
    return ''.join(rows)


def matching(n, rng, side=40):
    lines = []
    for i in range(1, n + 1):
        partner = rng.permutation(side)
        for row in range(side):
            for column, value in enumerate(rng.normal(size=side)):
                lines.append(f'{int(partner[row] == column)} qid:{i} {row}-{column} d:{value:.2f}\n')
    return ''.join(lines)


def candidates(n, rng, count=500, attributes=10):
    lines = []
    for i in range(1, n + 1):
        right = int(rng.integers(count))
        for k, row in enumerate(rng.normal(size=(count, attributes))):
            values = ' '.join(f'{a + 1}:{value:.2f}' for a, value in enumerate(row))
            lines.append(f'{int(k != right)} qid:{i} {values}\n')
    return ''.join(lines)


def boxes(n, rng, size=480, points=200):
    lines = []
    for _ in range(n):
        left, top = rng.integers(size // 2, size=2).tolist()
        lines.append(f'picture {size} {size} {left} {top} {left + size // 4} {top + size // 4}\n')
        lines += [f'{x} {y} {word}\n' for x, y, word in rng.integers((size, size, 20), size=(points, 3)).tolist()]
    return ''.join(lines)


# task -> (function, ending of the file, options of ssvm train, number of examples)
LARGE = {
    'multiclass': (multiclass, '.svm', (), 100000),
    'chain': (chain, '.conll', (), 300),
    'dependency': (dependency, '.conllu', (), 80),
    'alignment': (alignment, '.fa', (), 100),
    'cfg': (cfg, '.ptb', ('--task-loss', 'zero-one'), 40),
    'multilabel': (multilabel, '.ml', ('--relaxation', 'lp'), 100),
    'graph': (graph, '.jsonl', ('--relaxation', 'lp'), 60),
    'matching': (matching, '.links', (), 40),
    'candidates': (candidates, '.rank', (), 20),
    'boxes': (boxes, '.boxes', (), 150),
}
