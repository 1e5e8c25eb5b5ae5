"""What is written is read back, within a format and from one to another."""

import io
import re
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cython_ext.text.vocabulary import Vocabulary
from data_formats.errors import UsageError
from data_formats.formats.registry import FORMATS
from tests.formats import strategies
from tests.formats.tools import groups, links, pictures, read, sequences, stream, written

PLAIN = {'svmlight': strategies.svmlight, 'svmhmm': strategies.svmhmm, 'crfsuite': strategies.crfsuite}


def plain(data):
    """A data set of the strategies as `sequences` gives it."""
    return [[(label, row, {}) for label, row in sequence] for sequence in data]


def singles(data):
    return [[token] for sequence in data for token in sequence]


def check(folder, name, data):
    """Read what the plain writer wrote; write it; read it again; write it again."""
    dataset = read(folder, name, PLAIN[name](data))
    assert sequences(dataset) == plain(data)
    text = written(name, dataset)
    again = read(folder, name, text)
    assert sequences(again) == plain(data)
    assert again.attributes.names() == dataset.attributes.names() or name == 'crfsuite'
    assert again.label_names == dataset.label_names
    assert (again.values is None) == all(v == 1 for sequence in data for _, row in sequence for v in row.values())
    assert written(name, again) == text
    return dataset


@given(strategies.numbered)
def test_svmlight(folder, data):
    dataset = check(folder, 'svmlight', singles(data))
    assert dataset.attributes.names() == sorted({k for s in data for _, row in s for k in row}, key=int)


@given(strategies.numbered)
def test_svmhmm(folder, data):
    check(folder, 'svmhmm', data)


@given(strategies.ranked)
def test_svmrank(folder, data):
    dataset = read(folder, 'svmrank', strategies.svmrank(data))
    assert groups(dataset) == data
    assert dataset.attributes.names() == sorted({k for _, rows in data for _, row in rows for k in row}, key=int)
    text = written('svmrank', dataset)
    again = read(folder, 'svmrank', text)
    assert groups(again) == data and written('svmrank', again) == text


@given(strategies.ranked, strategies.ranked, st.integers(1, 60))
@settings(max_examples=50)
def test_a_stream_of_groups_gives_what_reading_gives(folder, train, test, block):
    known = read(folder, 'svmrank', strategies.svmrank(train))
    text = strategies.svmrank(test)
    names = set(known.attributes.names())
    wanted = [(q, [(y, {k: v for k, v in row.items() if k in names}) for y, row in rows]) for q, rows in test]
    assert groups(read(folder, 'svmrank', text, known)) == wanted
    blocks = list(stream(folder, 'svmrank', text, known, block))
    assert list(chain.from_iterable(groups(b.dataset) for b in blocks)) == wanted
    assert b''.join(b.rows for b in blocks) == text.encode()


@given(st.lists(strategies.picture(), min_size=1, max_size=4))
def test_boxes(folder, data):
    dataset = read(folder, 'boxes', strategies.boxes(data), require_labels=False)
    assert pictures(dataset) == data
    text = written('boxes', dataset)
    assert text == strategies.boxes(data).encode()
    assert pictures(read(folder, 'boxes', text, require_labels=False)) == data


@given(*[st.lists(strategies.picture(always=True), min_size=1, max_size=4)] * 2, st.integers(1, 60))
@settings(max_examples=50)
def test_a_stream_of_pictures_gives_what_reading_gives(folder, train, test, block):
    known = read(folder, 'boxes', strategies.boxes(train))
    text, names = strategies.boxes(test), set(known.attributes.names())
    wanted = [(*rest, [(x, y, word if word in names else None) for x, y, word in points]) for *rest, points in test]
    assert pictures(read(folder, 'boxes', text, known)) == wanted
    blocks = list(stream(folder, 'boxes', text, known, block))
    assert list(chain.from_iterable(pictures(b.dataset) for b in blocks)) == wanted
    assert b''.join(b.rows for b in blocks) == text.encode()


