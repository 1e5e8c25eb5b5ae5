"""Runs of the program whose logs are kept, and tables: what experiments with many runs have in common."""

import argparse
import csv
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Problem:
    """What all runs of an experiment train on.

    options : of every run
    train, test : names of the files in its folder
    score : the column of the log with the score of the test data, from 0 to 1
    """

    options: tuple
    train: str
    test: str
    score: str


def parser(description):
    made = argparse.ArgumentParser(description=description)
    made.add_argument('folder', type=Path, help='what prepare.py has made')
    made.add_argument('--ssvm', default='ssvm')
    return made


def log_of(problem, ssvm, folder, name, options):
    """The rows of the log of a run, with numbers for text. A run is made once: its log is kept as runs/NAME.csv."""
    kept = folder / 'runs' / f'{re.sub(r"[^a-z0-9.]+", "-", name.lower())}.csv'
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        partial = folder / 'log.csv'
        partial.unlink(missing_ok=True)
        files = ('--dev', folder / problem.test, '--log', partial, folder / problem.train, folder / 'model')
        words = [str(word) for word in (ssvm, 'train', '-q', '--threads', 1, *problem.options, *options, *files)]
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
