"""The regularisation path of the log-linear parser, each value from the dual point of the one before."""

import sys

import corpus
import program
import regularisation_path

VALUES = 21  # of C, those of Table 3: 1000 down to 0.798


def main(arguments):
    given = corpus.parse(program.parser(__doc__), arguments, 'path')
    n = corpus.count(given)
    regularisation_path.run(corpus.problem('log'), given, n, VALUES, methods=('EG',), ways=('warm',))


if __name__ == '__main__':
    main(sys.argv[1:])
