"""The problem that the scripts of this folder train on, as prepare.py has made it: which word depends on which."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # what the experiments share
import program

COMMON = ('--task', 'dependency', '--unlabelled', '--feature-set', 'observed')


def problem(objective):
    return program.Problem((*COMMON, '--objective', objective), '../train.conllx', '../test.conllx', 'dev_uas')


def parse(parser, arguments, name):
    """What a script was given. Its folder is one of its own in that of the treebank, as are the logs that it keeps."""
    given = parser.parse_args(arguments)
    given.folder /= name
    given.folder.mkdir(exist_ok=True)
    return given


def sentences(path):
    """Lists of rows, which are lists of the ten columns."""
    with open(path, encoding='utf-8') as stream:
        rows = []
        for line in stream:
            if line.strip():
                rows.append(line.rstrip('\n').split('\t'))
            elif rows:
                yield rows
                rows = []
        if rows:
            yield rows


def count(given):
    """The number of training examples."""
    return sum(1 for _ in sentences(given.folder / '../train.conllx'))
