"""CRFsuite attribute files: `LABEL TAB ATTRIBUTE[:VALUE] TAB ...`, a token a line, blank lines between sequences."""

from functools import partial

from cython_ext.text.boundaries import after_blank_line
from cython_ext.text.formats.crfsuite import AttributeParser
from data_formats.parsing.reading import Reader, known
from data_formats.parsing.writing import FIELD_LABEL, write_attributes, write_label_lines, write_nbest_labels

NAME = 'crfsuite'
DESCRIPTION = 'CRFsuite: LABEL, TAB, ATTRIBUTE[:VALUE], TAB, ..., one token a line, blank line after a sequence'
EXTENSIONS = ('.crfsuite', '.crf')
TASKS = ('chain', 'multiclass')
VALUES = True
NEIGHBOURS = True
LABEL = FIELD_LABEL


def reader(source, options, vocabularies):
    """How the file is read."""
    required = vocabularies is None and options.require_labels
    return Reader(after_blank_line, partial(AttributeParser, *known(vocabularies), required=required))


def write(dataset, stream, names=None):
    """Every token as a line, colons and backslashes in names escaped; nothing ever goes to `names`."""
    write_attributes(dataset, stream)


def write_predictions(block, labels, stream, extra_columns=None, headers=None):
    """One label a line, a blank line after each sequence, as `crfsuite tag` writes them."""
    write_label_lines(block, labels, stream, extra_columns, headers, separator='\t', parted=True)


def write_nbest(block, candidates, stream):
    """The candidates of each sequence, best first."""
    write_nbest_labels(block, candidates, stream)
