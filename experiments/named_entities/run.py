"""Train and test every method on every fold, and write the two tables as CSV and (with matplotlib) as a picture.

The figures of a method on a fold are kept in a file, so that a run that was stopped goes on where it was.
"""

import argparse
import csv
import json
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy

HERE = Path(__file__).resolve().parent
POLY2 = ('--kernel', 'poly', '--degree', 2, '--gamma', 1, '--coef0', 1)
CUTS = ('--solver', 'n-slack', '--set', 'epsilon=0.01', '--rel-gap', 0, '--slack-norm', 2)
ZERO_ONE = ('--task-loss', 'zero-one')


@dataclass(frozen=True)
class Method:
    table: int
    name: str
    options: tuple
    template: str = 'template'


METHODS = [
    Method(2, 'HMM, words', ('--solver', 'counts', '--bias'), 'words.template'),
    Method(2, 'HMM, all attributes', ('--solver', 'counts', '--bias')),
    Method(2, 'CRF, linear', ('--objective', 'log', '--rel-gap', 1e-6)),
    Method(2, 'perceptron, linear', ('--solver', 'perceptron')),
    Method(2, 'perceptron, poly 2', ('--solver', 'perceptron', *POLY2)),
    Method(2, 'SVM1 margin, linear', ('--solver', 'bcfw')),
    Method(2, 'SVM1 margin, poly 2', ('--solver', 'bcfw', '--lambda', 1, *POLY2)),
    Method(2, 'SVM2, poly 2', (*CUTS, '--lambda', 1, *ZERO_ONE, *POLY2)),
    Method(3, 'SVM2, linear', (*CUTS, *ZERO_ONE)),
    Method(3, 'SVM2 slack, linear', (*CUTS, '--rescale', 'slack')),
    Method(3, 'SVM2 margin, linear', (*CUTS, '--rescale', 'margin')),
    Method(3, 'SVM2, poly 2', (*CUTS, '--lambda', 1, *ZERO_ONE, *POLY2)),
    Method(3, 'SVM2 slack, poly 2', (*CUTS, '--lambda', 1, '--rescale', 'slack', *POLY2)),
    Method(3, 'SVM2 margin, poly 2', (*CUTS, '--lambda', 1, '--rescale', 'margin', *POLY2)),
]
COLUMNS = {
    2: ('train_error', 'test_error'),
    3: ('train_error', 'test_error', 'constraints', 'support', 'average_loss'),
}


class NotOfferedError(Exception):
    """This ssvm refuses the combination, and says why."""


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode == 2:
        raise NotOfferedError(done.stderr.strip().splitlines()[-1])
    if done.returncode:
        sys.exit(f'exit {done.returncode} from {" ".join(map(str, words))}\n{done.stderr}')


def fold_figures(ssvm, method, folder):
    """Those of measure(), which are kept."""
    kept = folder / f'{re.sub(r"[^a-z0-9]+", "-", method.name.lower())}.json'
    if not kept.exists():
        figures = measure(ssvm, method, folder)
        kept.write_text(json.dumps(figures))
    return json.loads(kept.read_text())


def measure(ssvm, method, folder):
    """Error rates of tokens in %; of cutting planes also their constraints, and what support() says of them."""
    model, log, train = folder / 'model', folder / 'log.csv', folder / 'train.txt'
    call(ssvm, 'train', '-q', '--threads', 1, '--template', HERE / method.template, *method.options,
         '--log', log, train, model)  # fmt: skip
    figures = {}
    if 'n-slack' in method.options:
        figures['constraints'] = last_row(log)['constraints']
        figures['support'], figures['average_loss'] = support(model, train)
    for part in ('train', 'test'):
        metrics = folder / 'metrics.json'
        call(ssvm, 'predict', '-q', '--threads', 1, '--metrics', metrics,
             folder / f'{part}.txt', model, folder / 'tagged')  # fmt: skip
        figures[f'{part}_error'] = 100 * (1 - json.loads(metrics.read_text())['accuracy'])
    return figures


def support(model, train):
    """Outputs with a positive dual variable: their number, and how many labels are wrong in one of them on average."""
    with numpy.load(model) as arrays:
        ends = arrays['label_names.offsets']
        spelled = arrays['label_names.bytes'].tobytes()
        number = {spelled[a:b].decode(): k for k, (a, b) in enumerate(pairwise(ends))}
        outputs = numpy.split(arrays['dual.codes'], arrays['dual.code_indptr'][1:-1])
        first = arrays['dual.indptr']
    sentences = train.read_text(encoding='utf-8').strip().split('\n\n')
    losses = []
    for sentence, (a, b) in zip(sentences, pairwise(first), strict=True):
        right = numpy.array([number[line.split()[-1]] for line in sentence.splitlines()])
        losses += [int((output != right).sum()) for output in outputs[a:b]]
    losses = [loss for loss in losses if loss]
    return len(losses), statistics.mean(losses) if losses else 0


def last_row(log):
    with open(log, newline='') as stream:
        return list(csv.DictReader(line for line in stream if not line.startswith('#')))[-1]


def row(method, folds):
    """Means and standard deviations over the folds."""
    out = {'method': method.name}
    for column in COLUMNS[method.table]:
        values = [float(figures[column]) for figures in folds if figures.get(column) not in (None, '')]
        out[column] = f'{statistics.mean(values):.2f}' if values else ''
        out[f'{column}_sd'] = f'{statistics.stdev(values):.2f}' if len(values) > 1 else ''
    return out


def write_table(path, rows):
    with open(path, 'w', newline='') as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


def plot(path, rows):
    """Test errors as bars; False where matplotlib is not there."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use('Agg')
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 0.4 * len(rows) + 1), layout='constrained')
    axes.barh([r['method'] for r in rows], [float(r['test_error']) for r in rows],
              xerr=[float(r['test_error_sd'] or 0) for r in rows])  # fmt: skip
    axes.invert_yaxis()
    axes.set_xlabel('test error, % of tokens')
    figure.savefig(path, dpi=150)
    return True


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', type=Path, help='what prepare.py has made')
    parser.add_argument('--ssvm', default='ssvm')
    given = parser.parse_args(arguments)
    folds = sorted(path.parent for path in given.folder.glob('*/train.txt'))
    for table in (2, 3):
        rows = []
        for method in METHODS:
            if method.table != table:
                continue
            try:
                found = [fold_figures(given.ssvm, method, fold) for fold in folds]
            except NotOfferedError as reason:
                print(f'skipped: {method.name}: {reason}', file=sys.stderr)
                continue
            rows.append(row(method, found))
            shown = (f'{column} {rows[-1][column]} +- {rows[-1][column + "_sd"]}' for column in COLUMNS[table])
            print(f'table {table}: {method.name}: {", ".join(shown)}', flush=True)
        if rows:
            write_table(given.folder / f'table{table}.csv', rows)
            if not plot(given.folder / f'table{table}.png', rows):
                print('no picture: matplotlib is not installed (the plot extra)', file=sys.stderr)


if __name__ == '__main__':
    main(sys.argv[1:])
