"""Runs of the program whose logs are kept, and tables: what the scripts of this folder have in common."""

import argparse
import csv
import re
import subprocess
import sys
from pathlib import Path

COMMON = ('--threads', 1, '--task', 'multiclass', '--objective', 'log')


def parser(description):
    made = argparse.ArgumentParser(description=description)
    made.add_argument('folder', type=Path, help='what prepare.py has made')
    made.add_argument('--ssvm', default='ssvm')
    return made


def count(folder):
    """The number of training examples."""
    with open(folder / 'train.svm', 'rb') as stream:
        return sum(1 for _ in stream)


def log_of(ssvm, folder, name, options):
    """The rows of the log of a run, with numbers for text. A run is made once: its log is kept as runs/NAME.csv."""
    kept = folder / 'runs' / f'{re.sub(r"[^a-z0-9.]+", "-", name.lower())}.csv'
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        partial = folder / 'log.csv'
        partial.unlink(missing_ok=True)
        files = ('--dev', folder / 'test.svm', '--log', partial, folder / 'train.svm', folder / 'model')
        words = [str(word) for word in (ssvm, 'train', '-q', *COMMON, *options, *files)]
        done = subprocess.run(words, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f'exit {done.returncode} from {" ".join(words)}\n{done.stderr}')
        partial.replace(kept)
    with open(kept, newline='') as stream:
        rows = csv.DictReader(line for line in stream if not line.startswith('#'))
        return [{key: float(value) if value else None for key, value in row.items()} for row in rows]


def write(path, rows):
    with open(path, 'w', newline='') as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    print(path, flush=True)


def pyplot():
    """matplotlib's, or None where it is not installed."""
    try:
        import matplotlib
    except ImportError:
        print('no picture: matplotlib is not installed (the plot extra)', file=sys.stderr)
        return None
    matplotlib.use('Agg')
    from matplotlib import pyplot

    return pyplot
