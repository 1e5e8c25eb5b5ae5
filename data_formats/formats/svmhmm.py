"""svm_hmm files: `TAG qid:N INDEX:VALUE ... # comment`, one token a line, one qid for each sequence."""

from functools import partial

from cython_ext.text.boundaries import before_last_qid, last_qid
from data_formats.parsing.reading import Reader, pair_parser
from data_formats.parsing.writing import PAIR_LABEL, write_label_lines, write_nbest_labels, write_pairs

NAME = 'svmhmm'
DESCRIPTION = 'svm_hmm: TAG qid:N INDEX:VALUE ..., one token a line'
EXTENSIONS = ('.svmhmm', '.hmm')
TASKS = ('chain', 'multiclass')
VALUES = True
NUMBERS = True
LABEL = PAIR_LABEL
NEIGHBOURS = True


def reader(source, options, vocabularies):
    """How the file is read."""
    return Reader(before_last_qid, partial(pair_parser, True, options, vocabularies), last_qid)


def write(dataset, stream, names=None, zero_based=False):
    """Every token as a line, as data_formats.parsing.writing.write_pairs has it."""
    write_pairs(dataset, stream, names, sequences=True, zero_based=zero_based)


def write_predictions(block, labels, stream, extra_columns=None, headers=None):
    """One label a line and nothing between sequences, as svm_hmm_classify writes them."""
    write_label_lines(block, labels, stream, extra_columns, headers, separator=' ', parted=False)


def write_nbest(block, candidates, stream):
    """The candidates of each sequence, best first."""
    write_nbest_labels(block, candidates, stream)
