"""Label sets as LIBSVM multilabel lines: FOLDER/yeast/{train,test,train-SIZE-DRAW}.ml, FOLDER/rcv1/{train,test}.ml and
FOLDER/rcv1-1000/{train,test}.ml, which has the first thousand training examples of rcv1.

Of rcv1subset1 the 30 most frequent labels are kept; its 6000 examples are split at random. A set that is absent is
skipped, by its name.
"""

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import runs

LABELS, TRAINING, FEW, SEED = 30, 5000, 1000, 2015


def source(*names):
    root = Path(os.environ.get('SSVM_DATA') or Path(__file__).resolve().parents[3] / 'shared' / 'data')
    path = root.joinpath('multilabel', *names)
    if not path.exists():
        raise FileNotFoundError(f'data set {names[0]} is not there: {path} (SSVM_DATA says where the sets are)')
    return path


def converted(ssvm, path, folder):
    """The lines of an ARFF file as LIBSVM multilabel."""
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / 'converted.ml'
    subprocess.run([ssvm, 'convert', '-q', path, made], check=True)
    lines = made.read_text().splitlines()
    made.unlink()
    return lines


def write(path, lines):
    path.write_text(''.join(f'{line}\n' for line in lines))


def yeast(ssvm, folder):
    names = {'train': 'yeast-train.arff.gz', 'test': 'yeast-test.arff'}
    parts = {part: converted(ssvm, source('yeast', name), folder / 'yeast') for part, name in names.items()}
    for part, lines in parts.items():
        write(folder / 'yeast' / f'{part}.ml', lines)
    for size, draws in runs.SIZES.items():
        for draw in range(draws):
            chosen = random.Random(f'{SEED} {size} {draw}').sample(parts['train'], size)
            write(folder / 'yeast' / f'train-{size}-{draw}.ml', chosen)


def most_frequent(lines, count):
    """The lines without labels that are not among so many most frequent ones."""
    rows = [line.partition(' ')[::2] for line in lines]
    counts = Counter(label for labels, _ in rows for label in labels.split(',') if label)
    kept = set(sorted(counts, key=lambda label: (-counts[label], label))[:count])
    return [f'{",".join(label for label in labels.split(",") if label in kept)} {rest}' for labels, rest in rows]


def rcv1(ssvm, folder):
    lines = converted(ssvm, source('rcv1subset1', 'rcv1subset1500.arff.gz'), folder / 'rcv1')
    lines = most_frequent(lines, LABELS)
    random.Random(SEED).shuffle(lines)
    for name, size in (('rcv1', TRAINING), (f'rcv1-{FEW}', FEW)):
        (folder / name).mkdir(exist_ok=True)
        write(folder / name / 'train.ml', lines[:size])
        write(folder / name / 'test.ml', lines[TRAINING:])


def main(arguments):
    given = runs.program.parser(__doc__).parse_args(arguments)
    for make in (yeast, rcv1):
        try:
            make(given.ssvm, given.folder)
        except FileNotFoundError as missing:
            print(f'skipped: {missing}', file=sys.stderr)


if __name__ == '__main__':
    main(sys.argv[1:])
