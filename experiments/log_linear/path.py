"""The regularisation path on the digits."""

import sys

import digits
import program
import regularisation_path

VALUES = 24


def main(arguments):
    given = program.parser(__doc__).parse_args(arguments)
    regularisation_path.run(digits.PROBLEM, given, digits.count(given.folder), VALUES)


if __name__ == '__main__':
    main(sys.argv[1:])
