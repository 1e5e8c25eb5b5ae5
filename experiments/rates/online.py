"""Batch against online exponentiated gradient with the step sizes that the proofs ask for: how many effective passes
each takes as the number of examples grows."""

import argparse
import math
from pathlib import Path

import digits

SIZES = (50, 100, 200, 400, 800)
C = 1000  # lambda n
EPSILONS = (1e-2, 1e-4)  # of the dual, relative to its maximum
PASSES = 20000


def steps(n, norm2):
    """(batch, online): 1 / (1 + n |A|) and 1 / (1 + |A|), |A| the largest inner product of two psi over C."""
    largest = 2 * norm2 / C
    return 1 / (1 + n * largest), 1 / (1 + largest)


def passes_to(rows, best, epsilon):
    """The first pass whose dual is within epsilon of its maximum, relative; None where there is none."""
    return next((int(row['pass']) for row in rows if row['dual'] >= best - epsilon * abs(best)), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--ssvm', default='ssvm')
    parser.add_argument('out', type=Path)
    o = parser.parse_args()
    digits.source()
    o.out.mkdir(parents=True, exist_ok=True)
    table = [('n', 'epsilon', 'batch', 'online', 'ratio')]
    for n in SIZES:
        data = o.out / f'{n}.svm'
        batch, online = steps(n, digits.prepare(data, n))
        how = ('--objective', 'log', '--rel-gap', 0, '--max-passes')
        best = digits.rows_of(o.ssvm, o.out, data, C / n, '--solver', 'eg', *how, 300)[-1]['dual']
        fixed = ('acceleration=false', 'anneal=1', 'growth=1', 'start=0', f'step={online!r}')
        run = {
            'batch': ('--solver', 'eg-batch', '--set', f'step={batch!r}', *how, PASSES),
            'online': ('--solver', 'eg', *(word for option in fixed for word in ('--set', option)), *how, 300),
        }
        rows = {name: digits.rows_of(o.ssvm, o.out, data, C / n, *options) for name, options in run.items()}
        for epsilon in EPSILONS:
            found = [passes_to(rows[name], best, epsilon) for name in ('batch', 'online')]
            ratio = found[0] / found[1] if all(found) else math.nan
            table.append((n, epsilon, *found, round(ratio, 1)))
            print(*table[-1])
    digits.write(o.out / 'online.csv', table)


if __name__ == '__main__':
    main()
