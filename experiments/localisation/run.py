"""Objective and average precision against oracle calls for the methods of Figure 2b of Pillutla et al. (2018). CSV, and
a picture where matplotlib is installed.

A run of so many passes is a run of its own: the same order of examples, stopped earlier. What it has given is kept, so
that an experiment that was stopped goes on where it was.
"""

import argparse
import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

PASSES = (1, 2, 3, 5, 8, 12, 20, 30, 50)
WARMUP = 3  # passes of plain stochastic steps that svrg and sc-svrg begin with: one call of an example each, then two
LAMBDAS = (10, 1, 0.1, 0.01)  # times 1 / n
SMOOTHINGS = (0.01, 0.1, 1.0)  # mu, tuned on the development pictures like lambda
K = 5
SHOWN = (10, 20, 50)  # oracle calls per example, in the table
FOUND = 0.5  # overlap from which a cell counts as found
HEADER = ('calls', 'primal', 'dev_ap', 'test_ap', 'test_found', 'test_overlap')

METHODS = {
    'bcfw-wavg': ('bcfw', 'acceleration=false', 'steps=plain', 'average=true'),
    'bcfw, default': ('bcfw',),
    'sgd': ('sgd',),
}
SMOOTHED = {
    'svrg': ('svrg', 'shrink=1', 'planes=1'),
    'sc-svrg-const': ('sc-svrg', 'scheme=1', 'shrink=1', 'planes=1'),
    'sc-svrg-adapt': ('sc-svrg', 'scheme=2', 'patient=false', 'planes=1'),
}


def average_precision(scores, found):
    """Of one detection for each picture, ranked by score: the area under precision against recall, each precision the
    highest at that recall or beyond. found: whether it is right."""
    right = np.asarray(found, float)[np.argsort(-np.asarray(scores), kind='stable')]
    precision = right.cumsum() / np.arange(1, len(right) + 1)
    best = np.maximum.accumulate(precision[::-1])[::-1]
    return float((best * right).sum() / len(right))


def groups(path):
    """The losses of each group's candidates."""
    found = []
    with path.open() as stream:
        for line in stream:
            loss, qid, *_ = line.split(' ', 2)
            if not found or found[-1][0] != qid:
                found.append((qid, []))
            found[-1][1].append(float(loss))
    return [losses for _, losses in found]


