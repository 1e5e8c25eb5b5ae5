"""Conditional random fields on grids of 3 x 8 cells, exact and by tree-reweighted sums (`--objective log --relaxation
lp`): sums.csv has for each lambda the optimum of both, how far the marginals of test nodes are from the exact ones of
the same weights, and wrong nodes by the likeliest states.
"""

import json
import random
import sys

import runs

ROWS, COLUMNS, COUNTS, NOISE, AGREE = 3, 8, {'train': 100, 'test': 200}, 1.0, 0.8
LAMBDAS = (1, 0.1, 0.01, 0.001)


def pictures(count, seed):
    """Lines of grids with two states: cells are mostly like the one beside or above them, and seen with noise."""
    rng = random.Random(seed)
    for _ in range(count):
        labels = []
        for cell in range(ROWS * COLUMNS):
            before = [cell - 1] * (cell % COLUMNS > 0) + [cell - COLUMNS] * (cell >= COLUMNS)
            same = before and rng.random() < AGREE
            labels.append(labels[rng.choice(before)] if same else rng.randrange(2))
        nodes = [{'label': y, 'features': {'x': round(rng.gauss(y, NOISE), 3), 'one': 1}} for y in labels]
        pairs = [[c, c + 1] for c in range(len(labels)) if c % COLUMNS < COLUMNS - 1]
        pairs += [[c, c + COLUMNS] for c in range(len(labels) - COLUMNS)]
        yield json.dumps({'states': 2, 'nodes': nodes, 'factors': [{'nodes': pair} for pair in pairs]})


def marginals(data, model, inference):
    """[probability of state 1 of each test node], [whether it is right]."""
    data._call('predict', '--marginals', '--inference', inference, data.test, model, data.folder / 'predicted')
    with open(data.folder / 'predicted') as lines:
        nodes = [pair for line in map(json.loads, lines) for pair in zip(line['marginals'], line['nodes'], strict=True)]
    return [found['1'] for found, _ in nodes], [node['label'] for _, node in nodes]


def wrong(chances, labels):
    return round(100 * sum((p > 0.5) != y for p, y in zip(chances, labels, strict=True)) / len(labels), 2)


def compare(data):
    rows = []
    for lam in LAMBDAS:
        rows.append({'lambda': lam})
        for name, relaxation in (('exact', 'none'), ('trees', 'lp')):
            words = ('--objective', 'log', '--solver', 'lbfgs', '--rel-gap', 1e-5, '--relaxation', relaxation)
            log = data._logged(*words, '--lambda', lam, data.train, data.folder / name)
            rows[-1] |= {f'{name}_primal': round(log[-1]['primal'], 4), f'{name}_dual': round(log[-1]['dual'], 4)}
        for name in ('exact', 'trees'):
            exact, labels = marginals(data, data.folder / name, 'exact')
            bound, _ = marginals(data, data.folder / name, 'tree-reweighted')
            off = [abs(a - b) for a, b in zip(exact, bound, strict=True)]
            rows[-1] |= {f'{name}_off': round(sum(off) / len(off), 4), f'{name}_most_off': round(max(off), 4)}
            rows[-1] |= {f'{name}_wrong': wrong(exact if name == 'exact' else bound, labels)}
        print(', '.join(f'{key} {value}' for key, value in rows[-1].items()), flush=True)
    return rows


def main(arguments):
    given = runs.program.parser(__doc__).parse_args(arguments)
    folder = given.folder / 'sums'
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (part, count) in enumerate(COUNTS.items(), 1):
        (folder / f'{part}.jsonl').write_text(''.join(f'{line}\n' for line in pictures(count, seed)))
    runs.program.write(given.folder / 'sums.csv', compare(runs.Set(given.ssvm, folder)))


if __name__ == '__main__':
    main(sys.argv[1:])
