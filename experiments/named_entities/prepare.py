"""300 sentences of the Spanish training set of CoNLL-2002 in five folds: FOLDER/K/train.txt and FOLDER/K/test.txt.

The paper does not say which 300 sentences it took; these are drawn at random, with a fixed seed, among those that have
a name and at most 60 words.
"""

import os
import random
import re
import sys
from itertools import groupby
from pathlib import Path

SENTENCES, FOLDS, LONGEST, SEED = 300, 5, 60, 2002
HERE = Path(__file__).resolve().parent


def source():
    root = Path(os.environ.get('SSVM_DATA') or HERE.parents[2] / 'shared' / 'data')
    path = root / 'conll2002_spanish' / 'esp.train'
    if not path.exists():
        sys.exit(f'skipped: data set conll2002_spanish is not there: {path} (SSVM_DATA says where the sets are)')
    return path


def sentences(path):
    """Lists of rows (word, part of speech, tag)."""
    with open(path, encoding='utf-8') as stream:
        for blank, lines in groupby(stream, key=lambda line: not line.strip()):
            if not blank:
                yield [line.split() for line in lines]


def shape(word):
    """Letters by case, digits and all else, without repetitions: `EFE-2` is X-d."""
    kinds = ''.join('X' if c.isupper() else 'x' if c.isalpha() else 'd' if c.isdigit() else c for c in word)
    return re.sub(r'(.)\1+', r'\1', kinds)


def columns(word, part_of_speech, tag):
    return f'{word.lower()} {word.lower()[-3:]} {shape(word)} {part_of_speech} {tag}\n'


def write(path, chosen):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('\n'.join(''.join(columns(*row) for row in rows) for rows in chosen), encoding='utf-8')


def main(folder):
    usable = [rows for rows in sentences(source()) if len(rows) <= LONGEST and any(row[2] != 'O' for row in rows)]
    chosen = random.Random(SEED).sample(usable, SENTENCES)
    for fold in range(FOLDS):
        write(folder / str(fold) / 'train.txt', [rows for k, rows in enumerate(chosen) if k % FOLDS != fold])
        write(folder / str(fold) / 'test.txt', chosen[fold::FOLDS])


if __name__ == '__main__':
    main(Path(sys.argv[1]))
