"""A grammar by counting and by SVMs for zero-one and for F1 loss: Table 5 as CSV and (with matplotlib) a picture.

The figures of every run are kept in a file, so that an experiment that was stopped goes on where it was.
"""

import csv
import json
import resource
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # what the experiments share
import program

TAGS = ('--terminals', 'pos', '--threads', 1)
SVM2 = ('--solver', 'n-slack', '--set', 'epsilon=0.01', '--rel-gap', 0, '--slack-norm', 2)
SETS = {  # values of C in 1/2 |w|^2 + C/(2n) sum of squared slacks
    'wsj': (1, 10, 100, 1000, 10000),
    'wsj15': (100,),
    'gum': (1, 10, 100, 1000, 10000),
    'gum314': (100, 1000),
}
COUNTS = ('gold', 'found', 'right', 'complete', 'sentences', 'no_parse')


@dataclass(frozen=True)
class Method:
    """summed: whether C multiplies the sum of the squared slacks, and not half their mean."""

    name: str
    options: tuple
    summed: bool = False


METHODS = [
    Method('PCFG', ('--solver', 'counts', '--set', 'smoothing=1e-9')),
    Method('SVM2, zero-one', (*SVM2, '--task-loss', 'zero-one')),
    Method('SVM2 slack, F1', (*SVM2, '--task-loss', 'f1', '--rescale', 'slack')),
    Method('SVM2 margin, F1', (*SVM2, '--task-loss', 'f1', '--rescale', 'margin')),
]


def call(*words):
    """Run a command; the CPU seconds that it took."""
    before = cpu_seconds()
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f'exit {done.returncode} from {" ".join(map(str, words))}\n{done.stderr}')
    return cpu_seconds() - before


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def figures(ssvm, folder, method, constant):
    """Those of measure(), which are kept."""
    name = ''.join(letter if letter.isalnum() else '-' for letter in method.name.lower())
    kept = folder / 'runs' / f'{name}-{constant}.json'
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(json.dumps(measure(ssvm, folder, method, constant)))
    return json.loads(kept.read_text())


def measure(ssvm, folder, method, constant):
    """Counts of brackets and sentences of both parts; passes, constraints and CPU time of training."""
    model, log, metrics = folder / 'model', folder / 'log.csv', folder / 'metrics.json'
    sentences = len((folder / 'train.mrg').read_text().splitlines())
    lam = 1 / (2 * sentences * constant) if method.summed else 1 / constant
    options = (*TAGS, *method.options, '--lambda', lam, '--log', log)
    seconds = call(ssvm, 'train', '-q', *options, folder / 'train.mrg', model)
    with open(log, newline='') as stream:
        last = list(csv.DictReader(line for line in stream if not line.startswith('#')))[-1]
    found = {'passes': int(last['pass']), 'constraints': int(last.get('constraints') or 0), 'seconds': seconds}
    for part in ('train', 'test'):
        data = folder / f'{part}.mrg'
        call(ssvm, 'predict', '-q', '--threads', 1, '--metrics', metrics, data, model, folder / 'found.mrg')
        scores = json.loads(metrics.read_text())
        scores['complete'] = round(scores['complete_match'] * scores['sentences'])
        found[part] = {key: scores[key] for key in COUNTS}
    return found


def scores(folds, part):
    """In %, of the sums over some folds."""
    gold, found, right, complete, sentences, failed = (sum(fold[part][key] for fold in folds) for key in COUNTS)
    return {
        'accuracy': 100 * complete / sentences,
        'precision': 100 * right / found,
        'recall': 100 * right / gold,
        'f1': 200 * right / (gold + found),
        'no_parse': 100 * failed / sentences,
    }


def row(corpus, method, constant, draws, base):
    """Means over the draws, each a list of the figures of its folds; deviations of the test F1, and of how much it is
    above that of base."""
    runs = [fold for folds in draws for fold in folds]
    out = {'set': corpus, 'method': method.name, 'C': constant}
    for part in ('train', 'test'):
        every = [scores(folds, part) for folds in draws]
        out |= {f'{part}_{key}': f'{statistics.mean(one[key] for one in every):.2f}' for key in every[0]}
    tests, others = ([scores(folds, 'test')['f1'] for folds in those] for those in (draws, base))
    gains = [a - b for a, b in zip(tests, others, strict=True)]
    out['test_f1_gain'] = f'{statistics.mean(gains):.2f}'
    for name, values in (('test_f1', tests), ('test_f1_gain', gains)):
        out[f'{name}_sd'] = f'{statistics.stdev(values):.2f}' if len(values) > 1 else ''
    for key, places in (('passes', 1), ('constraints', 0), ('seconds', 2)):
        out[key] = f'{statistics.mean(run[key] for run in runs):.{places}f}'
    return out


def table(ssvm, folder, methods, constants):
    """The rows of a set, whose folder has a folder for each draw and in it one for each fold. constants: values of C,
    which does not matter to the first method; the others' gains are over that one."""
    rows, base = [], None
    draws = [sorted(path.parent for path in draw.glob('*/train.mrg')) for draw in sorted(folder.iterdir())]
    for method in methods:
        for constant in constants if method is not methods[0] else (1,):
            found = [[figures(ssvm, fold, method, constant) for fold in folds] for folds in draws]
            base = found if base is None else base
            rows.append(row(folder.name, method, constant, found, base))
            print(', '.join(f'{key} {value}' for key, value in rows[-1].items()), flush=True)
    return rows


def plot(path, rows):
    """F1 of the test parts by C, where matplotlib is there."""
    pyplot = program.pyplot()
    if pyplot is None:
        return
    sets = list(dict.fromkeys(row['set'] for row in rows))
    figure, axes = pyplot.subplots(1, len(sets), figsize=(5 * len(sets), 4), squeeze=False, layout='constrained')
    for axis, name in zip(axes[0], sets, strict=True):
        for method in METHODS:
            mine = [row for row in rows if (row['set'], row['method']) == (name, method.name)]
            values = [float(row['test_f1']) for row in mine]
            if method is METHODS[0]:
                axis.axhline(values[0], color='black', linestyle='--', label=method.name)
            else:
                axis.errorbar([row['C'] for row in mine], values, [float(row['test_f1_sd'] or 0) for row in mine],
                              label=method.name, marker='o', capsize=3)  # fmt: skip
        axis.set(title=name, xlabel='C', ylabel='F1 of the test part, %', xscale='log')
    axes[0][0].legend()
    figure.savefig(path, dpi=120)


def tables(description, arguments, methods, sets, name):
    """(folder, rows) of all sets that are there; the rows are written to a CSV file of that name."""
    given = program.parser(description).parse_args(arguments)
    folders = [given.folder / corpus for corpus in sets]
    rows = [row for path in folders if path.is_dir() for row in table(given.ssvm, path, methods, sets[path.name])]
    if not rows:
        sys.exit(f'{given.folder} has no treebank (prepare.py says why)')
    program.write(given.folder / f'{name}.csv', rows)
    return given.folder, rows


def main(arguments):
    folder, rows = tables(__doc__, arguments, METHODS, SETS, 'table5')
    plot(folder / 'table5.png', rows)


if __name__ == '__main__':
    main(sys.argv[1:])
