"""Made-up pictures of land, woods and water, as factor graphs in JSON lines: generate.py PICTURES SEED > FILE

A picture has 5 x 5 cells, each with a noisy colour; cells beside or above each other are mostly of one kind, and water
never borders on woods.
"""

import json
import sys

import numpy as np

SIDE, KINDS = 5, ('land', 'woods', 'water')
COLOURS = np.array([[0.6, 0.6, 0.2], [0.2, 0.6, 0.2], [0.2, 0.4, 0.8]])
NOISE = 0.35


def kinds_of(rng):
    """int [SIDE, SIDE]: land with a patch of woods and one of water that do not touch."""
    kinds = np.zeros((SIDE, SIDE), int)
    rows, columns = np.sort(rng.integers(SIDE + 1, size=2)), np.sort(rng.integers(SIDE + 1, size=2))
    kinds[rows[0] : rows[1], columns[0] : columns[1]] = 1
    gap = columns[1] + 1 if rows[1] > rows[0] and columns[1] > columns[0] else int(rng.integers(SIDE))
    kinds[:, gap:] = np.where(rng.random((SIDE, 1)) < 0.9, 2, 0)
    return kinds


def pictures(count, seed):
    """The lines of that many pictures."""
    rng = np.random.default_rng(seed)
    cells = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    beside = [(cells[:, :-1], cells[:, 1:], 'beside'), (cells[:-1], cells[1:], 'above')]
    for _ in range(count):
        kinds = kinds_of(rng).ravel()
        colours = COLOURS[kinds] + NOISE * rng.normal(size=(len(kinds), 3))
        nodes = [
            {
                'features': {**dict(zip('rgb', np.round(colour, 2).tolist(), strict=True)), 'one': 1},
                'label': KINDS[kind],
            }
            for colour, kind in zip(colours, kinds, strict=True)
        ]
        factors = [
            {'nodes': [int(a), int(b)], 'type': name}
            for first, second, name in beside
            for a, b in zip(first.ravel(), second.ravel(), strict=True)
        ]
        yield json.dumps({'states': KINDS, 'nodes': nodes, 'factors': factors})


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit('usage: generate.py PICTURES SEED > FILE')
    for line in pictures(int(sys.argv[1]), int(sys.argv[2])):
        print(line)
