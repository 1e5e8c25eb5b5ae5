"""What the writers of several formats share. Streams are binary."""

import re

import numpy as np

from cython_ext.text.output import attribute_lines, candidate_lines, label_lines, label_set_lines, pair_lines
from cython_ext.text.rows import keep_ids
from cython_ext.text.vocabulary import Vocabulary, encoded
from data_formats.errors import UsageError

PLAIN_NUMBER = re.compile('0|[1-9][0-9]{0,17}')
SET_LABEL = re.compile(r'[^ \t\r\n,:#]+')  # what a label must be to stand in a set


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
    attribute_lines(dataset.labels, dataset.label_names, dataset.offsets, rows_of(dataset), dataset.attributes, stream)


def write_pairs(dataset, stream, names, sequences):
    """A dataset as SVMlight or svm_hmm lines.

    Names that are feature numbers, or labels that are numbers, stay; otherwise all attributes, or all labels, are
    numbered from 1 in their order, and `names` (a binary stream, or None) gets a line `attribute TAB NUMBER TAB NAME`
    or `label TAB NUMBER TAB NAME` for each. Tokens without label get 0.
    """
    refuse_edges(dataset, 'svm_hmm' if sequences else 'SVMlight')
    labels = label_spellings(dataset, sequences)
    if labels is None:
        labels = numbered(dataset.label_names, b'label', names)
    if (dataset.labels < 0).any() and '0' in labels:
        raise UsageError('tokens without label cannot be written: they would be labelled 0, which is a label here')
    rows, numbers = numbered_rows(dataset, names, 1)
    pair_lines(dataset.labels, labels, dataset.offsets, sequences, rows, numbers, stream)


def write_candidates(dataset, stream, names):
    """A CandidateDataset as SVMlight ranking lines; attributes and `names` as in write_pairs."""
    rows, numbers = numbered_rows(dataset, names, 1)
    candidate_lines(dataset.targets, dataset.qids, dataset.offsets, rows, numbers, stream)


def write_label_sets(dataset, stream, names):
    """A dataset as lines of `LABEL,LABEL,... INDEX:VALUE ...`.

    Attributes and `names` are as in `write_pairs`, but numbers may be 0. Labels are numbered where one is empty or
    holds blanks, commas, colons or `#`.
    """
    labels = dataset.label_names
    if not all(map(SET_LABEL.fullmatch, labels.names())):
        labels = numbered(labels, b'label', names)
    rows, numbers = numbered_rows(dataset, names, 0)
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


def numbered_rows(dataset, names, least):
    """(CSR triple, int64 [attributes]) of a dataset whose attributes are to be numbers that ascend with the ids.

    Names that are whole numbers from `least` stay; otherwise all attributes are numbered from 1 and listed in `names`.
    """
    rows, numbers = rows_of(dataset), feature_numbers(dataset.attributes, least)
    if numbers is None:
        numbered(dataset.attributes, b'attribute', names)
        return rows, np.arange(1, len(dataset.attributes) + 1)
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


def label_spellings(dataset, whole):
    """The label names if every one is a number (`whole`: a whole number), else None."""
    try:
        numbers = [float(name) for name in dataset.label_names.names()]
    except ValueError:
        return None
    good = np.isfinite(numbers).all() and not (whole and any(number % 1 for number in numbers))
    return dataset.label_names if good else None


def feature_numbers(attributes, least):
    """int64 [len] if every name is a plain whole number from `least` (0 or 1), else None."""
    numbers = np.empty(len(attributes), dtype=np.int64)
    for i, name in enumerate(attributes.names()):
        if not PLAIN_NUMBER.fullmatch(name) or int(name) < least:
            return None
        numbers[i] = int(name)
    return numbers


def numbered(vocabulary, kind, stream):
    """The numbers 1, 2, ... as a vocabulary in place of the names, which are listed in `stream`."""
    if stream is not None:
        for i in range(len(vocabulary)):
            stream.write(b'%s\t%d\t%s\n' % (kind, i + 1, vocabulary.name_bytes(i)))
    return Vocabulary(b'%d' % (i + 1) for i in range(len(vocabulary)))