def test_numbers_of_attributes_that_have_names(tmp_path):
    dataset = read(tmp_path, 'svmrank', '1 qid:7 2:1 9:0.5\n0 qid:7\n')
    names = io.BytesIO()
    dataset.attributes = Vocabulary([b'b', b'a'])
    assert written('svmrank', dataset, names) == b'1 qid:7 1:1 2:0.5\n0 qid:7\n'
    assert names.getvalue() == b'attribute\t1\tb\nattribute\t2\ta\n'


@given(strategies.named)
def test_crfsuite(folder, data):
    dataset = check(folder, 'crfsuite', data)
    seen = list(dict.fromkeys(k for s in data for _, row in s for k in row))
    assert dataset.attributes.names() == seen, 'in order of first appearance'
    labels = [name.encode() for name in dataset.label_names.names()]
    if all(label.isdigit() and str(int(label)).encode() == label for label in labels):
        assert labels == sorted(labels, key=int)
    else:
        assert labels == sorted(labels) or any(label.lstrip(b'-').isdigit() for label in labels)


@given(strategies.matchings)
def test_links(folder, data):
    """Also by qid alone, and by blank lines alone."""
    dataset = read(folder, 'links', strategies.links(data))
    wanted = [[(f'{target} {row}-{column}', values) for row, column, target, values in example] for example in data]
    assert links(dataset) == wanted and dataset.complete
    text = written('links', dataset)
    again = read(folder, 'links', text)
    assert links(again) == wanted
    assert again.attributes.names() == dataset.attributes.names() and written('links', again) == text
    assert links(read(folder, 'links', text.replace(b'\n\n', b'\n'))) == wanted
    assert links(read(folder, 'links', re.sub(rb' qid:\d+', b'', text))) == wanted


@given(strategies.numbered)
def test_svmhmm_to_crfsuite_and_back_is_the_identity(folder, data):
    first = read(folder, 'svmhmm', strategies.svmhmm(data))
    text = written('svmhmm', first)
    middle = read(folder, 'crfsuite', written('crfsuite', first))
    assert sequences(middle) == plain(data)
    names = io.BytesIO()
    assert written('svmhmm', middle, names) == text
    assert names.getvalue() == b'', 'numbers need no list of names'


@given(strategies.numbered)
def test_svmlight_to_crfsuite_and_back_is_the_identity(folder, data):
    first = read(folder, 'svmlight', strategies.svmlight(data))
    middle = read(folder, 'crfsuite', written('crfsuite', first))
    assert sequences(middle) == plain(singles(data)), 'one-token sequences'
    assert written('svmlight', middle) == written('svmlight', first)
    assert sequences(read(folder, 'svmhmm', written('svmhmm', first))) == plain(singles(data))


@given(strategies.named, st.sampled_from(['svmlight', 'svmhmm']))
def test_names_are_numbered_where_numbers_are_wanted(folder, data, target):
    dataset = read(folder, 'crfsuite', strategies.crfsuite(data))
    names = io.BytesIO()
    text = written(target, dataset, names)
    lists = {b'label': {}, b'attribute': {}}
    for line in names.getvalue().split(b'\n')[:-1]:
        kind, number, name = line.split(b'\t')
        lists[kind][number.decode()] = name.decode()
    got = sequences(read(folder, target, text))

    def named(label, row, edges):
        return (
            lists[b'label'].get(label, label),
            {lists[b'attribute'].get(k, k): v for k, v in row.items()},
            edges,
        )

    expected = data if target == 'svmhmm' else singles(data)
    if not lists[b'label']:
        expected = [[(f'{float(label):.17g}', row) for label, row in s] for s in expected]
        got = [[(f'{float(label):.17g}', *rest) for label, *rest in s] for s in got]
    assert [[named(*token) for token in s] for s in got] == plain(expected)


