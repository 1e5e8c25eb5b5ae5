"""ssvm as the benchmarks call it: always through its command line, on one thread."""

import csv
import json
import os
import shutil
import sys
from pathlib import Path

READER = Path(__file__).resolve().with_name('read_with_ssvm.py')


def program():
    """$SSVM, or the ssvm of the Python that runs the benchmarks, or the one on PATH."""
    beside = Path(sys.executable).with_name('ssvm')
    found = os.environ.get('SSVM') or (beside if beside.exists() else shutil.which('ssvm'))
    if not found:
        sys.exit('benchmarks: no ssvm: install the package into the environment of this Python, or set SSVM')
    return found


def command(name, *words, threads=1):
    """The command line of a subcommand; words may be numbers and paths."""
    return [program(), name, '--quiet', '--threads', str(threads), *map(str, words)]


def train(data, model, *words, lam=None, **how):
    """`ssvm train` of a file to a model, with its log beside the model."""
    lam = () if lam is None else ('--lambda', f'{lam:.10g}')
    return command('train', *words, *lam, '--log', Path(model).with_suffix('.csv'), data, model, **how)


def read(data, *template):
    """Only reading, in the Python that runs the benchmarks."""
    return [sys.executable, READER, data, *template]


def log_rows(model):
    """The rows of the log beside a model, numbers as floats."""
    with open(Path(model).with_suffix('.csv'), newline='', encoding='utf-8') as stream:
        rows = csv.DictReader(line for line in stream if not line.startswith('#'))
        return [{key: float(value) if value else None for key, value in row.items()} for row in rows]


def load(path):
    return json.loads(Path(path).read_text(encoding='utf-8'))


def f1(metrics):
    """Chunk F1 in percent."""
    return 100 * metrics['chunks']['f1']


def error(metrics):
    """Wrong labels in percent."""
    return 100 * (1 - metrics['accuracy'])
