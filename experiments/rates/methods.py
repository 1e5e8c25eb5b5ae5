"""Oracle passes of the specialised methods until the duality gap is small, over lambda and epsilon."""

import argparse
from pathlib import Path

import digits

EXAMPLES = 300
LAMBDAS = (100, 10, 1)  # times n
EPSILONS = (0.1, 0.01, 0.001)
PASSES = 5000
METHODS = {
    'BMRM': ('--solver', 'bmrm', '--set', 'rounds=0'),
    'SVM-struct': ('--solver', 'n-slack'),
    'SMO': ('--solver', 'smo'),
    'exponentiated gradient, batch': ('--solver', 'eg-batch'),
    'exponentiated gradient, online': ('--solver', 'eg', '--set', 'acceleration=false', '--set', 'anneal=1'),
    'extragradient': ('--solver', 'extragradient', '--set', 'planes=1000'),
    'excessive gap': ('--solver', 'excessive-gap'),
    'Frank-Wolfe, block-coordinate': (
        '--solver', 'bcfw', '--set', 'acceleration=false', '--set', 'steps=plain', '--set', 'average=true',
    ),
    'SVRG': ('--solver', 'svrg', '--set', 'planes=1'),
    'SC-SVRG': ('--solver', 'sc-svrg', '--set', 'planes=1'),
    'bcfw, as it comes': ('--solver', 'bcfw'),
    'sc-svrg, as it comes': ('--solver', 'sc-svrg'),
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--ssvm', default='ssvm')
    parser.add_argument('out', type=Path)
    o = parser.parse_args()
    digits.source()
    o.out.mkdir(parents=True, exist_ok=True)
    data = o.out / 'methods.svm'
    digits.prepare(data, EXAMPLES)
    table = [('method', 'lambda n', *EPSILONS)]
    for times_n in LAMBDAS:
        how = ('--rel-gap', 0, '--epsilon', EPSILONS[-1], '--max-passes', PASSES)
        for name, options in METHODS.items():
            rows = digits.rows_of(o.ssvm, o.out, data, times_n / EXAMPLES, *options, *how)
            found = (first(rows, epsilon) for epsilon in EPSILONS)
            table.append((name, times_n, *found))
            print(*table[-1], sep=', ', flush=True)
    digits.write(o.out / 'methods.csv', table)


def first(rows, epsilon):
    """Oracle calls, of an example on average, until the gap is at most epsilon; '' where that did not come."""
    return next((round(row['oracle_calls'] / EXAMPLES) for row in rows if row['gap'] <= epsilon), '')


if __name__ == '__main__':
    main()
