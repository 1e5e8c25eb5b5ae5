"""ARFF files with several labels: MULAN's, whose labels an XML file names, and MEKA's, where the relation counts them.

Numeric inputs become attributes, and so does each value of a nominal one but the first, as NAME=VALUE: the first value
is the zero of sparse rows. Zeros and missing values are left out.
"""

import re
from functools import cache, partial

from cython_ext.text.boundaries import after_line
from cython_ext.text.formats.arff import ArffParser
from cython_ext.text.output import sparse_rows
from data_formats.errors import DataError, shown
from data_formats.formats.multilabel import finish, names_of
from data_formats.parsing.arff_header import carry, read_header
from data_formats.parsing.label_xml import labels_beside
from data_formats.parsing.reading import Reader, drop_rare, known, sort_labels
from data_formats.parsing.writing import all_names, write_nbest_sets, write_set_lines

NAME = 'arff'
DESCRIPTION = 'ARFF of MULAN (labels named by NAME.xml) or MEKA (-C n in the relation), dense or sparse'
EXTENSIONS = ('.arff',)
TASKS = ('multilabel',)
VALUES = True

UNQUOTED = re.compile(rb'[^\s,{}\'"%\\?]+')
LABELS = 'expected NAME.xml beside NAME.arff, or -C n in the relation'


def reader(source, options, vocabularies):
    """How the file is read."""
    beside = cache(partial(labels_beside, source.path))
    layout = partial(columns_of, source, beside, vocabularies)
    parser = partial(ArffParser, read_header, layout, options.require_labels, *known(vocabularies))
    return Reader(after_line, parser, carry, learn, finish)


def columns_of(source, beside, frozen, header):
    """For each attribute (kind, name, values) as ArffParser takes it, kind 'label' for labels."""
    labels = labels_of(source, beside, frozen, header)
    columns = []
    for name, kind, values, line in header.attributes:
        if name in labels and (kind != 'nominal' or sorted(values) != [b'0', b'1']):
            raise DataError(source.name, line, f'label {shown(name)} is not of the type {{0,1}}', 'expected it')
        columns.append(('label' if name in labels else kind, name, values))
    return columns


def labels_of(source, beside, frozen, header):
    """The names of the attributes that are labels, a set: those of the XML file, or as many as the relation says, or,
    with a model and without either, its labels."""
    names = [attribute.name for attribute in header.attributes]
    named, path = beside() if source.path != '-' else (None, None)
    if named is not None:
        missing = next((name for name in named if name not in names), None)
        if missing is not None and frozen is None:
            raise DataError(path, None, f'label {shown(missing)} is no attribute of {source.name}', 'expected one')
        return set(named)
    count = header.first_labels()
    if count is not None:
        if abs(count) > len(names):
            raise DataError(source.name, None, f'-C {count} in the relation', f'there are {len(names)} attributes')
        return set(names[:count] if count >= 0 else names[count:])
    if frozen is not None:
        return {name for name in names if name in frozen.label_names}
    raise DataError(source.name, None, 'nothing says which attributes are labels', LABELS)


def learn(source, parts, options, parser):
    """Turn what was read into a training set: labels sorted, rare attributes dropped."""
    if not parser.has_header:
        raise DataError(source.name, None, 'no @data in this file', 'expected @relation, @attribute ... and @data')
    if len(parts['label_indptr']) == 1:
        raise DataError(source.name, None, 'no examples in this file', 'expected one at least')
    parser.learned(parts)
    parts['label_names'] = sort_labels(parts['label_ids'], parts['label_names'])
    drop_rare(parts, '', options.min_freq)


def write(dataset, stream, names=None):
    """A dataset as sparse rows behind a header of MEKA: labels first, then numeric attributes, whose names get `Att` in
    front of them if one is that of a label too."""
    labels, attributes = (all_names(vocabulary) for vocabulary in (dataset.label_names, dataset.attributes))
    while not set(labels).isdisjoint(attributes):
        attributes = [b'Att' + name for name in attributes]
    stream.write(b"@relation 'multilabel: -C %d'\n\n" % len(labels))
    stream.writelines(b'@attribute %s {0,1}\n' % spelled(name) for name in labels)
    stream.writelines(b'@attribute %s numeric\n' % spelled(name) for name in attributes)
    stream.write(b'\n@data\n')
    rows = dataset.indptr, dataset.indices, dataset.values
    sparse_rows(dataset.label_indptr, dataset.label_ids, rows, len(labels), stream)


def write_predictions(block, outputs, stream, extra_columns=None, headers=None):
    """The labels of each example in a line, spelled as in ARFF; otherwise as formats.multilabel writes them."""
    write_set_lines(outputs, list(map(spelled, names_of(block))), stream, extra_columns, headers)


def write_nbest(block, candidates, stream):
    """The candidates of each example, best first."""
    write_nbest_sets(candidates, list(map(spelled, names_of(block))), stream)


def spelled(name):
    """A name (bytes) as ARFF has it: in quotes where it needs them."""
    if UNQUOTED.fullmatch(name):
        return name
    for plain, escape in ((b'\\', b'\\\\'), (b"'", b"\\'"), (b'\t', b'\\t'), (b'\n', b'\\n'), (b'\r', b'\\r')):
        name = name.replace(plain, escape)
    return b"'%s'" % name
