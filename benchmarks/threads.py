"""One thread against two: elapsed seconds of a pass over the data (evaluation, objective and gradient of lbfgs), and of
whole processes of gap and predict, where reading the file is part of it.

Two processes that share nothing but the machine say what that allows, since its cores share their memory.
"""

import os
import statistics
import sys
from pathlib import Path

import data
import measure
import ours
import report
from tagging import times

EVALUATE = Path(__file__).resolve().with_name('evaluate_with_ssvm.py')
WANTED = 1.7
COPIES = 50  # of the test file, for predict
MORE = 10  # copies of the training file, for gap: starting and the model weigh less


def passes(folder):
    """{what: {threads: argv of a script that prints seconds}}."""
    path = folder / 'train.crfsuite'
    return {
        f'a pass: {name}': {
            threads: [sys.executable, EVALUATE, path, 'all', 1, objective, threads] for threads in (1, 2)
        }
        for name, objective in (('evaluation, hinge', 'hinge'), ('objective and gradient, log', 'log'))
    }


def processes(folder, n):
    """{what: {threads: argv}}."""
    model, train, test = folder / 'threads.model', folder / 'train.crfsuite', times(folder / 'test.crfsuite', COPIES)
    how = ('--objective', 'log', '--feature-set', 'observed', '--max-passes', 20)
    measure.run(ours.train(train, model, *how, lam=2 / n), cwd=folder)
    gaps = {
        f'ssvm gap, {measure.size_mb(data):.0f} MB': {
            threads: ours.command('gap', data, model, threads=threads) for threads in (1, 2)
        }
        for data in (train, times(train, MORE))
    }
    return gaps | {
        f'ssvm predict, {measure.size_mb(test):.0f} MB': {
            threads: ours.command('predict', test, model, os.devnull, threads=threads) for threads in (1, 2)
        },
    }


def seconds(what, usage):
    """Of the pass, which the script prints, or of the whole process."""
    return float(usage.stdout) if what.startswith('a pass') else usage.elapsed


def main(runs=5):
    folder = data.chunking()
    n = data.count_sentences(folder / 'train.txt')
    rows, facts, shown = [], [], []
    for what, argvs in (passes(folder) | processes(folder, n)).items():
        alone, beside, together = [], [], []
        for _ in range(runs):
            alone.append(measure.run(argvs[1], cwd=folder))
            together.append(measure.run(argvs[2], cwd=folder))
            beside += measure.at_once(argvs[1], 2, cwd=folder)
        one, two, each = (statistics.median(seconds(what, u) for u in usages) for usages in (alone, together, beside))
        # of runs that followed each other: the speed of a virtual machine changes from minute to minute
        factor = statistics.median(seconds(what, a) / seconds(what, b) for a, b in zip(alone, together, strict=True))
        rows.append([what, f'{one:.3f}', f'{two:.3f}', f'{factor:.2f}', f'{2 * one / each:.2f}'])
        facts.append(report.verdict(f'{factor:.2f}', f'{what}: {WANTED} times faster', factor >= WANTED) + '\n')
        shown += argvs.values()
    header = ['what', 'one thread, s', 'two, s', 'times faster', 'two processes at once: times the work']
    report.section('Threads', report.commands(*shown), report.table(header, rows), *facts)


if __name__ == '__main__':
    main()
