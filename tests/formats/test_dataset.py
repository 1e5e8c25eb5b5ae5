"""Datasets taken apart and put together."""

import numpy as np
import pytest

from data_formats.errors import DataError
from tests.formats.tools import groups, pictures, read, sequences

TEMPLATE = 'U0:%x[0,0]\nU1:%x[1,0]\nB\nB1:%x[0,0]\n'
CONLL = 'a A\nb B\nc A\n\nb B\n\nc A\na B\n'
CRFSUITE = 'A\tx:2\ty\nB\n\nB\ty:0.5\tz\nA\tx\nA\tz\n'


@pytest.fixture(params=['conll', 'crfsuite'])
def dataset(request, tmp_path):
    return read(tmp_path, request.param, CONLL if request.param == 'conll' else CRFSUITE, template=TEMPLATE)


def test_subsets_and_concatenation(dataset, rng):
    everything = sequences(dataset)
    for _ in range(20):
        chosen = rng.integers(0, dataset.n, size=rng.integers(0, 6))
        assert sequences(dataset.subset(chosen)) == [everything[i] for i in chosen]
    parts = [dataset.subset([i]) for i in range(dataset.n)]
    assert sequences(type(dataset).concatenate(parts)) == everything
    one = dataset.subset([0]).nbytes()
    assert one['labels'] < dataset.nbytes()['labels']


def test_subsets_and_concatenation_of_groups(tmp_path, rng):
    text = '1 qid:3 1:1\n0.5 qid:3 2:2 3:1\n0 qid:1\n0 qid:9 3:1\n2 qid:9 1:4\n0 qid:9 2:1\n'
    dataset = read(tmp_path, 'svmrank', text)
    everything = groups(dataset)
    assert [qid for qid, _ in everything] == [3, 1, 9]
    for _ in range(20):
        chosen = rng.integers(0, 3, size=rng.integers(1, 6))
        some = dataset.subset(chosen)
        assert groups(some) == [everything[i] for i in chosen] and some.tokens == len(some.costs)
    parts = [dataset.subset([i]) for i in range(3)]
    assert groups(type(dataset).concatenate(parts)) == everything
    assert dataset.without_inputs().nnz == 0 and dataset.without_inputs().costs.tolist() == dataset.costs.tolist()


def test_subsets_and_concatenation_of_pictures(tmp_path, rng):
    text = 'picture 3 2 0 0 1 1\n0 0 a\n2 1 b\npicture 1 1 0 0 0 0\npicture 2 2 1 1 1 1\n1 0 a\n'
    dataset = read(tmp_path, 'boxes', text)
    everything = pictures(dataset)
    for _ in range(20):
        chosen = rng.integers(0, 3, size=rng.integers(1, 6))
        assert pictures(dataset.subset(chosen)) == [everything[i] for i in chosen]
    parts = [dataset.subset([i]) for i in range(3)]
    assert pictures(type(dataset).concatenate(parts)) == everything
    assert dataset.without_inputs().tokens == 0 and dataset.without_inputs().n == 3


def test_values_appear_where_a_part_has_them(tmp_path):
    first = read(tmp_path, 'crfsuite', 'A\tx\n')
    second = read(tmp_path, 'crfsuite', 'A\tx:2\n', first)
    assert first.values is None
    assert sequences(type(first).concatenate([first, second])) == [[('A', {'x': 1.0}, {})], [('A', {'x': 2.0}, {})]]


def test_bias(dataset):
    biased = dataset.with_bias()
    assert 'bias' not in dataset.attributes
    assert sequences(biased) == [
        [(y, row | {'bias': 1.0}, edges) for y, row, edges in example] for example in sequences(dataset)
    ]
    with pytest.raises(DataError, match='bias'):
        biased.with_bias()


