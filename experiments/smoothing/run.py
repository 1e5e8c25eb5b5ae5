"""Smoothed variance-reduced gradients on named entities: objective and F1 against oracle calls for every method, and
what the smoothing mu and the K of the top-K oracle change. CSV, and pictures where matplotlib is installed.

The log of a finished run is kept, so that an experiment that was stopped goes on where it was.
"""

import argparse
import csv
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # what the experiments share
import conll2002

HERE = Path(__file__).resolve().parent
FILES = {'esp.train': 'train.txt', 'esp.testa': 'dev.txt'}
LAMBDAS = (1, 10)  # times n; mu and K are varied at the first
CALLS = 40  # oracle calls of a run, per example
WARMUP = 3  # passes of plain stochastic steps that svrg and sc-svrg begin with: one call of an example each, then two
SMOOTHINGS = (0.01, 0.1, 1.0, 10.0)
MOST = (2, 5, 10)  # K
STEPS = (0.001, 0.003, 0.01, 0.03, 0.1)  # fixed step sizes of sc-svrg-fixed
MU, K = 0.1, 5  # of sc-svrg-adapt and sc-svrg-fixed, and where only the other one is varied
REFERENCE_GAP, REFERENCE_PASSES = 1e-4, 400
SHOWN = (10, 20, 40)  # oracle calls in the tables

OTHERS = {
    'bcfw-wavg': ('bcfw', 'acceleration=false', 'steps=plain', 'average=true'),
    'bcfw, default': ('bcfw',),
    'sgd': ('sgd',),
}
SMOOTHED = {
    'svrg': ('svrg', 'shrink=1', 'planes=1'),
    'sc-svrg-const': ('sc-svrg', 'scheme=1', 'shrink=1', 'planes=1'),
    'sc-svrg-adapt': ('sc-svrg', 'scheme=2', 'patient=false', 'planes=1'),
}
FIXED = {
    'sc-svrg-fixed': ('sc-svrg', 'scheme=2', 'patient=false', 'adapt=false', 'planes=1')
}  # the paper's, its step tuned
TUNED = ('svrg', 'sc-svrg-const')  # whose mu is the one of SMOOTHINGS with the best F1


@dataclass(frozen=True)
class Run:
    """A method with its settings; mu and k only where it smooths, step only where that is fixed."""

    method: str
    mu: float | None = None
    k: int | None = None
    step: float | None = None

    @property
    def name(self):
        settings = (('mu', self.mu), ('k', self.k), ('step', self.step))
        words = [self.method, *(f'{key} {value:g}' for key, value in settings if value)]
        return re.sub(r'[^a-z0-9.]+', '-', ' '.join(words))

    @property
    def options(self):
        if self.mu is None:
            solver, *settings = OTHERS[self.method]
            passes = CALLS
        else:
            solver, *settings = {**SMOOTHED, **FIXED}[self.method]
            settings += ['oracle=topk', f'K={self.k}', f'mu={self.mu:g}', f'warmup={WARMUP}']
            settings += [f'step={self.step:g}'] if self.step else []
            passes = WARMUP + (CALLS - WARMUP) // 2
        return ['--solver', solver, *(word for pair in settings for word in ('--set', pair)), '--max-passes', passes]


