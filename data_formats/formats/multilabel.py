"""LIBSVM multilabel files: `LABEL,LABEL,... INDEX:VALUE ... # comment`, one example a line.

A line of an example without labels begins with a blank. Files of the extreme classification repository, which begin
with a line of three counts (examples, features, labels), are such files too.
"""

from functools import partial

from cython_ext.text.boundaries import after_line
from cython_ext.text.formats.multilabel import LabelSetParser, counts_of
from data_formats.datasets.multilabel import LabelSetDataset, ascending_sets
from data_formats.errors import DataError
from data_formats.parsing.reading import Reader, drop_rare, known, sort_labels
from data_formats.parsing.writing import SET_LABEL, all_names, write_label_sets, write_nbest_sets, write_set_lines

NAME = 'multilabel'
DESCRIPTION = 'LIBSVM multilabel: LABEL,LABEL,... INDEX:VALUE ..., one example a line'
EXTENSIONS = ('.ml', '.multilabel')
TASKS = ('multilabel',)
VALUES = True
NUMBERS = True
LABEL = SET_LABEL
ALIKE = ('svmlight',)


def reader(source, options, vocabularies):
    """How the file is read."""
    parser = partial(LabelSetParser, False, *known(vocabularies))
    return Reader(after_line, parser, carry, learn, finish)


def carry(text, line, carried):
    """What the first line of the file says (counts_of)."""
    return counts_of(text) if line == 1 else carried


def learn(source, parts, options, parser):
    """Turn what was read into a training set: labels sorted, rare attributes dropped."""
    if len(parts['label_indptr']) == 1:
        raise DataError(source.name, None, 'no examples in this file', 'expected one at least')
    parser.learned(parts)
    if parser.counts is not None:
        check_counts(source, parser.counts, len(parts['label_indptr']) - 1, len(parts['label_names']))
    parts['label_names'] = sort_labels(parts['label_ids'], parts['label_names'])
    drop_rare(parts, '', options.min_freq)


def check_counts(source, counts, examples, labels):
    """Compare the counts of the first line with the file (those of features are with the parser)."""
    if examples != counts[0]:
        raise DataError(source.name, 1, f'{counts[0]} examples are announced', f'there are {examples}')
    if labels > counts[2]:
        raise DataError(source.name, 1, f'{counts[2]} labels are announced', f'there are {labels}')


def finish(parts, options, frozen):
    """The LabelSetDataset in the form that the options ask for."""
    if frozen is not None:
        parts.update(attributes=frozen.attributes, label_names=frozen.label_names)
    names = parts['label_names']
    parts['label_indptr'], parts['label_ids'] = ascending_sets(parts['label_indptr'], parts['label_ids'], len(names))
    dataset = LabelSetDataset(**{name: array for name, array in parts.items() if name != 'offsets'})
    return dataset.with_bias() if options.bias else dataset


def write(dataset, stream, names=None, zero_based=False):
    """Every example as a line, as data_formats.parsing.writing.write_label_sets has it."""
    write_label_sets(dataset, stream, names, zero_based)


def write_predictions(block, outputs, stream, extra_columns=None, headers=None):
    """The labels of each example in a line, parted by commas; an empty line where there are none.

    outputs, extra_columns, headers : as data_formats.parsing.writing.write_set_lines has them
    """
    write_set_lines(outputs, names_of(block), stream, extra_columns, headers)


def write_nbest(block, candidates, stream):
    """The candidates of each example, best first."""
    write_nbest_sets(candidates, names_of(block), stream)


def names_of(block):
    """The label names of a block (list of bytes)."""
    return all_names(block.dataset.label_names)
