"""What the writers of several formats share. Streams are binary."""

import re
from typing import NamedTuple

import numpy as np

from cython_ext.text.errors import TextError, shown
from cython_ext.text.formats.index_value import canonical_label, number_value
from cython_ext.text.output import attribute_lines, candidate_lines, label_lines, label_set_lines, pair_lines
from cython_ext.text.rows import keep_ids
from cython_ext.text.vocabulary import Vocabulary, encoded
from data_formats.errors import UsageError

PLAIN_NUMBER = re.compile('0|[1-9][0-9]{0,17}')
NAMES_HINT = '; --names FILE numbers them'


class Spelling(NamedTuple):
    """What a label must be to stand in a file of some format."""

    pattern: re.Pattern
    expected: str


PAIR_LABEL = Spelling(
    re.compile(r'[^ \t\r\n:#][^ \t\r\n:]*'), 'expected labels without blanks and colons that do not begin with #'
)
SET_LABEL = Spelling(
    re.compile(r'[^ \t\r\n,:#][^ \t\r\n,:]*'),
    'expected labels without blanks, commas and colons that do not begin with #',
)
FIELD_LABEL = Spelling(
    re.compile(r'[^\t\r\n]*[^ \t\r\n][^\t\r\n]*'), 'expected labels that are not blank, without TABs'
)
CELL_LABEL = Spelling(re.compile(r'[^ \t\r\n]+'), 'expected labels without blanks')


def check_labels(module, labels, way_out=''):
    """Raise UsageError with the name of a label that cannot stand in a file.

    Args:
        module: that of the format; one whose files can hold any label has no LABEL.
        labels: the Vocabulary.
        way_out: what else there is to do.
    """
    spelling = getattr(module, 'LABEL', None)
    if spelling is not None:
        _refuse(unwritable(labels, spelling), module.NAME, spelling.expected + way_out)


def unwritable(labels, spelling):
    """The first label that is not spelled so, or None."""
    return next((name for name in labels.names() if not spelling.pattern.fullmatch(name)), None)


def _refuse(label, format_name, expected):
    if label is not None:
        raise UsageError(f'label {shown(label)} cannot be written in {format_name} files ({expected})')


def write_label_lines(block, labels, stream, extra_columns, headers, separator, parted):
    """One predicted label a line.

    labels : int32 [N], ids in the block's label_names
    extra_columns : None, or for each token a list of str that follow the label after a separator
    headers : None, or for each example a line (str) that goes before it
    parted : a blank line after each sequence
    """
    dataset = block.dataset
    labels = np.ascontiguousarray(labels, dtype=np.int32)
    if extra_columns is None and headers is None:
        label_lines(labels, dataset.label_names, block.sequences, parted, stream)
        return
    names, separator = dataset.label_names.names(), separator.encode()
    ends = set(block.sequences[1:].tolist()) if parted else ()
    for i in range(dataset.n):
        lines = [] if headers is None else [encoded(headers[i])]
        for t in range(dataset.offsets[i], dataset.offsets[i + 1]):
            extra = [] if extra_columns is None else extra_columns[t]
            lines.append(separator.join(map(encoded, [names[labels[t]], *extra])))
            if t + 1 in ends:
                lines.append(b'')
        stream.write(b'\n'.join(lines) + b'\n')


def write_nbest_labels(block, candidates, stream):
    """The candidates of each example: `# RANK SCORE [PROBABILITY]`, a label for each token, a blank line.

    candidates : for each example a list of (labels int [T], score, probability or None), best first
    """
    names = [encoded(name) for name in block.dataset.label_names.names()]
    for example in candidates:
        for rank, (labels, score, probability) in enumerate(example, 1):
            lines = [candidate_header(rank, score, probability), *(names[label] for label in labels)]
            stream.write(b'\n'.join(lines) + b'\n\n')


def candidate_header(rank, score, probability=None):
    """The line before a candidate (bytes)."""
    more = '' if probability is None else f' {probability:.6g}'
    return f'# {rank} {score:.10g}{more}'.encode()


def write_attributes(dataset, stream):
    """A dataset as a CRFsuite attribute file."""
    refuse_edges(dataset, 'CRFsuite')
    _refuse(unwritable(dataset.label_names, FIELD_LABEL), 'CRFsuite', FIELD_LABEL.expected)
    attribute_lines(dataset.labels, dataset.label_names, dataset.offsets, rows_of(dataset), dataset.attributes, stream)


def write_pairs(dataset, stream, names, sequences, zero_based=False):
    """A dataset as SVMlight or svm_hmm lines.

    Attributes whose names are feature numbers stay; otherwise all are numbered from 1 (zero_based: from 0) in their
    order. With `names`, a binary stream, so are labels that are no numbers; without it they stay words, and one that
    can be none is refused. `names` gets a line `attribute TAB NUMBER TAB NAME` or `label TAB NUMBER TAB NAME` for each
    that is numbered. Tokens without label get 0.
    """
    kind = 'svm_hmm' if sequences else 'SVMlight'
    refuse_edges(dataset, kind)
    labels = dataset.label_names
    if names is None:
        refuse_words(labels, kind)
    elif not are_numbers(labels, sequences):
        labels = numbered(labels, b'label', names)
    if (dataset.labels < 0).any() and b'0' in map(canonical_label, all_names(labels)):
        raise UsageError('tokens without label cannot be written: they would be labelled 0, which is a label here')
    rows, numbers = numbered_rows(dataset, names, *[0 if zero_based else 1] * 2)
    pair_lines(dataset.labels, labels, dataset.offsets, sequences, rows, numbers, stream)