def test_conll_to_everything(tmp_path):
    template = 'U0:%x[0,0]\nU1:%x[-1,1]/%x[0,1]\nB\n'
    dataset = read(tmp_path, 'conll', 'a: X A\nb\\ Y B\n\na: X B\n', template=template)
    assert written('crfsuite', dataset) == (
        b'A\tU0\\:a\\:\tU1\\:_B-1/X\nB\tU0\\:b\\\\\tU1\\:X/Y\n\nB\tU0\\:a\\:\tU1\\:_B-1/X\n\n'
    )
    assert sequences(read(tmp_path, 'crfsuite', written('crfsuite', dataset))) == sequences(dataset)
    names = io.BytesIO()
    assert written('svmhmm', dataset, names) == b'1 qid:1 1:1 2:1\n2 qid:1 3:1 4:1\n2 qid:2 1:1 2:1\n'
    assert names.getvalue() == (
        b'label\t1\tA\nlabel\t2\tB\n'
        b'attribute\t1\tU0:a:\nattribute\t2\tU1:_B-1/X\nattribute\t3\tU0:b\\\nattribute\t4\tU1:X/Y\n'
    )
    assert written('svmlight', dataset) == b'A 1:1 2:1\nB 3:1 4:1\nB 1:1 2:1\n'


@pytest.mark.parametrize('target', ['crfsuite', 'svmhmm', 'svmlight'])
def test_features_of_transitions_have_no_place_elsewhere(tmp_path, target):
    dataset = read(tmp_path, 'conll', 'a A\nb B\n', template='B0:%x[0,0]\n')
    with pytest.raises(UsageError, match='cannot hold features of transitions'):
        written(target, dataset)


def test_labels_that_are_numbers_stay(tmp_path):
    dataset = read(tmp_path, 'svmlight', '-1 1:1\n0 1:1\n2.5 1:1\n1e3 2:1\n')
    assert written('svmlight', dataset) == b'-1 1:1\n0 1:1\n2.5 1:1\n1000 2:1\n'
    assert written('svmhmm', dataset) == b'-1 qid:1 1:1\n0 qid:2 1:1\n2.5 qid:3 1:1\n1000 qid:4 2:1\n'
    assert written('svmhmm', dataset, io.BytesIO()) == b'1 qid:1 1:1\n2 qid:2 1:1\n4 qid:3 1:1\n3 qid:4 2:1\n', (
        'by name: -1 0 1000 2.5'
    )


word_labels = st.sampled_from(['C#', 'a#b', 'é#', 'B-X', '-', ',', '\u2028', '\u00a0', '\x0b', '?', '_']) | st.text(
    st.characters(blacklist_categories=('Cs', 'Nd'), blacklist_characters=' \t\n\r\0\ufeff:#.,_+-'),
    min_size=1,
    max_size=3,
).filter(lambda text: text.lower() not in ('nan', 'inf', 'infinity'))


@given(strategies.sequences(strategies.numbers, word_labels, strategies.values))
def test_labels_that_are_words_stay(folder, data):
    first = read(folder, 'svmhmm', strategies.svmhmm(data))
    assert sequences(first) == plain(data)
    middle = read(folder, 'crfsuite', written('crfsuite', first))
    assert sequences(middle) == plain(data)
    assert sequences(read(folder, 'svmhmm', written('svmhmm', middle))) == plain(data)
    assert sequences(read(folder, 'svmlight', written('svmlight', first))) == plain(singles(data))


@pytest.mark.parametrize('target', ['svmlight', 'svmhmm'])
@pytest.mark.parametrize(
    ('labels', 'said'),
    [
        ('b #x', "label '#x' cannot be written in"),
        ('a\\:b', "label 'a:b' cannot be written in"),
        ('nan a', "label 'nan' is not a number"),
        ('1,2 a', "several numbers for a label, '1,2'"),
        ('01 1', "labels '01' and '1' are the same"),
        ('1.0 +1', "labels '+1' and '1.0' are the same"),
    ],
)
def test_labels_that_would_not_come_back_are_refused(tmp_path, target, labels, said):
    text = ''.join(f'{label}\t1\n' for label in labels.split(' '))
    dataset = read(tmp_path, 'crfsuite', text)
    with pytest.raises(UsageError) as error:
        written(target, dataset)
    assert said in str(error.value) and '--names FILE numbers them' in str(error.value)
    names = io.BytesIO()
    again = read(tmp_path, target, written(target, dataset, names))
    assert len(again.label_names) == len(dataset.label_names) and names.getvalue().startswith(b'label\t1\t')


