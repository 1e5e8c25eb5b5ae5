"""Exponentiated gradient, L-BFGS and SGD on the log-linear parser."""

import sys

import corpus
import effective_passes
from effective_passes import Method

CS = (100, 10, 1)
METHODS = [
    Method('EG', ('--solver', 'eg', '--set', 'acceleration=false')),
    Method('L-BFGS', ('--solver', 'lbfgs')),
    Method('SGD, tuned step', ('--solver', 'sgd'), tuned=True),
]


def main(arguments):
    given = corpus.parse(effective_passes.parser(__doc__), arguments, 'log_linear')
    found = effective_passes.compare(corpus.problem('log'), given, METHODS, CS, corpus.count(given))
    effective_passes.write(given.folder, *found)


if __name__ == '__main__':
    main(sys.argv[1:])
