"""Excessive gap reduction on handwritten digits: the gap of every iteration beside its bound, and the iterations that a
tolerance takes over two decades of lambda and epsilon. CSV, and a picture where matplotlib is installed."""

import argparse
import csv
import gzip
import math
import os
import subprocess
import sys
from pathlib import Path

EXAMPLES, LABELS = 600, 10
LAMBDAS = (1000, 100, 10)  # times n
EPSILONS = (1.0, 0.1, 0.01)
PASSES = 4000
RUNS = {
    'excessive-gap': ('--solver', 'excessive-gap'),
    'excessive-gap, adaptive': ('--solver', 'excessive-gap', '--set', 'adaptive=true'),
    'eg-batch': ('--solver', 'eg-batch'),
}


def prepare(source, target):
    """The first digits in svmlight format; max ||x||^2."""
    largest = 0.0
    with gzip.open(source, 'rt') as lines, target.open('w') as out:
        for line, _ in zip(lines, range(EXAMPLES), strict=False):
            digit, *pixels = map(float, line.split())
            largest = max(largest, sum(x * x for x in pixels))
            out.write(f'{int(digit)} ' + ' '.join(f'{k}:{x:g}' for k, x in enumerate(pixels, 1) if x) + '\n')
    return largest


def gaps(ssvm, options, lam, data, out):
    """[(pass, oracle calls, seconds, gap of the iterate, best gap so far)]; None where there is no such solver."""
    log = out / 'log.csv'
    log.unlink(missing_ok=True)
    words = [*options, '--task', 'multiclass', '--lambda', lam, '--rel-gap', 0, '--epsilon', EPSILONS[-1]]
    words += ['--max-passes', PASSES, '--gap-every', 1, '--threads', 1, '--log', log, data, out / 'model']
    done = subprocess.run([ssvm, 'train', '-q', *map(str, words)], capture_output=True, text=True)
    if done.returncode == 2 and 'unknown solver' in done.stderr:
        return None
    if done.returncode:
        sys.exit(done.stderr)
    rows = csv.DictReader(line for line in log.read_text().splitlines() if not line.startswith('#'))
    return [
        (
            int(row['pass']),
            int(row['oracle_calls']) // EXAMPLES,
            float(row['seconds']),
            float(row['primal_now']) - float(row['dual_now'] or row['dual']),
            float(row['gap']),
        )
        for row in rows
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--ssvm', default='ssvm')
    parser.add_argument('out', type=Path)
    o = parser.parse_args()
    source = Path(os.environ.get('SSVM_DATA', '../../../shared/data')) / 'usps' / 'zip.train.gz'
    if not source.exists():
        print(f'skipped: usps is not there ({source})')
        return
    o.out.mkdir(parents=True, exist_ok=True)
    data = o.out / 'digits.svm'
    norm2, curves, table = prepare(source, data), [], []
    for times_n in LAMBDAS:
        lam = times_n / EXAMPLES
        largest, bound = 2 * norm2 / lam, math.log(LABELS)  # L and D: two digits differ in two copies of x
        for name, options in RUNS.items():
            rows = gaps(o.ssvm, options, lam, data, o.out)
            if rows is None:
                print(f'{name}: this ssvm has no such solver')
                continue
            for k, calls, seconds, gap, best in rows:
                limit = 6 * bound * largest / ((k + 1) * (k + 2)) if name != 'eg-batch' else ''
                curves.append((name, times_n, k, calls, seconds, gap, best, limit))
            for epsilon in EPSILONS:
                steps = math.ceil(2 + math.sqrt(6 * bound * largest / epsilon)) if name != 'eg-batch' else ''
                first = next((row for row in rows if row[4] <= epsilon), None)
                table.append((name, times_n, epsilon, *(first[:3] if first else ('', '', '')), steps))
    write(o.out / 'gaps.csv', 'solver,lambda_n,pass,oracle_passes,seconds,gap,best_gap,bound', curves)
    write(o.out / 'iterations.csv', 'solver,lambda_n,epsilon,passes,oracle_passes,seconds,bound', table)
    plot(curves, o.out / 'gaps.png')


def write(path, header, rows):
    with path.open('w', newline='') as stream:
        csv.writer(stream).writerows([header.split(','), *rows])
    print(path)


def plot(curves, path):
    try:
        from matplotlib import pyplot
    except ImportError:
        return
    figure, axes = pyplot.subplots(1, len(LAMBDAS), figsize=(5 * len(LAMBDAS), 4), sharey=True)
    for axis, times_n in zip(axes, LAMBDAS, strict=True):
        for name in dict.fromkeys(row[0] for row in curves):
            mine = [row for row in curves if row[:2] == (name, times_n)]
            axis.loglog([row[3] for row in mine], [row[6] for row in mine], label=name)
            if name == 'excessive-gap':
                axis.loglog([row[3] for row in mine], [row[7] for row in mine], '--', label='bound')
        axis.set(title=f'lambda = {times_n}/n', xlabel='oracle passes', ylabel='duality gap')
        axis.legend()
    figure.savefig(path, dpi=120, bbox_inches='tight')
    print(path)


if __name__ == '__main__':
    main()
