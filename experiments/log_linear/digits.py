"""The problem that the scripts of this folder train on, as prepare.py has made it."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # what the experiments share
import program

PROBLEM = program.Problem(('--task', 'multiclass', '--objective', 'log'), 'train.svm', 'test.svm', 'dev_accuracy')


def count(folder):
    """The number of training examples."""
    with open(folder / PROBLEM.train, 'rb') as stream:
        return sum(1 for _ in stream)
