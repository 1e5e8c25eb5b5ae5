"""Exponentiated gradient, L-BFGS and SGD on the digits, at four values of C."""

import sys

import digits
import effective_passes
from effective_passes import Method

CS = (1000, 100, 10, 1)
PLAIN = ('--solver', 'eg', '--set', 'acceleration=false')
METHODS = [
    Method('EG', PLAIN),
    Method('EG, steps of the paper', (*PLAIN, '--set', 'step=0.5', '--set', 'growth=1.05')),
    Method('EG, fixed order', (*PLAIN, '--set', 'order=fixed')),
    Method('EG, annealed', (*PLAIN, '--set', 'anneal=10')),
    Method('EG, accelerated', ('--solver', 'eg', '--set', 'acceleration=true')),
    Method('L-BFGS', ('--solver', 'lbfgs')),
    Method('SGD, tuned step', ('--solver', 'sgd'), tuned=True),
    Method('SGD, automatic step', ('--solver', 'sgd')),
]


def main(arguments):
    given = effective_passes.parser(__doc__).parse_args(arguments)
    n = digits.count(given.folder)
    effective_passes.write(given.folder, *effective_passes.compare(digits.PROBLEM, given, METHODS, CS, n))


if __name__ == '__main__':
    main(sys.argv[1:])