class Experiment:
    """data: folder of the sentences, n of them for training; times: lambda times n, after which the folder of the logs
    is named."""

    def __init__(self, ssvm, data, n, times):
        self.ssvm, self.data, self.n, self.lam = ssvm, data, n, times / n
        self.out = data / f'lambda-{times:g}'
        self.out.mkdir(exist_ok=True)
        self.curves = {}
        limits = ['--rel-gap', REFERENCE_GAP, '--max-passes', REFERENCE_PASSES]
        last = self.log('reference', ['--solver', 'bcfw', *limits])[-1]
        self.least = float(last['dual'])  # the optimum, to within the reference's gap
        print(f'lambda = {times:g}/n, optimum: {self.least:.6g} to {float(last["primal"]):.6g}', flush=True)

    def log(self, name, options):
        """The rows of a run's log: of the one that was kept, or of a new run."""
        kept = self.out / f'{name}.csv'
        if not kept.exists():
            log = self.out / 'log.csv'
            log.unlink(missing_ok=True)
            words = [*options, '--objective', 'hinge', '--lambda', self.lam, '--template', HERE / 'template']
            words += ['--gap-every', 1, '--threads', 1, '--log', log, self.data / 'train.txt', self.out / 'model']
            done = subprocess.run([self.ssvm, 'train', '-q', *map(str, words)], capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            log.rename(kept)
        with kept.open(newline='') as stream:
            return list(csv.DictReader(line for line in stream if not line.startswith('#')))

    def curve(self, run):
        """[(oracle calls per example, seconds, objective less the optimum relative to it, F1)] of the best iterates."""
        if run not in self.curves:
            self.curves[run] = self._curve(run)
        return self.curves[run]

    def _curve(self, run):
        rows = self.log(run.name, [*run.options, '--no-certificate', '--dev', self.data / 'dev.txt'])
        points = [
            (
                int(row['oracle_calls']) / self.n,
                float(row['seconds']),
                float(row['primal']) / self.least - 1,
                float(row['dev_f1']),
            )
            for row in rows
        ]
        print(f'{run.name}: objective {points[-1][2]:.3g} above the optimum, F1 {100 * points[-1][3]:.2f}', flush=True)
        return points


def figure2(experiment):
    """{method: curve}, the smoothing tuned by F1, the fixed step by the objective."""
    runs = {name: Run(name) for name in OTHERS}
    for name in TUNED:
        choices = [Run(name, mu, K) for mu in SMOOTHINGS]
        runs[name] = max(choices, key=lambda run: experiment.curve(run)[-1][3])
        print(f'{name}: mu = {runs[name].mu:g}', flush=True)
    runs['sc-svrg-adapt'] = Run('sc-svrg-adapt', MU, K)
    runs['sc-svrg-fixed'] = min(fixed_steps().values(), key=lambda run: experiment.curve(run)[-1][2])
    print(f'sc-svrg-fixed: step = {runs["sc-svrg-fixed"].step:g}', flush=True)
    return {name: experiment.curve(run) for name, run in runs.items()}


def fixed_steps():
    """{step: Run}."""
    return {step: Run('sc-svrg-fixed', MU, K, step) for step in STEPS}


def figure3(experiment, choices):
    """{(method, parameter): curve} for choices, a function from a method to {parameter: Run}."""
    return {(m, value): experiment.curve(run) for m in SMOOTHED for value, run in choices(m).items()}


def at(curve, calls):
    """The last point with at most so many oracle calls per example; None where the first has more."""
    return next((point for point in reversed(curve) if point[0] <= calls * 1.02), None)


def write(path, header, rows):
    with path.open('w', newline='') as stream:
        csv.writer(stream).writerows([header, *rows])
    print(path)


def write_curves(path, names, curves):
    rows = [(*key, *point) for key, curve in curves.items() for point in curve]
    write(path, [*names, 'oracle_calls', 'seconds', 'objective_gap', 'dev_f1'], rows)


def write_table(path, names, curves):
    """Objective and F1 at some numbers of oracle calls."""
    header = [*names, *(f'{what}_{calls}' for calls in SHOWN for what in ('objective_gap', 'dev_f1')), 'seconds']
    rows = []
    for key, curve in curves.items():
        points = [at(curve, calls) for calls in SHOWN]
        cells = [cell for p in points for cell in ((f'{p[2]:.4g}', f'{100 * p[3]:.2f}') if p else ('', ''))]
        rows.append((*key, *cells, f'{curve[-1][1]:.1f}'))
    write(path, header, rows)


def draw(path, curves):
    """Objective gap and F1 against oracle calls, a row of pictures for each first key."""
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use('Agg')
    from matplotlib import pyplot

    firsts = list(dict.fromkeys(key[0] for key in curves))
    figure, axes = pyplot.subplots(len(firsts), 2, figsize=(12, 4.5 * len(firsts)), layout='constrained', squeeze=False)
    for (gap, f1), first in zip(axes, firsts, strict=True):
        for key, curve in curves.items():
            if key[0] == first:
                gap.semilogy([p[0] for p in curve], [p[2] for p in curve], label=str(key[1]))
                f1.plot([p[0] for p in curve], [100 * p[3] for p in curve], label=str(key[1]))
        gap.set(title=str(first), xlabel='oracle calls per example', ylabel='objective / optimum - 1')
        f1.set(title=str(first), xlabel='oracle calls per example', ylabel='F1 of the development set')
        f1.legend()
    figure.savefig(path, dpi=100)
    print(path)


def prepare(source, out):
    """Training and development sentences with the columns of the template; the number of training sentences."""
    chosen = {target: list(conll2002.sentences(source / name)) for name, target in FILES.items()}
    for target, sentences in chosen.items():
        conll2002.write(out / target, sentences)
    return len(chosen['train.txt'])


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--ssvm', default='ssvm')
    parser.add_argument('out', type=Path)
    o = parser.parse_args(arguments)
    source = conll2002.folder()
    if not source.exists():
        print(conll2002.missing(source))
        return
    o.out.mkdir(parents=True, exist_ok=True)
    n = prepare(source, o.out)
    experiments = {times: Experiment(o.ssvm, o.out, n, times) for times in LAMBDAS}
    by_method = {(times, name): curve for times, it in experiments.items() for name, curve in figure2(it).items()}
    first = experiments[LAMBDAS[0]]
    by_mu = figure3(first, lambda method: {mu: Run(method, mu, K) for mu in SMOOTHINGS})
    by_k = figure3(first, lambda method: {k: Run(method, MU, k) for k in MOST} if method != 'svrg' else {})
    by_step = {(times, step): it.curve(run) for times, it in experiments.items() for step, run in fixed_steps().items()}
    results = {
        'figure2': (['lambda_n', 'method'], by_method),
        'figure3a': (['method', 'mu'], by_mu),
        'figure3b': (['method', 'K'], by_k),
        'steps': (['lambda_n', 'step'], by_step),
    }
    for name, (names, curves) in results.items():
        write_curves(o.out / f'{name}.csv', names, curves)
        write_table(o.out / f'{name}-table.csv', names, curves)
        draw(o.out / f'{name}.png', curves)


if __name__ == '__main__':
    main(sys.argv[1:])
