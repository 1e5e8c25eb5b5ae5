"""Sets of labels as LIBSVM multilabel files: FOLDER/SET/train.ml, held.ml (a fifth of the training examples, for the
choice of lambda) and test.ml, of Yeast and of labels that are made up.

Those are drawn from a tree: a label is in the set with a chance that depends on one other label, its parent, and labels
that are there give some of their own words to the input, which has other words as well.
"""

import gzip
import os
import random
import sys
from pathlib import Path

LABELS, EXAMPLES, ATTRIBUTES, SEED = 100, 1000, 600, 2010
ALONE, BELOW = 0.015, 0.5  # chances of a label, without its parent and with it
OWN, GIVEN, OTHER = 8, 4, 10  # words of a label, how many of them it gives, and how many come by chance


def yeast():
    """(training, test) examples ({label}, {attribute: value}) of the Yeast set; None where it is not there."""
    root = Path(os.environ.get('SSVM_DATA') or Path(__file__).resolve().parents[3] / 'shared' / 'data')
    paths = [root / 'multilabel' / 'yeast' / name for name in ('yeast-train.arff.gz', 'yeast-test.arff')]
    missing = [path for path in paths if not path.exists()]
    if missing:
        print(
            f'skipped: data set yeast is not there: {missing[0]} (SSVM_DATA says where the sets are)', file=sys.stderr
        )
        return None
    return [list(arff(path, 14)) for path in paths]


def arff(path, labels):
    """The examples of a dense ARFF file whose last columns are labels."""
    with (gzip.open if path.suffix == '.gz' else open)(path, 'rt') as stream:
        lines = iter(stream)
        while not next(lines).lower().startswith('@data'):
            pass
        for line in lines:
            row = line.strip().split(',')
            if len(row) > labels:
                values = {k: float(text) for k, text in enumerate(row[:-labels], 1) if float(text)}
                yield {k for k, text in enumerate(row[-labels:], 1) if text.strip() == '1'}, values


def made_up():
    """(training, test) examples of labels that hang together in a tree."""
    rng = random.Random(SEED)
    parents = [None] + [rng.randrange(k) for k in range(1, LABELS)]
    words = range(1, ATTRIBUTES + 1)
    own = [rng.sample(words, OWN) for _ in range(LABELS)]

    def example():
        y, x = set(), set(rng.sample(words, OTHER))
        for k, parent in enumerate(parents):
            if rng.random() < (BELOW if parent in y else ALONE):
                y.add(k)
                x.update(rng.sample(own[k], GIVEN))
        return {k + 1 for k in y}, dict.fromkeys(sorted(x), 1)

    return [[example() for _ in range(EXAMPLES)] for _ in range(2)]


def write(path, examples):
    with open(path, 'w') as stream:
        for labels, values in examples:
            pairs = ' '.join(f'{index}:{value:g}' for index, value in values.items())
            stream.write(f'{",".join(map(str, sorted(labels)))} {pairs}\n')


def main(folder):
    for name, made in (('yeast', yeast()), ('made-up', made_up())):
        if made is None:
            continue
        train, test = made
        (folder / name).mkdir(parents=True, exist_ok=True)
        write(folder / name / 'train.ml', [example for k, example in enumerate(train) if k % 5])
        write(folder / name / 'held.ml', train[::5])
        write(folder / name / 'test.ml', test)


if __name__ == '__main__':
    main(Path(sys.argv[1]))
