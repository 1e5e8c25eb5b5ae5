"""Max-margin parsers of three task losses, and the log loss: F1 and time as CSV.

zero-one and F1 do not add up over the parts of a tree, the number of wrong and missed brackets does: it asks for one
best tree where F1 asks for one for each number of brackets, and exponentiated gradient can train with it.
"""

import sys

from run import METHODS as OF_TABLE_5
from run import Method, tables

GAP = ('--rel-gap', 0.01, '--max-passes', 100)
METHODS = [
    OF_TABLE_5[0],
    Method('zero-one, bcfw', ('--solver', 'bcfw', '--task-loss', 'zero-one', *GAP)),
    Method('F1, bcfw', ('--solver', 'bcfw', '--task-loss', 'f1', *GAP)),
    Method('brackets, bcfw', ('--solver', 'bcfw', '--task-loss', 'brackets', *GAP)),
    Method('brackets, eg', ('--solver', 'eg', '--task-loss', 'brackets', *GAP)),
    Method('log loss, eg', ('--solver', 'eg', '--objective', 'log', *GAP)),
]
SETS = {'wsj': (100, 1000, 10000), 'gum': (1000, 10000, 100000)}


def main(arguments):
    tables(__doc__, arguments, METHODS, SETS, 'losses')


if __name__ == '__main__':
    main(sys.argv[1:])
