"""Runs of the program whose logs are kept, and tables: what experiments with many runs have in common."""

import argparse
import csv
import re
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CPU = '# CPU seconds: '  # begins the last line of a log that is kept


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
    """The rows of the log of a run, with numbers for text. A run is made once: its log is kept as runs/NAME.csv.

    The last row has cpu_seconds besides, those of the whole run: reading and evaluating as well as training.
    """
    kept = folder / 'runs' / f'{re.sub(r"[^a-z0-9.]+", "-", name.lower())}.csv'
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        partial = folder / 'log.csv'
        partial.unlink(missing_ok=True)
        files = ('--dev', folder / problem.test, '--log', partial, folder / problem.train, folder / 'model')
        words = [str(word) for word in (ssvm, 'train', '-q', '--threads', 1, *problem.options, *options, *files)]
        before = children_seconds()
        done = subprocess.run(words, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f'exit {done.returncode} from {" ".join(words)}\n{done.stderr}')
        with open(partial, 'a') as stream:
            stream.write(f'{CPU}{children_seconds() - before:.2f}\n')
        partial.replace(kept)
    with open(kept, newline='') as stream:
        lines = list(stream)
    rows = csv.DictReader(line for line in lines if not line.startswith('#'))
    rows = [{key: float(value) if value else None for key, value in row.items()} for row in rows]
    rows[-1]['cpu_seconds'] = float(lines[-1].removeprefix(CPU)) if lines[-1].startswith(CPU) else None
    return rows


def children_seconds():
    """CPU time of the programs that have been run so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def write(path, rows):
    with open(path, 'w', newline='') as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    print(path, flush=True)


def check_there(name, *paths):
    """Leave with one line where a file or folder of a data set is not there."""
    for path in paths:
        if not path.exists():
            sys.exit(f'skipped: data set {name} is not there: {path} (SSVM_DATA says where the sets are)')


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