class Experiment:
    """Runs in a folder that prepare.py has filled."""

    def __init__(self, ssvm, folder):
        self.ssvm, self.folder = ssvm, folder
        self.losses = {part: groups(folder / f'{part}.rank') for part in ('val', 'test')}
        self.n = len(groups(folder / 'train.rank'))

    def call(self, command, *words):
        done = subprocess.run([self.ssvm, command, *map(str, words)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        return done.stdout

    def train(self, model, times, options, log=None):
        words = ['-q', '--lambda', times / self.n, '--threads', 1, *options, *(('--log', log) if log else ())]
        self.call('train', *words, self.folder / 'train.rank', model)

    def quality(self, model, part):
        """(average precision, share of cells found, mean overlap) on a part."""
        rows = [
            line.split() for line in self.call('predict', '--scores', self.folder / f'{part}.rank', model).splitlines()
        ]
        chosen = [losses[int(row[0]) - 1] for losses, row in zip(self.losses[part], rows, strict=True)]
        found = [1 - loss >= FOUND for loss in chosen]
        return (
            average_precision([float(row[1]) for row in rows], found),
            float(np.mean(found)),
            1 - float(np.mean(chosen)),
        )

    def curve(self, name, times, solver, settings, warmup=0):
        """Rows as HEADER has them, for a growing number of passes."""
        kept = self.folder / f'{name}.csv'
        if not kept.exists():
            rows = []
            model, log = self.folder / 'model', self.folder / 'log.csv'
            for calls in PASSES:
                passes = calls
                options = ['--solver', solver, *(word for pair in settings for word in ('--set', pair))]
                if warmup and calls > warmup:
                    passes = warmup + (calls - warmup + 1) // 2
                log.unlink(missing_ok=True)
                self.train(model, times, [*options, '--no-certificate', '--max-passes', passes], log)
                with log.open(newline='') as stream:
                    last = list(csv.DictReader(line for line in stream if not line.startswith('#')))[-1]
                row = [int(last['oracle_calls']) / self.n, float(last['primal']), self.quality(model, 'val')[0]]
                rows.append([*row, *self.quality(model, 'test')])
            write(kept, HEADER, rows)
        with kept.open(newline='') as stream:
            return [[float(cell) for cell in row] for row in list(csv.reader(stream))[1:]]

    def choose_lambda(self):
        """The multiple of 1 / n with the best average precision of the development pictures."""
        best = None
        for times in LAMBDAS:
            model = self.folder / f'optimum-{times:g}'
            if not model.exists():
                self.train(model, times, ['--rel-gap', 0.001, '--max-passes', 2000])
            ap, found, overlap = self.quality(model, 'val')
            print(
                f'lambda = {times:g}/n: development AP {100 * ap:.1f}, found {100 * found:.1f} %, overlap {overlap:.3f}'
            )
            if best is None or ap > best[0]:
                best = ap, times
        return best[1]

    def optimum(self, times):
        """The dual bound."""
        words = ('--json', self.folder / 'train.rank', self.folder / f'optimum-{times:g}')
        return json.loads(self.call('gap', *words))['dual']


def curves_of(experiment, times):
    """{method: its curve}, mu of the smoothed ones by the average precision of the development pictures at the end."""
    curves = {name: experiment.curve(file_name(name), times, *split(options)) for name, options in METHODS.items()}
    for name, options in SMOOTHED.items():
        solver, settings = split(options)
        tried = {}
        for mu in SMOOTHINGS:
            more = (*settings, 'oracle=topk', f'K={K}', f'mu={mu:g}', f'warmup={WARMUP}')
            tried[mu] = experiment.curve(file_name(f'{name} mu {mu:g}'), times, solver, more, WARMUP)
        mu = max(tried, key=lambda mu: tried[mu][-1][2])
        print(f'{name}: mu = {mu:g}')
        curves[name] = tried[mu]
    return curves


def split(options):
    solver, *settings = options
    return solver, tuple(settings)


def file_name(name):
    return name.replace(',', '').replace(' ', '-')


def write(path, header, rows):
    with path.open('w', newline='') as stream:
        csv.writer(stream).writerows([header, *rows])


def at(curve, calls):
    """The last row with at most so many oracle calls per example; None where the first has more."""
    return next((row for row in reversed(curve) if row[0] <= calls * 1.02), None)


def write_table(path, curves, least):
    """Objective above the optimum and average precision at some numbers of oracle calls."""
    rows = []
    for name, curve in curves.items():
        points = [at(curve, calls) for calls in SHOWN]
        gaps = [f'{p[1] / least - 1:.3g}' if p else '' for p in points]
        rows.append([name, *gaps, *(f'{100 * p[3]:.1f}' if p else '' for p in points)])
    write(path, ['method', *(f'{what}_{calls}' for what in ('gap', 'ap') for calls in SHOWN)], rows)
    print(path)


def draw(path, curves, least):
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use('Agg')
    from matplotlib import pyplot

    figure, (gap, ap) = pyplot.subplots(1, 2, figsize=(12, 4.5), layout='constrained')
    for name, curve in curves.items():
        gap.loglog([row[0] for row in curve], [row[1] / least - 1 for row in curve], label=name)
        ap.semilogx([row[0] for row in curve], [100 * row[3] for row in curve], label=name)
    gap.set(xlabel='oracle calls per example', ylabel='objective / optimum - 1')
    ap.set(xlabel='oracle calls per example', ylabel='average precision of the test pictures, %')
    ap.legend()
    figure.savefig(path, dpi=100)
    print(path)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--ssvm', default='ssvm')
    parser.add_argument('out', type=Path)
    o = parser.parse_args(arguments)
    if not (o.out / 'train.rank').exists():
        print(f'skipped: prepare.py has not filled {o.out}')
        return
    experiment = Experiment(o.ssvm, o.out)
    times = experiment.choose_lambda()
    least = experiment.optimum(times)
    print(f'lambda = {times:g}/n, optimum: {least:.6g} at least', flush=True)
    curves = curves_of(experiment, times)
    write(o.out / 'curves.csv', ('method', *HEADER), [[name, *row] for name, curve in curves.items() for row in curve])
    write_table(o.out / 'table.csv', curves, least)
    draw(o.out / 'curves.png', curves, least)


if __name__ == '__main__':
    main(sys.argv[1:])
