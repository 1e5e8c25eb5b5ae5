"""The first digits of USPS in svmlight format, and logs of runs on them."""

import csv
import gzip
import os
import subprocess
import sys
from pathlib import Path

LABELS = 10


def source():
    """The file of the data set; leaves with one line where it is not there."""
    path = Path(os.environ.get('SSVM_DATA') or '../../../shared/data') / 'usps' / 'zip.train.gz'
    if not path.exists():
        print(f'skipped: usps is not there ({path})')
        sys.exit()
    return path


def prepare(target, examples):
    """Writes so many digits; max ||x||^2."""
    largest = 0.0
    with gzip.open(source(), 'rt') as lines, target.open('w') as out:
        for line, _ in zip(lines, range(examples), strict=False):
            digit, *pixels = map(float, line.split())
            largest = max(largest, sum(x * x for x in pixels))
            out.write(f'{int(digit)} ' + ' '.join(f'{k}:{x:g}' for k, x in enumerate(pixels, 1) if x) + '\n')
    return largest


def rows_of(ssvm, out, data, lam, *options):
    """The rows of the log of a run that is evaluated after every pass, with numbers for text."""
    log = out / 'log.csv'
    log.unlink(missing_ok=True)
    words = [ssvm, 'train', '-q', '--task', 'multiclass', '--lambda', lam, '--gap-every', 1, '--threads', 1, *options]
    done = subprocess.run(
        [str(word) for word in (*words, '--log', log, data, out / 'model')], capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(done.stderr)
    rows = csv.DictReader(line for line in log.read_text().splitlines() if not line.startswith('#'))
    return [{key: float(value) if value else None for key, value in row.items()} for row in rows]


def write(path, rows):
    with path.open('w', newline='') as stream:
        csv.writer(stream).writerows(rows)
    print(path)
