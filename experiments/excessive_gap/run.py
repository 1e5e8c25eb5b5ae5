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
EPSILONS = (0.1, 0.01, 0.001)
PASSES = 20000
RUNS = {
    'excessive-gap': ('--solver', 'excessive-gap'),
    'excessive-gap, adaptive': ('--solver', 'excessive-gap', '--set', 'adaptive=true'),
    'eg-batch': ('--solver', 'eg-batch'),
    'eg-batch, step 1/L': ('--solver', 'eg-batch', '--set', 'step={step}'),
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


def gap_bound(name, k, size):
    """What the paper promises after pass k, size = D L."""
    return 6 * size / ((k + 1) * (k + 2)) if name.startswith('excessive-gap') else ''


def pass_bound(name, epsilon, size):
    """The passes that are enough: for a gap of epsilon, or with EG for a dual that is epsilon below its maximum."""
    if name.startswith('excessive-gap'):
        return math.ceil(2 + math.sqrt(6 * size / epsilon))
    return math.ceil(size / epsilon) if '1/L' in name else ''


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--ssvm', default='ssvm')
    parser.add_argument('out', type=Path)
    o = parser.parse_args()
    source = Path(os.environ.get('SSVM_DATA') or '../../../shared/data') / 'usps' / 'zip.train.gz'
    if not source.exists():
        print(f'skipped: usps is not there ({source})')
        return
    o.out.mkdir(parents=True, exist_ok=True)
    data = o.out / 'digits.svm'
    norm2, curves, table = prepare(source, data), [], []
    for times_n in LAMBDAS:
        lam = times_n / EXAMPLES
        largest, entropy = 2 * norm2 / lam, math.log(LABELS)  # L and D: two digits differ in two copies of x
        for name, options in RUNS.items():
            rows = gaps(o.ssvm, [word.format(step=1 / largest) for word in options], lam, data, o.out)
            if rows is None:
                print(f'{name}: this ssvm has no such solver')
                continue
            limits = [gap_bound(name, k, entropy * largest) for k, *_ in rows]
            curves += [(name, times_n, *row, limit) for row, limit in zip(rows, limits, strict=True)]
            if name == 'excessive-gap':
                share = max(row[3] / limit for row, limit in zip(rows, limits, strict=True))
                print(f'{name}, lambda = {times_n}/n: at most {share:.3f} of the bound in {len(rows)} passes')
            for epsilon in EPSILONS:
                first = next((row for row in rows if row[4] <= epsilon), None)
                found = first[:3] if first else ('', '', '')
                table.append((name, times_n, epsilon, *found, pass_bound(name, epsilon, entropy * largest)))
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
    figure, axes = pyplot.subplots(1, len(LAMBDAS), figsize=(5 * len(LAMBDAS), 4.5), sharey=True, layout='constrained')
    for axis, times_n in zip(axes, LAMBDAS, strict=True):
        for name in dict.fromkeys(row[0] for row in curves):
            mine = [row for row in curves if row[:2] == (name, times_n)]
            axis.loglog([row[3] for row in mine], [row[6] for row in mine], label=name)
            if name == 'excessive-gap':
                axis.loglog([row[3] for row in mine], [row[7] for row in mine], '--', label='bound')
        axis.set(title=f'lambda = {times_n}/n', xlabel='oracle passes', ylabel='duality gap')
    figure.legend(*axis.get_legend_handles_labels(), loc='outside lower center', ncols=len(RUNS) + 1)
    figure.savefig(path, dpi=120)
    print(path)


if __name__ == '__main__':
    main()