def write_candidates(dataset, stream, names, zero_based=False):
    """A CandidateDataset as SVMlight ranking lines; attributes and `names` as in write_pairs."""
    rows, numbers = numbered_rows(dataset, names, *[0 if zero_based else 1] * 2)
    candidate_lines(dataset.targets, dataset.qids, dataset.offsets, rows, numbers, stream)


def write_label_sets(dataset, stream, names, zero_based=False):
    """A dataset as lines of `LABEL,LABEL,... INDEX:VALUE ...`.

    Attributes and `names` are as in `write_pairs`, but numbers may be 0. Labels are numbered where one cannot stand
    in a set and there are `names`; otherwise it is refused.
    """
    labels = dataset.label_names
    label = unwritable(labels, SET_LABEL)
    if label is not None and names is not None:
        labels = numbered(labels, b'label', names)
    else:
        _refuse(label, 'multilabel', SET_LABEL.expected + NAMES_HINT)
    rows, numbers = numbered_rows(dataset, names, 0, 0 if zero_based else 1)
    label_set_lines(dataset.label_indptr, dataset.label_ids, labels, rows, numbers, stream)


def write_set_lines(outputs, label_names, stream, extra_columns=None, headers=None):
    """The labels of each example in a line, parted by commas; nothing where there are none.

    outputs : for each example the ids of its labels
    label_names : how each label is written (list of bytes)
    extra_columns : None, or for each example a list of str, each behind a TAB
    headers : None, or for each example a line (str) that goes before it
    """
    for i, labels in enumerate(outputs):
        if headers is not None:
            stream.write(encoded(headers[i]) + b'\n')
        extra = () if extra_columns is None else map(encoded, extra_columns[i])
        stream.write(b'\t'.join([set_line(labels, label_names), *extra]) + b'\n')


def write_nbest_sets(candidates, label_names, stream):
    """For each example its best sets of labels: `# RANK SCORE [PROBABILITY]`, the labels, a blank line.

    candidates : for each example a list of (ids of labels, score, probability or None), best first
    label_names : how each label is written (list of bytes)
    """
    for example in candidates:
        for rank, (labels, score, probability) in enumerate(example, 1):
            stream.write(candidate_header(rank, score, probability) + b'\n' + set_line(labels, label_names) + b'\n\n')


def all_names(vocabulary):
    """All names of a vocabulary (list of bytes)."""
    return [vocabulary.name_bytes(k) for k in range(len(vocabulary))]


def set_line(labels, label_names):
    """Some labels (ids), parted by commas (bytes)."""
    return b','.join([label_names[k] for k in labels])


def numbered_rows(dataset, names, least, first):
    """(CSR triple, int64 [attributes]) of a dataset whose attributes are to be numbers that ascend with the ids.

    Names that are whole numbers from `least` stay; otherwise all attributes are numbered from `first` and listed in
    `names`.
    """
    rows, numbers = rows_of(dataset), feature_numbers(dataset.attributes, least)
    if numbers is None:
        numbered(dataset.attributes, b'attribute', names, first)
        return rows, np.arange(first, first + len(dataset.attributes))
    order = np.argsort(numbers)
    if (order[1:] < order[:-1]).any():
        new = np.empty(len(order), dtype=np.int32)
        new[order] = np.arange(len(order))
        rows, numbers = keep_ids(*rows, new), numbers[order]
    return rows, numbers


def rows_of(dataset):
    """The CSR triple of a dataset."""
    return dataset.indptr, dataset.indices, dataset.values


def refuse_edges(dataset, format_name):
    """Transition features exist in CoNLL columns with a template only."""
    if dataset.edge_indptr is not None:
        raise UsageError(
            f'{format_name} files cannot hold features of transitions: use a template without B macros that have %x'
        )


def are_numbers(labels, whole):
    """Whether every label is a number of its own (`whole`: a whole number)."""
    numbers = {number_value(name) for name in all_names(labels)}
    good = None not in numbers and len(numbers) == len(labels)
    return good and not (whole and any(number % 1 for number in numbers))


def refuse_words(labels, kind):
    """Raise UsageError with the name of a label that SVMlight or svm_hmm lines (kind) would not give back."""
    _refuse(unwritable(labels, PAIR_LABEL), kind, PAIR_LABEL.expected + NAMES_HINT)
    read = {}
    for name in all_names(labels):
        try:
            same = read.setdefault(canonical_label(name), name)
        except TextError as error:
            raise UsageError(f'{error.what} ({error.expected}{NAMES_HINT})') from None
        if same != name:
            raise UsageError(f'labels {shown(same)} and {shown(name)} are the same in {kind} files ({NAMES_HINT[2:]})')


def feature_numbers(attributes, least):
    """int64 [len] if every name is a plain whole number from `least` (0 or 1), else None."""
    numbers = np.empty(len(attributes), dtype=np.int64)
    for i, name in enumerate(attributes.names()):
        if not PLAIN_NUMBER.fullmatch(name) or int(name) < least:
            return None
        numbers[i] = int(name)
    return numbers


def numbered(vocabulary, kind, stream, first=1):
    """The numbers from `first` as a vocabulary in place of the names, which are listed in `stream`."""
    if stream is not None:
        for i in range(len(vocabulary)):
            stream.write(b'%s\t%d\t%s\n' % (kind, i + first, vocabulary.name_bytes(i)))
    return Vocabulary(b'%d' % (i + first) for i in range(len(vocabulary)))
