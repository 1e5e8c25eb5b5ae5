"""The Spanish treebank of CoNLL-2007 for projective parsing: FOLDER/train.conllx and FOLDER/test.conllx.

Sentences whose tree is not projective are left out of the training part. A number after FOLDER takes only so many
sentences of each part, for a quick look.
"""

import os
import sys
from itertools import islice
from pathlib import Path

import corpus

NAME = 'conll2007_spanish'


def source(part):
    root = Path(os.environ.get('SSVM_DATA') or Path(__file__).resolve().parents[3] / 'shared' / 'data')
    path = root / NAME / f'esp.{part}'
    if not path.exists():
        sys.exit(f'skipped: data set {NAME} is not there: {path} (SSVM_DATA says where the sets are)')
    return path


def projective(rows):
    """Whether no two arcs cross, that of the root from before the first word included."""
    arcs = [tuple(sorted((int(row[0]), int(row[6])))) for row in rows]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


def main(folder, examples=None):
    paths = {part: source(part) for part in ('train', 'test')}
    folder.mkdir(parents=True, exist_ok=True)
    for part, path in paths.items():
        usable = (rows for rows in corpus.sentences(path) if part == 'test' or projective(rows))
        with open(folder / f'{part}.conllx', 'w', encoding='utf-8') as out:
            for rows in islice(usable, examples):
                out.writelines('\t'.join(row) + '\n' for row in rows)
                out.write('\n')


if __name__ == '__main__':
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
