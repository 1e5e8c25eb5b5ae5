"""Multilabel data: what is read, what is written comes back, and datasets taken apart and put together."""

import io
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_formats.datasets.tokens import ReadOptions
from data_formats.errors import DataError
from data_formats.files.source import Source
from data_formats.formats.registry import FORMATS, detect
from data_formats.parsing import reading
from tests.formats import strategies
from tests.formats.tools import label_sets, read, stream, written

DATA = '3,1 1:0.5 2:1\n 1:2\n2\n1 2:3 4:1\n'


def plain(data, names, labels):
    """A data set of the strategies as `label_sets` gives it; names, labels: those that are known, in order."""

    def in_order(found):
        return [k for k in labels if k in found] + [k for k in found if k not in labels]

    return [(in_order(found), {k: row[k] for k in names if k in row}) for found, row in data]


def expected(dataset, data):
    assert sorted(dataset.label_names.names()) == sorted({k for labels, _ in data for k in labels})
    assert dataset.attributes.names() == sorted({k for _, row in data for k in row}, key=int)
    return plain(data, dataset.attributes.names(), dataset.label_names.names())


@given(strategies.labelled_sets())
def test_round_trip(folder, data):
    dataset = read(folder, 'multilabel', strategies.multilabel(data))
    assert label_sets(dataset) == expected(dataset, data)
    text = written('multilabel', dataset)
    again = read(folder, 'multilabel', text)
    assert label_sets(again) == label_sets(dataset)
    assert again.attributes == dataset.attributes and again.label_names == dataset.label_names
    assert written('multilabel', again) == text
    assert (again.values is None) == all(v == 1 for _, row in data for v in row.values())


@given(strategies.labelled_sets(), strategies.labelled_sets(), st.integers(1, 60), st.sampled_from([1, 2]))
@settings(max_examples=50)
def test_a_stream_gives_what_reading_gives(folder, train, test, block, threads):
    known = read(folder, 'multilabel', strategies.multilabel(train))
    text = strategies.multilabel(test)
    whole = label_sets(read(folder, 'multilabel', text, known, threads=threads))
    blocks = list(stream(folder, 'multilabel', text, known, block))
    assert list(chain.from_iterable(label_sets(b.dataset) for b in blocks)) == whole
    assert b''.join(b.rows for b in blocks) == text.encode()
    right = plain(test, known.attributes.names(), known.label_names.names())
    assert [(set(labels), row) for labels, row in whole] == [(set(labels), row) for labels, row in right]


@pytest.mark.parametrize('block', [1, 1000])
def test_counts_of_the_first_line_hold_in_all_parts(tmp_path, block):
    known = read(tmp_path, 'multilabel', '2 4 2\n0,1 3:1\n 0:1\n')
    assert known.attributes.names() == ['0', '3'] and known.label_names.names() == ['0', '1']
    with pytest.raises(DataError, match=r':4: feature number 5 \(expected at most 4, as many'):
        list(stream(tmp_path, 'multilabel', '3 4 2\n1 3:1\n1 3:1\n1 5:1\n', known, block))


def test_labels_are_sorted(tmp_path):
    assert read(tmp_path, 'multilabel', '10,9 1:1\n-1 1:1\n').label_names.names() == ['-1', '9', '10']
    assert read(tmp_path, 'multilabel', 'b,10 1:1\n9,B 1:1\n').label_names.names() == ['10', '9', 'B', 'b']


def test_subsets_and_concatenation(tmp_path, rng):
    known = read(tmp_path, 'multilabel', DATA)
    dataset = read(tmp_path, 'multilabel', DATA + '7,2,9 1:1\n', known)
    assert not dataset.complete and known.complete and dataset.tokens == dataset.n == 5
    everything = label_sets(dataset)
    assert everything[-1] == (['2', '7', '9'], {'1': 1.0})
    for _ in range(20):
        chosen = rng.integers(0, dataset.n, size=rng.integers(0, 6))
        assert label_sets(dataset.subset(chosen)) == [everything[i] for i in chosen]
    parts = [dataset.subset([i]) for i in range(dataset.n)]
    assert label_sets(type(dataset).concatenate(parts)) == everything
    assert dataset.subset([0]).nbytes()['label_ids'] < dataset.nbytes()['label_ids']
    assert dataset.largest_value == 3 and dataset.subset([2]).largest_value == 1
    assert label_sets(dataset.without_inputs()) == [(labels, {}) for labels, _ in everything]


def test_bias_and_rare_attributes(tmp_path):
    dataset = read(tmp_path, 'multilabel', DATA, min_freq=2, bias=True)
    assert label_sets(dataset) == [
        (['1', '3'], {'1': 0.5, '2': 1.0, 'bias': 1.0}),
        ([], {'1': 2.0, 'bias': 1.0}),
        (['2'], {'bias': 1.0}),
        (['1'], {'2': 3.0, 'bias': 1.0}),
    ]
    assert label_sets(read(tmp_path, 'multilabel', '1 4:1\n', dataset, bias=True)) == [(['1'], {'bias': 1.0})]
    with pytest.raises(DataError, match='bias'):
        dataset.with_bias()


def test_names_that_cannot_be_written_are_numbered(tmp_path):
    dataset = read(tmp_path, 'multilabel', 'a,b 0:1\n 3:1\n', bias=True)
    names = io.BytesIO()
    assert written('multilabel', dataset, names) == b'a,b 1:1 3:1\n 2:1 3:1\n'
    assert names.getvalue() == b'attribute\t1\t0\nattribute\t2\t3\nattribute\t3\tbias\n'


def test_predictions(tmp_path):
    known = read(tmp_path, 'multilabel', DATA)
    (block,) = stream(tmp_path, 'multilabel', DATA, known)
    outputs = [np.array([0, 2]), np.array([], np.int32), [1], []]

    def shown(**how):
        out = io.BytesIO()
        FORMATS['multilabel'].write_predictions(block, outputs, out, **how)
        return out.getvalue()

    assert shown() == b'1,3\n\n2\n\n'
    columns = [['1:0.5', 'é'], ['1:0.1', '3:0'], [], ['x']]
    assert shown(extra_columns=columns, headers=['# 1 2', '# 1 3', '# 1 -1', '# 1 0']) == (
        '# 1 2\n1,3\t1:0.5\té\n# 1 3\n\t1:0.1\t3:0\n# 1 -1\n2\n# 1 0\n\tx\n'.encode()
    )


def test_nbest(tmp_path):
    known = read(tmp_path, 'multilabel', DATA)
    block = next(stream(tmp_path, 'multilabel', DATA, known))
    out = io.BytesIO()
    candidates = [[([0, 1], 2.5, None), ([], -1.0, None)], [([2], 1 / 3, 0.25)]]
    FORMATS['multilabel'].write_nbest(block, candidates, out)
    assert out.getvalue() == b'# 1 2.5\n1,2\n\n# 2 -1\n\n\n# 1 0.3333333333 0.25\n3\n\n'


@pytest.mark.parametrize('name', ['data.txt', 'data.svm'])
def test_the_task_makes_single_labels_sets(tmp_path, name):
    path = tmp_path / name
    path.write_text('1 1:1\n2 2:1\n')
    for task, expected in ((None, 'svmlight'), ('multiclass', 'svmlight'), ('multilabel', 'multilabel')):
        with Source(path) as source:
            assert detect(source, task) == expected
    assert label_sets(reading.read(FORMATS['multilabel'], path, ReadOptions())) == [
        (['1'], {'1': 1.0}),
        (['2'], {'2': 1.0}),
    ]
