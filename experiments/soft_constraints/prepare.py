"""Training and test data: FOLDER/SET/train.* and test.*, where SET is yeast, rcv1, rcv1-300 (the first training
examples of rcv1) or grids; and FOLDER/yeast/parts/SIZE-DRAW.ml, samples of its training data.

Of rcv1subset1 the 30 most frequent labels are kept; its 6000 examples are split at random. A data set that is absent is
skipped, by its name. Grids are those of examples/grids, but larger.
"""

import importlib.util
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import runs

REPOSITORY = Path(__file__).resolve().parents[2]
LABELS, TRAINING, FEW, SEED = 30, 5000, 300, 2015
SIZES = {50: 3, 100: 3, 200: 3, 400: 2, 800: 1}  # of parts of yeast's training data, with the number of draws
SIDE, PICTURES = 10, {'train': 100, 'test': 100}


def source(*names):
    root = Path(os.environ.get('SSVM_DATA') or REPOSITORY.parent / 'shared' / 'data')
    path = root.joinpath('multilabel', *names)
    if not path.exists():
        raise FileNotFoundError(f'data set {names[0]} is not there: {path} (SSVM_DATA says where the sets are)')
    return path


def converted(ssvm, path, made):
    """The lines of an ARFF file as LIBSVM multilabel."""
    made.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([ssvm, 'convert', '-q', path, made], check=True)
    return made.read_text().splitlines()


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(''.join(f'{line}\n' for line in lines))


def yeast(ssvm, folder):
    names = {'train': 'yeast-train.arff.gz', 'test': 'yeast-test.arff'}
    parts = {part: converted(ssvm, source('yeast', name), folder / f'{part}.ml') for part, name in names.items()}
    for size, draws in SIZES.items():
        for draw in range(draws):
            chosen = random.Random(f'{SEED} {size} {draw}').sample(parts['train'], size)
            write(folder / 'parts' / f'{size}-{draw}.ml', chosen)


def most_frequent(lines, count):
    """The lines without labels that are not among so many most frequent ones."""
    rows = [line.partition(' ')[::2] for line in lines]
    counts = Counter(label for labels, _ in rows for label in labels.split(',') if label)
    kept = set(sorted(counts, key=lambda label: (-counts[label], label))[:count])
    return [f'{",".join(label for label in labels.split(",") if label in kept)} {rest}' for labels, rest in rows]


def rcv1(ssvm, folder):
    lines = converted(ssvm, source('rcv1subset1', 'rcv1subset1500.arff.gz'), folder / 'test.ml')
    lines = most_frequent(lines, LABELS)
    random.Random(SEED).shuffle(lines)
    for made, size in ((folder, TRAINING), (folder.with_name(f'rcv1-{FEW}'), FEW)):
        write(made / 'train.ml', lines[:size])
        write(made / 'test.ml', lines[TRAINING:])


def grids(_, folder):
    spec = importlib.util.spec_from_file_location('generate', REPOSITORY / 'examples' / 'grids' / 'generate.py')
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    generate.SIDE = SIDE
    for seed, (part, count) in enumerate(PICTURES.items(), 1):
        write(folder / f'{part}.jsonl', generate.pictures(count, seed))


def main(arguments):
    given = runs.program.parser(__doc__).parse_args(arguments)
    for make in (yeast, rcv1, grids):
        try:
            make(given.ssvm, given.folder / make.__name__)
        except FileNotFoundError as missing:
            print(f'skipped: {missing}', file=sys.stderr)


if __name__ == '__main__':
    main(sys.argv[1:])
