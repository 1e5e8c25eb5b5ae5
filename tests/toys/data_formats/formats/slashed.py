"""`LABEL/NAME=VALUE/NAME=VALUE ...`, an example a line, read without any compiled parser."""

from functools import partial

import numpy as np

from cython_ext.text.boundaries import after_line
from cython_ext.text.vocabulary import Vocabulary
from data_formats.parsing.reading import Reader, known
from data_formats.parsing.writing import write_label_lines, write_nbest_labels

NAME = 'slashed'
DESCRIPTION = 'LABEL/NAME=VALUE/..., an example a line'
EXTENSIONS = ('.slashed',)
TASKS = ('multiclass',)


def reader(source, options, vocabularies):
    return Reader(after_line, partial(SlashedParser, *known(vocabularies)))


class SlashedParser:
    def __init__(self, attributes=None, labels=None):
        self.learns = attributes is None
        self.attributes = Vocabulary() if self.learns else attributes
        self.label_names = Vocabulary() if self.learns else labels
        self.start()

    def start(self):
        self.labels, self.indptr, self.indices, self.values = [], [0], [], []

    def feed(self, text, line, carried):
        for self.line, row in enumerate(text.splitlines(), line):
            label, *words = row.split(b'/')
            pairs = [word.split(b'=') for word in words]
            found = sorted((self.number(self.attributes, name), float(value)) for name, value in pairs)
            self.labels.append(self.number(self.label_names, label))
            self.indices += [k for k, _ in found if k >= 0]
            self.values += [value for k, value in found if k >= 0]
            self.indptr.append(len(self.indices))

    def number(self, names, name):
        return names.add(name) if self.learns else names.get(name)

    def take(self):
        parts = {
            'offsets': np.arange(len(self.labels) + 1),
            'indptr': np.array(self.indptr, np.int64),
            'indices': np.array(self.indices, np.int32),
            'values': np.array(self.values),
            'labels': np.array(self.labels, np.int32),
        }
        self.start()
        return parts

    def learned(self, parts):
        parts.update(attributes=self.attributes, label_names=self.label_names)


def write(dataset, stream, names=None):
    attributes = dataset.attributes.names()
    values = np.ones(dataset.nnz) if dataset.values is None else dataset.values
    for i in range(dataset.n):
        span = slice(*dataset.indptr[i : i + 2])
        pairs = zip(dataset.indices[span].tolist(), values[span].tolist(), strict=True)
        words = [dataset.label(i), *(f'{attributes[k]}={value!r}' for k, value in pairs)]
        stream.write('/'.join(words).encode() + b'\n')


def write_predictions(block, labels, stream, extra_columns=None, headers=None):
    write_label_lines(block, labels, stream, extra_columns, headers, separator='/', parted=False)


def write_nbest(block, candidates, stream):
    write_nbest_labels(block, candidates, stream)
