"""300 sentences of the Spanish training set of CoNLL-2002 in five folds: FOLDER/K/train.txt and FOLDER/K/test.txt.

The paper does not say which 300 sentences it took; these are drawn at random, with a fixed seed, among those that have
a name and at most 60 words.
"""

import random
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # what the experiments share
import conll2002

SENTENCES, FOLDS, LONGEST, SEED = 300, 5, 60, 2002


def main(folder):
    source = conll2002.folder() / 'esp.train'
    if not source.exists():
        sys.exit(conll2002.missing(source))
    usable = [
        rows for rows in conll2002.sentences(source) if len(rows) <= LONGEST and any(row[2] != 'O' for row in rows)
    ]
    chosen = random.Random(SEED).sample(usable, SENTENCES)
    for fold in range(FOLDS):
        conll2002.write(folder / str(fold) / 'train.txt', [rows for k, rows in enumerate(chosen) if k % FOLDS != fold])
        conll2002.write(folder / str(fold) / 'test.txt', chosen[fold::FOLDS])


if __name__ == '__main__':
    main(Path(sys.argv[1]))
