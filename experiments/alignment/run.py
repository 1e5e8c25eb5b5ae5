"""Synthetic alignments: error rates of the SVM and of a generative model by training size, and counts of constraints by
training size and epsilon, as CSV and (with matplotlib) a picture.

The figures of every run are kept in a file, so that an experiment that was stopped goes on where it was.
"""

import argparse
import csv
import json
import math
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # what the experiments share
sys.path.append(str(Path(__file__).resolve().parents[2] / 'examples'))
import program
from homologs import generate

SIZES = (1, 2, 4, 10, 20, 40, 80)
EPSILONS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
SAMPLES, TEST = 30, 500  # pairs of training and test sets, natives to test on
COUNTED = 10  # of the samples: in how many constraints are counted, which vary little
SIZE, EPSILON = 20, 0.1  # where the other one changes
# The paper's program minimises 1/2 |w|^2 + C sum of squared slacks: lambda = 1 / (2 n C). The numbers are C in half the
# mean of the squared slacks, lambda = 1 / C.
PROGRAM, PROGRAM_C = 'program', 0.01
CS = (PROGRAM, 0.01, 1, 3)
SVM = ('--slack-norm', 2, '--solver', 'n-slack')
GAP = -1.0  # of the generative model: of several values the one that does best on the test sets
LETTERS = ('all', 'related')  # whose frequencies the generative model has: of all sequences, or of natives and homologs
METHODS = (*(f'genmod_{letters}' for letters in LETTERS), *(f'svm_{C}' for C in CS))


def call(*words):
    words = [str(word) for word in words]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f'exit {done.returncode} from {" ".join(words)}\n{done.stderr}')


def over_samples(samples, measure, ssvm, folder, *setting):
    """What measure(ssvm, folder, *setting, sample) gives for each of the first so many samples, made once."""
    found = []
    for sample in range(samples):
        path = folder / 'runs' / f'{measure.__name__}-{"-".join(map(str, (*setting, sample)))}.json'
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(measure(ssvm, folder, *setting, sample)))
        found.append(json.loads(path.read_text()))
    return found


def data(folder, size, sample):
    """The training and the test file of a sample."""
    train, test = folder / 'train.fa', folder / 'test.fa'
    for path, count, seed in ((train, size, [sample, size]), (test, TEST, [sample, 0])):
        path.write_text('\n'.join(generate.examples(count, seed)) + '\n')
    return train, test


def lambda_of(size, C):
    return 1 / (2 * size * PROGRAM_C) if C == PROGRAM else 1 / C


def svm(ssvm, folder, size, C, sample):
    """Error rates of the SVM in % by column."""
    train, test = data(folder, size, sample)
    model = folder / 'model'
    call(ssvm, 'train', '-q', '--threads', 1, *SVM, '--lambda', lambda_of(size, C), '--rel-gap', 1e-4, train, model)
    return {f'{path.stem}_svm_{C}': error(ssvm, folder, model, path) for path in (train, test)}


def genmod(ssvm, folder, size, letters, sample):
    """Error rates of the generative model in % by column; its weights are put into a model that knows none."""
    train, test = data(folder, size, sample)
    model, text = folder / 'model', folder / 'model.tsv'
    call(ssvm, 'train', '-q', '--threads', 1, '--max-passes', 0, train, model)
    call(ssvm, 'convert', model, text)
    lines = train.read_text().splitlines()
    text.write_text(log_odds(text.read_text(), pairs_of(lines), frequencies(lines, letters)))
    call(ssvm, 'convert', text, model)
    return {f'{path.stem}_genmod_{letters}': error(ssvm, folder, model, path) for path in (train, test)}


def frequencies(lines, letters):
    """How often each letter occurs in the sequences of a file, or in all but the decoys."""
    sequences = zip(lines[::2], lines[1::2], strict=True)
    return Counter(''.join(line for head, line in sequences if letters == 'all' or not head.startswith('>decoy')))


def error(ssvm, folder, model, path):
    scores = folder / 'scores.json'
    call(ssvm, 'predict', '-q', '--threads', 1, '--metrics', scores, path, model, folder / 'predicted')
    return 100 * json.loads(scores.read_text())['error_rate']


def pairs_of(lines):
    """How often each pair of letters is aligned rightly in a file."""
    counts = Counter()
    for k, line in enumerate(lines):
        if line.startswith('>homolog'):
            start, other, steps = line.split()[2].split(':')
            i, j, native, homolog = int(start), int(other), lines[k - 1], lines[k + 1]
            for step in steps:
                if step in 'MS':
                    counts[native[i], homolog[j]] += 1
                i, j = i + (step != 'I'), j + (step != 'D')
    return counts


