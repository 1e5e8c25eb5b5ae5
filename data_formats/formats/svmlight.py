"""SVMlight and LIBSVM files: `LABEL INDEX:VALUE ... # comment`, one example a line."""

from functools import partial

from cython_ext.text.boundaries import after_line
from data_formats.parsing.reading import Reader, pair_parser
from data_formats.parsing.writing import PAIR_LABEL, write_label_lines, write_nbest_labels, write_pairs

NAME = 'svmlight'
DESCRIPTION = 'SVMlight, LIBSVM: LABEL INDEX:VALUE ..., one example a line'
EXTENSIONS = ('.svm', '.svmlight', '.libsvm', '.light')
TASKS = ('multiclass',)
VALUES = True
NUMBERS = True
LABEL = PAIR_LABEL


def reader(source, options, vocabularies):
    """How the file is read."""
    return Reader(after_line, partial(pair_parser, False, options, vocabularies))


def write(dataset, stream, names=None, zero_based=False):
    """Every token as a line, as data_formats.parsing.writing.write_pairs has it."""
    write_pairs(dataset, stream, names, sequences=False, zero_based=zero_based)


def write_predictions(block, labels, stream, extra_columns=None, headers=None):
    """One label a line, extra columns behind it."""
    write_label_lines(block, labels, stream, extra_columns, headers, separator=' ', parted=False)


def write_nbest(block, candidates, stream):
    """The candidates of each example, best first."""
    write_nbest_labels(block, candidates, stream)
