"""The MNIST digits as SVMlight files, pixels scaled to [0, 1]: FOLDER/train.svm and FOLDER/test.svm.

A number after FOLDER takes only so many examples of each part, for a quick look.
"""

import gzip
import os
import struct
import sys
from itertools import islice
from pathlib import Path

HERE = Path(__file__).resolve().parent
PARTS = {'train': 'train', 'test': 't10k'}
PIXEL = [f'{value / 255:.6g}' for value in range(256)]


def source(part, kind):
    root = Path(os.environ.get('SSVM_DATA') or HERE.parents[2] / 'shared' / 'data')
    path = root / 'mnist' / f'{PARTS[part]}-{kind}-ubyte.gz'
    if not path.exists():
        sys.exit(f'skipped: data set mnist is not there: {path} (SSVM_DATA says where the sets are)')
    return path


def digits(part):
    """Pairs of a label and the bytes of its image."""
    with gzip.open(source(part, 'images-idx3')) as images, gzip.open(source(part, 'labels-idx1')) as labels:
        count, rows, columns = struct.unpack('>4x3I', images.read(16))
        labels.read(8)
        for _ in range(count):
            yield labels.read(1)[0], images.read(rows * columns)


def main(folder, examples=None):
    sources = [source(part, kind) for part in PARTS for kind in ('images-idx3', 'labels-idx1')]
    assert all(sources)
    folder.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        with open(folder / f'{part}.svm', 'w') as out:
            for label, image in islice(digits(part), examples):
                out.write(f'{label} ' + ' '.join(f'{k}:{PIXEL[x]}' for k, x in enumerate(image, 1) if x) + '\n')


if __name__ == '__main__':
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
