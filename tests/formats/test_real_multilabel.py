"""Multilabel data sets as they are distributed: their known sizes, and the way to other formats and back."""

import io

import numpy as np
import pytest

from data_formats.datasets.tokens import ReadOptions
from data_formats.formats.registry import FORMATS
from data_formats.parsing import reading

# file -> examples, attributes, labels; data set -> its label cardinality, the mean number of labels of an example
SIZES = {
    'yeast/yeast-train.arff.gz': (1500, 103, 14),
    'yeast/yeast-test.arff': (917, 103, 14),
    'scene/scene-train.arff.gz': (1211, 294, 6),
    'scene/scene-test.arff.gz': (1196, 294, 6),
    'emotions/emotions-train.arff': (391, 72, 6),
    'emotions/emotions-test.arff': (202, 72, 6),
    'enron/enron-train.arff': (1123, 1001, 53),
    'enron/enron-test.arff': (579, 1001, 53),
    'tmc2007/tmc2007-500-train.arff.gz': (21519, 500, 22),
    'tmc2007/tmc2007-500-test.arff.gz': (7077, 500, 22),
    'rcv1subset1/rcv1subset1500.arff.gz': (6000, 500, 101),
}
CARDINALITY = {
    'yeast': 4.237,
    'scene': 1.074,
    'emotions': 1.868,
    'enron': 3.378,
    'tmc2007': 2.158,
    'rcv1subset1': 2.880,
}


@pytest.fixture
def data(data_file):
    """name -> the data set"""
    return lambda name: reading.read(FORMATS['arff'], data_file('multilabel', *name.split('/')), ReadOptions())


@pytest.mark.parametrize('name', SIZES)
def test_sizes(data, name):
    dataset = data(name)
    assert (dataset.n, len(dataset.attributes), len(dataset.label_names)) == SIZES[name]
    assert dataset.complete


@pytest.mark.parametrize('name', CARDINALITY)
def test_label_cardinality(data, name):
    parts = [data(file) for file in SIZES if file.startswith(name)]
    found = sum(len(part.label_ids) for part in parts) / sum(part.n for part in parts)
    assert found == pytest.approx(CARDINALITY[name], abs=5e-4)


@pytest.mark.parametrize(
    'name', ['yeast/yeast-test.arff', 'enron/enron-test.arff', 'rcv1subset1/rcv1subset1500.arff.gz']
)
@pytest.mark.parametrize('target', ['arff', 'multilabel'])
def test_there_and_back(data, tmp_path, name, target):
    dataset, out, names = data(name), io.BytesIO(), io.BytesIO()
    FORMATS[target].write(dataset, out, names)
    (tmp_path / 'data').write_bytes(out.getvalue())
    again = reading.read(FORMATS[target], tmp_path / 'data', ReadOptions())
    assert np.array_equal(again.indptr, dataset.indptr) and np.array_equal(again.label_indptr, dataset.label_indptr)
    assert (again.values is None) == (dataset.values is None)
    assert dataset.values is None or np.array_equal(again.values, dataset.values)
    if target == 'arff':
        assert again.attributes == dataset.attributes and again.label_names == dataset.label_names
        assert np.array_equal(again.indices, dataset.indices) and np.array_equal(again.label_ids, dataset.label_ids)
    else:
        used = [dataset.label_names.name(k) for k in dataset.label_ids]
        assert [again.label_names.name(k) for k in again.label_ids] == used
        numbered = dict(line.split(b'\t')[1:] for line in names.getvalue().splitlines())
        assert len(numbered) == len(dataset.attributes)
        assert numbered[again.attributes.name_bytes(again.indices[0])] == dataset.attributes.name_bytes(
            dataset.indices[0]
        )


def test_yeast_by_hand(data, data_file):
    """The labels of the first line of the test file are its columns 104 to 117, in the order of the file."""
    dataset = data('yeast/yeast-test.arff')
    with open(data_file('multilabel', 'yeast', 'yeast-test.arff'), encoding='ascii') as stream:
        lines = stream.read().splitlines()
    names = [line.split()[1] for line in lines if line.startswith('@attribute')]
    row = lines[lines.index('@data') + 1].split(',')
    labels = [name for name, value in zip(names[103:], row[103:], strict=True) if value == '1']
    assert sorted(dataset.label_names.name(k) for k in dataset.labels(0)) == sorted(labels)
    assert dataset.values[:103].tolist() == [float(value) for value in row[:103]]