@pytest.mark.parametrize('label', ['#x', 'a b', 'a:b', 'a,b'])
def test_labels_that_cannot_stand_in_a_set_are_refused(tmp_path, label):
    header = f"@relation 'x: -C 1'\n@attribute '{label}' {{0,1}}\n@attribute 1 numeric\n@data\n1,2\n"
    dataset = read(tmp_path, 'arff', header)
    with pytest.raises(UsageError, match=re.escape(f'label {label!r} cannot be written in multilabel files')):
        written('multilabel', dataset)
    assert written('multilabel', dataset, io.BytesIO()) == b'1 1:2\n'


@given(strategies.numbered, st.sampled_from(['svmlight', 'svmhmm']))
def test_numbers_from_0(folder, data, name):
    data = [[(y, {str(int(k) - 1): v for k, v in row.items()}) for y, row in s] for s in data]
    data = data if name == 'svmhmm' else singles(data)
    dataset = read(folder, name, PLAIN[name](data), zero_based=True)
    assert sequences(dataset) == plain(data)
    out = io.BytesIO()
    FORMATS[name].write(dataset, out, zero_based=True)
    assert sequences(read(folder, name, out.getvalue(), zero_based=True)) == plain(data)
    blocks = list(stream(folder, name, PLAIN[name](data), dataset, 7, zero_based=True))
    assert list(chain.from_iterable(sequences(b.dataset) for b in blocks)) == plain(data)


def test_tokens_without_label(tmp_path):
    dataset = read(tmp_path, 'crfsuite', '\t7\n3\t8\n', require_labels=False)
    assert written('crfsuite', dataset) == b'\t7\n3\t8\n\n'
    assert written('svmhmm', dataset) == b'0 qid:1 7:1\n3 qid:1 8:1\n'
    dataset = read(tmp_path, 'crfsuite', '\t7\n0\t8\n', require_labels=False)
    with pytest.raises(UsageError, match='without label'):
        written('svmhmm', dataset)


@given(strategies.named, strategies.named, st.integers(1, 60))
@settings(max_examples=50)
def test_a_stream_gives_what_reading_gives(folder, train, test, block):
    known = read(folder, 'crfsuite', strategies.crfsuite(train))
    text = strategies.crfsuite(test)
    whole = sequences(read(folder, 'crfsuite', text, known))
    blocks = list(stream(folder, 'crfsuite', text, known, block))
    assert list(chain.from_iterable(sequences(b.dataset) for b in blocks)) == whole
    assert b''.join(b.rows for b in blocks) == text.encode()
    names = set(known.attributes.names())
    assert whole == [[(y, {k: v for k, v in row.items() if k in names}, {}) for y, row in s] for s in test]


@given(strategies.numbered, strategies.numbered, st.integers(1, 60), st.sampled_from(['svmlight', 'svmhmm']))
@settings(max_examples=50)
def test_a_stream_of_numbers_gives_what_reading_gives(folder, train, test, block, name):
    known = read(folder, name, PLAIN[name](train))
    text = PLAIN[name](test)
    whole = sequences(read(folder, name, text, known))
    blocks = stream(folder, name, text, known, block)
    assert list(chain.from_iterable(sequences(b.dataset) for b in blocks)) == whole
    names = set(known.attributes.names())
    expected = [[(y, {k: v for k, v in row.items() if k in names}, {}) for y, row in s] for s in test]
    assert whole == (expected if name == 'svmhmm' else singles(expected))