def test_bias_that_a_model_knows(tmp_path):
    known = read(tmp_path, 'crfsuite', 'A\tx\nB\ty:3\n', bias=True)
    assert known.attributes.names() == ['x', 'y', 'bias']
    again = read(tmp_path, 'crfsuite', 'A\ty\tnew\nB\n', known, bias=True)
    assert sequences(again) == [[('A', {'y': 1.0, 'bias': 1.0}, {}), ('B', {'bias': 1.0}, {})]]
    assert again.attributes is known.attributes
    middle = read(tmp_path, 'crfsuite', 'A\tbias\tx\nB\ty\n')
    test = read(tmp_path, 'crfsuite', 'A\ty\tx:2\nB\ty\n', middle, bias=True)
    assert sequences(test) == [[('A', {'bias': 1.0, 'x': 2.0, 'y': 1.0}, {}), ('B', {'bias': 1.0, 'y': 1.0}, {})]]


def test_rare_attributes_are_dropped(tmp_path):
    dataset = read(tmp_path, 'crfsuite', 'A\tx:2\ty\trare\nB\tx:3\ty\n\nA\tx\tlone:7\n', min_freq=2)
    assert dataset.attributes.names() == ['x', 'y']
    assert sequences(dataset) == [
        [('A', {'x': 2.0, 'y': 1.0}, {}), ('B', {'x': 3.0, 'y': 1.0}, {})],
        [('A', {'x': 1.0}, {})],
    ]
    dataset = read(tmp_path, 'conll', CONLL, template=TEMPLATE, min_freq=2)
    assert dataset.attributes.names() == ['U0:a', 'U0:b', 'U0:c', 'U1:_B+1']
    assert dataset.edge_attributes.names() == [], 'B macros are counted from the second token on'
    assert dataset.edge_indptr is not None


def test_tokens_as_examples(tmp_path):
    dataset = read(tmp_path, 'conll', CONLL, template=TEMPLATE, task='multiclass')
    assert dataset.n == dataset.tokens == 6
    assert dataset.edge_indptr is None
    assert dataset.offsets.tolist() == list(range(7))


def test_labels_are_sorted(tmp_path):
    numbers = read(tmp_path, 'svmlight', '10 1:1\n9 1:1\n-1 1:1\n')
    assert numbers.label_names.names() == ['-1', '9', '10']
    assert numbers.labels.tolist() == [2, 1, 0]
    words = read(tmp_path, 'svmlight', 'b 1:1\n10 1:1\n9 1:1\nB 1:1\n')
    assert words.label_names.names() == ['10', '9', 'B', 'b']


def test_labels_that_are_not_known_keep_their_names(tmp_path):
    known = read(tmp_path, 'crfsuite', 'A\tx\nB\ty\n')
    test = read(tmp_path, 'crfsuite', 'C\tx\n\tx\nA\tx\n\nC\ty\n', known)
    assert test.labels.tolist() == [-1, -1, 0, -1]
    assert test.unknown_labels == {0: 'C', 3: 'C'}
    assert [test.label(t) for t in range(4)] == ['C', None, 'A', 'C']
    assert test.subset([1]).unknown_labels == {0: 'C'}
    assert type(test).concatenate([test, test]).unknown_labels == {0: 'C', 3: 'C', 4: 'C', 7: 'C'}
    assert np.array_equal(test.label_names.names(), ['A', 'B'])


@pytest.mark.parametrize('name', ['svmlight', 'svmhmm', 'crfsuite'])
def test_long_lines(tmp_path, name, rng):
    """Rows longer than what insertion sorts are sorted and summed as well."""
    numbers = rng.permutation(500) + 1
    if name == 'crfsuite':
        row = '\t'.join(f'{k}:{v}' for v, k in enumerate(numbers, 2))
        text = f'A\t{row}\n\nB\t{row}\t7:1\n\nC\t' + '\t'.join('7' for _ in range(100)) + '\n'
    else:
        row = ' '.join(f'{k}:{v}' for k, v in sorted((k, v) for v, k in enumerate(numbers, 2)))
        text = f'1 {"qid:1 " * (name == "svmhmm")}{row}\n'
    got = sequences(read(tmp_path, name, text))
    values = {str(k): float(v) for v, k in enumerate(numbers, 2)}
    assert got[0][0][1] == values
    if name == 'crfsuite':
        assert got[1][0][1] == values | {'7': values['7'] + 1}
        assert got[2][0][1] == {'7': 100.0}
