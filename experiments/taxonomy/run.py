"""Flat and taxonomic classes, trained for zero-one and for tree loss: Table 1 as CSV and (with matplotlib) a picture.

The figures of every run are kept in a file, so that an experiment that was stopped goes on where it was.
"""

import argparse
import csv
import json
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

METHODS = {
    'flat 0/1': ('--flat', '--task-loss', 'zero-one'),
    'tax 0/1': ('--task-loss', 'zero-one'),
    'flat tree': ('--flat', '--task-loss', 'tree'),
    'tax tree': ('--task-loss', 'tree'),
}
BASE = 'flat 0/1'  # what the changes are from
LAMBDAS = (10, 1, 0.1, 0.01)  # times n
FIGURES = ('accuracy', 'tree_loss', 'class_accuracy', 'class_tree_loss')


def tree_loss(taxonomy):
    """loss(a, b): the height of the lowest node above both, in a tree."""
    up = {}
    for line in taxonomy.read_text().splitlines():
        child, parent, weight = line.split('\t')
        up[child] = parent, float(weight)
    ways, heights = {}, defaultdict(float)
    for node in up:
        way, length = [node], 0.0
        while way[-1] in up:
            parent, weight = up[way[-1]]
            way.append(parent)
            length += weight
            heights[parent] = max(heights[parent], length)
        ways[node] = way

    def loss(a, b):
        return heights[next(node for node in ways[a] if node in ways[b])]

    return loss


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f'exit {done.returncode} from {" ".join(map(str, words))}\n{done.stderr}')


def labels(path):
    return [line.split()[0] for line in path.read_text().splitlines()]


def figures(ssvm, train, method, lambda_n):
    """Those of measure(), which are kept."""
    kept = train.parent / 'runs' / f'{train.stem}-{method.replace(" ", "-").replace("/", "")}-{lambda_n}.json'
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        found = measure(ssvm, train, method, lambda_n)
        kept.write_text(json.dumps(found))
    return json.loads(kept.read_text())


def measure(ssvm, train, method, lambda_n):
    """Accuracy in % and mean tree loss of held-out and of test examples, and the means of those of the classes."""
    folder = train.parent
    model, taxonomy, found = folder / 'model', folder / 'taxonomy', folder / 'found'
    call(ssvm, 'train', '-q', '--threads', 1, '--require-gap', '--max-passes', 10000, '--taxonomy', taxonomy,
         *METHODS[method], '--lambda', lambda_n / len(labels(train)), train, model)  # fmt: skip
    loss, out = tree_loss(taxonomy), {}
    for part in ('held', 'test'):
        data = folder / f'{part}.svm'
        call(ssvm, 'predict', '-q', '--threads', 1, data, model, found)
        losses = defaultdict(list)
        for right, said in zip(labels(data), labels(found), strict=True):
            losses[right].append(loss(right, said))
        every = [one for mine in losses.values() for one in mine]
        out[part] = {
            'accuracy': share(every),
            'tree_loss': statistics.mean(every),
            'class_accuracy': statistics.mean(map(share, losses.values())),
            'class_tree_loss': statistics.mean(map(statistics.mean, losses.values())),
        }
    return out


def share(losses):
    """Right ones in %."""
    return 100 * losses.count(0) / len(losses)


def compare(ssvm, folder, size):
    """Rows of the table for the training sets of a size: with the lambda whose mean tree loss of held-out examples is
    the smallest over all methods, and with that of each method."""
    trains = sorted(folder.glob(f'train-{size}-*.svm'))
    runs = {(m, x): [figures(ssvm, train, m, x) for train in trains] for m in METHODS for x in LAMBDAS}
    held = {key: statistics.mean(run['held']['tree_loss'] for run in found) for key, found in runs.items()}
    common = min(LAMBDAS, key=lambda x: sum(held[m, x] for m in METHODS))
    own = {m: min(LAMBDAS, key=lambda x: held[m, x]) for m in METHODS}
    rows = []
    for choice, chosen in (('common', dict.fromkeys(METHODS, common)), ('own', own)):
        for method, lambda_n in chosen.items():
            row = {'set': folder.name, 'size': size, 'choice': choice, 'method': method, 'lambda_n': lambda_n}
            for figure in FIGURES:
                values, base = ([run['test'][figure] for run in runs[m, chosen[m]]] for m in (method, BASE))
                row |= spread(figure, values)
                row |= spread(f'{figure}_change', [a - b for a, b in zip(values, base, strict=True)])
            rows.append(row)
    return rows


def spread(name, values):
    """Mean and standard deviation over the draws."""
    deviation = f'{statistics.stdev(values):.3f}' if len(values) > 1 else ''
    return {name: f'{statistics.mean(values):.3f}', f'{name}_sd': deviation}


def plot(path, rows):
    """Mean tree loss by training size; False where matplotlib is not there."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use('Agg')
    from matplotlib import pyplot

    sets = list(dict.fromkeys(row['set'] for row in rows))
    figure, axes = pyplot.subplots(1, len(sets), figsize=(4.5 * len(sets), 4), squeeze=False, layout='constrained')
    for axis, name in zip(axes[0], sets, strict=True):
        for method in METHODS:
            mine = [r for r in rows if (r['set'], r['choice'], r['method']) == (name, 'common', method)]
            axis.errorbar([r['size'] for r in mine], [float(r['tree_loss']) for r in mine],
                          [float(r['tree_loss_sd'] or 0) for r in mine], label=method, capsize=3)  # fmt: skip
        axis.set(title=name, xlabel='training examples of each class', ylabel='mean tree loss')
    axes[0][0].legend()
    figure.savefig(path, dpi=120)
    return True


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', type=Path, help='what prepare.py has made')
    parser.add_argument('--ssvm', default='ssvm')
    given = parser.parse_args(arguments)
    rows = []
    for folder in sorted(path.parent for path in given.folder.glob('*/taxonomy')):
        sizes = {path.stem.split('-')[1] for path in folder.glob('train-*.svm')}
        for size in sorted(sizes, key=lambda size: (not size.isdigit(), size.zfill(9))):
            new = compare(given.ssvm, folder, size)
            rows += new
            for r in new:
                print(f'{r["set"]}, {size} of each class, {r["choice"]} lambda {r["lambda_n"]}/n: {r["method"]}: '
                      f'accuracy {r["accuracy"]} +- {r["accuracy_sd"]}, '
                      f'tree loss {r["tree_loss"]} +- {r["tree_loss_sd"]}', flush=True)  # fmt: skip
    with open(given.folder / 'table1.csv', 'w', newline='') as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    if not plot(given.folder / 'table1.png', rows):
        print('no picture: matplotlib is not installed (the plot extra)', file=sys.stderr)


if __name__ == '__main__':
    main(sys.argv[1:])
