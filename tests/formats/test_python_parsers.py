"""Parsers that are not compiled: plain objects, whose ValueError is an error in the file."""

from types import SimpleNamespace

import numpy as np
import pytest

from cython_ext.text.boundaries import after_line
from cython_ext.text.errors import TextError
from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.tokens import ReadOptions
from data_formats.errors import DataError
from data_formats.files.source import Source
from data_formats.parsing import reading
from data_formats.parsing.reading import Reader


class NumberParser:
    """A label and a number a line: the least that a parser of a TokenDataset does."""

    def __init__(self, attributes=None, label_names=None):
        self.attributes = Vocabulary() if attributes is None else attributes
        self.label_names = Vocabulary() if label_names is None else label_names
        self.learns = attributes is None
        self.labels, self.values = [], []
        if self.learns:
            self.attributes.add(b'x')

    def feed(self, text, line, carried):
        for number, row in enumerate(text.splitlines(), line):
            self.line = number
            label, value = row.split()
            if label == b'?':
                raise TextError(7, 'an own number', 'expected that one')
            self.values.append(float(value))
            self.labels.append(self.label_names.add(label) if self.learns else self.label_names.get(label))

    def take(self):
        n = len(self.labels)
        parts = {
            'offsets': np.arange(n + 1),
            'indptr': np.arange(n + 1),
            'indices': np.zeros(n, np.int32),
            'values': np.array(self.values),
            'labels': np.array(self.labels, np.int32),
        }
        self.labels, self.values = [], []
        return parts

    def learned(self, parts):
        parts.update(attributes=self.attributes, label_names=self.label_names)


class Lineless(NumberParser):
    """One that does not say where it is."""

    def __setattr__(self, name, value):
        if name != 'line':
            super().__setattr__(name, value)


def numbers(parser=NumberParser):
    """The module of such a format."""
    return SimpleNamespace(
        reader=lambda source, options, frozen: Reader(after_line, lambda: parser(*reading.known(frozen)))
    )


def test_what_take_must_return_is_enough(tmp_path):
    path = tmp_path / 'data'
    path.write_text('b 1.5\na 2\nb 3\n')
    dataset = reading.read(numbers(), path, ReadOptions())
    assert dataset.label_names.names() == ['a', 'b'] and dataset.labels.tolist() == [1, 0, 1]
    assert dataset.values.tolist() == [1.5, 2, 3]
    blocks = list(reading.stream(numbers(), Source(path, block=4), ReadOptions(), dataset))
    assert len(blocks) > 1
    assert [label for block in blocks for label in block.dataset.labels.tolist()] == [1, 0, 1]
    again = reading.read(numbers(), Source(path, block=4), ReadOptions(threads=2), dataset)
    assert again.values.tolist() == dataset.values.tolist()


@pytest.mark.parametrize(
    ('rows', 'said'),
    [
        ('a 1\nb two\n', "2: could not convert string to float: b'two'"),
        ('a 1\nb 2\na\n', '3: not enough values to unpack (expected 2, got 1)'),
        ('a 1\n? 2\n', '7: an own number (expected that one)'),
    ],
)
@pytest.mark.parametrize('block', [4, 1 << 20])
def test_a_value_error_is_one_in_the_file(tmp_path, rows, said, block):
    path = tmp_path / 'data'
    path.write_text(rows)
    known = SimpleNamespace(attributes=Vocabulary([b'x']), label_names=Vocabulary([b'a', b'b']), scale=None)
    for read in (
        lambda: reading.read(numbers(), Source(path, block=block), ReadOptions()),
        lambda: reading.read(numbers(), Source(path, block=block), ReadOptions(threads=2), known),
        lambda: list(reading.stream(numbers(), Source(path, block=block), ReadOptions(), known)),
    ):
        with pytest.raises(DataError) as error:
            read()
        assert str(error.value) == f'{path}:{said}'


@pytest.mark.parametrize(('block', 'line'), [(4, 50), (1 << 20, 1)])
def test_without_a_line_it_is_that_of_the_part(tmp_path, block, line):
    path = tmp_path / 'data'
    path.write_text(50 * 'a 1\n' + 'b two\n')
    with pytest.raises(DataError, match=f'^{path}:(\\d+): could not convert') as error:
        reading.read(numbers(Lineless), Source(path, block=block), ReadOptions())
    assert 0 <= int(str(error.value).split(':')[1]) - line <= 1