def log_odds(model, counts, frequencies):
    """The text of a model with the weights log P(a, b) / (P(a) P(b)) and GAP: Laplace estimates of the pairs of letters
    that are aligned rightly, and of all letters."""
    letters = generate.ALPHABET
    total = sum(counts.values()) + len(letters) ** 2
    joint = {(a, b): (counts[a, b] + 1) / total for a in letters for b in letters}
    single = {a: (frequencies[a] + 1) / (sum(frequencies.values()) + len(letters)) for a in letters}
    head = model.split('\nsubstitute\t')[0]
    labels = json.dumps(list(letters))
    head = '\n'.join(f'# labels: {labels}' if line.startswith('# labels:') else line for line in head.split('\n'))
    rows = [f'substitute\t{a}\t{b}\t{math.log(p / (single[a] * single[b]))!r}' for (a, b), p in joint.items()]
    return '\n'.join([head, *rows, f'gap\tany\t-\t{GAP}', 'end\t-\t-\t0']) + '\n'


def constraints(ssvm, folder, size, epsilon, sample):
    """How many are in the working sets in the end, by the paper's program: Algorithm 1 in its own unit of C."""
    train, _ = data(folder, size, sample)
    log = folder / 'log.csv'
    log.unlink(missing_ok=True)
    steps = ('--set', f'epsilon={epsilon}', '--set', 'every=1', '--rel-gap', 0)
    how = ('--lambda', lambda_of(size, PROGRAM), *steps, '--log', log)
    call(ssvm, 'train', '-q', '--threads', 1, *SVM, *how, train, folder / 'svm.model')
    with open(log, newline='') as stream:
        return float(list(csv.DictReader(line for line in stream if not line.startswith('#')))[-1]['constraints'])


def spread(name, values):
    """Mean and standard error over the samples."""
    error = f'{statistics.stdev(values) / math.sqrt(len(values)):.2f}' if len(values) > 1 else ''
    return {name: f'{statistics.mean(values):.2f}', f'{name}_se': error}


def table4(ssvm, folder):
    rows = []
    for size in SIZES:
        wanted = [(genmod, ssvm, folder, size, letters) for letters in LETTERS]
        wanted += [(svm, ssvm, folder, size, C) for C in CS]
        runs = [over_samples(SAMPLES, *one) for one in wanted]
        row = {'n': size}
        for part in ('train', 'test'):
            for method, found in zip(METHODS, runs, strict=True):
                row |= spread(f'{part}_{method}', [one[f'{part}_{method}'] for one in found])
        rows.append(row)
        print(', '.join(f'{key} {value}' for key, value in row.items()), flush=True)
    return rows


def figure2(ssvm, folder):
    rows = []
    for size, epsilon in [*((n, EPSILON) for n in SIZES), *((SIZE, e) for e in EPSILONS if e != EPSILON)]:
        found = over_samples(COUNTED, constraints, ssvm, folder, size, epsilon)
        rows.append({'n': size, 'epsilon': epsilon, **spread('constraints', found)})
        print(', '.join(f'{key} {value}' for key, value in rows[-1].items()), flush=True)
    return rows


def plot(path, rows):
    """Constraints by size, and by epsilon."""
    pyplot = program.pyplot()
    if pyplot is None:
        return
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 4), layout='constrained')
    for axis, key, fixed in ((axes[0], 'n', ('epsilon', EPSILON)), (axes[1], 'epsilon', ('n', SIZE))):
        mine = sorted((row for row in rows if row[fixed[0]] == fixed[1]), key=lambda row: row[key])
        axis.errorbar(
            [row[key] for row in mine],
            [float(row['constraints']) for row in mine],
            [float(row['constraints_se'] or 0) for row in mine],
            capsize=3,
        )
        axis.set(xlabel=key, ylabel='constraints', title=f'{fixed[0]} = {fixed[1]}')
    axes[1].set_xscale('log')
    figure.savefig(path, dpi=120)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', type=Path, help='where figures are kept and tables are written')
    parser.add_argument('--ssvm', default='ssvm')
    given = parser.parse_args(arguments)
    program.write(given.folder / 'table4.csv', table4(given.ssvm, given.folder))
    rows = figure2(given.ssvm, given.folder)
    program.write(given.folder / 'figure2.csv', rows)
    plot(given.folder / 'figure2.png', rows)


if __name__ == '__main__':
    main(sys.argv[1:])
