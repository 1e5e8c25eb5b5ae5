"""Exponentiated gradient, cutting planes and block-coordinate Frank-Wolfe on the max-margin parser."""

import sys

import corpus
import effective_passes
from effective_passes import Method

CS = (1000, 100, 10, 1)
METHODS = [Method(name, ('--solver', name)) for name in ('eg', 'n-slack', 'one-slack', 'bcfw')]


def main(arguments):
    given = corpus.parse(effective_passes.parser(__doc__), arguments, 'max_margin')
    found = effective_passes.compare(corpus.problem('hinge'), given, METHODS, CS, corpus.count(given))
    effective_passes.write(given.folder, *found)


if __name__ == '__main__':
    main(sys.argv[1:])
