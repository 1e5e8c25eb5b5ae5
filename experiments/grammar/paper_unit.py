"""Table 5 with C and the steps of the paper's program, as CSV.

That program (svm_struct of 2004) minimises 1/2 |w|^2 + C sum of squared slacks: each slack is a feature of its own,
whose value is 1/sqrt(2 C). So its C = 1 is lambda = 1/(2 n). Algorithm 1 solves its quadratic program again after every
new constraint (--set every=1).
"""

import sys

from run import METHODS as OF_TABLE_5
from run import Method, tables

PCFG, *SVMS = OF_TABLE_5
STEPS = ('--set', 'every=1')
METHODS = [PCFG, *(Method(f'{one.name}, Algorithm 1', (*one.options, *STEPS), summed=True) for one in SVMS)]
SETS = {'wsj': (1,), 'gum': (1,)}


def main(arguments):
    tables(__doc__, arguments, METHODS, SETS, 'paper_unit')


if __name__ == '__main__':
    main(sys.argv[1:])
