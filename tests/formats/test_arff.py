"""ARFF files: what is read, by which labels, and what is written comes back."""

import gzip
import io
from itertools import chain
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_formats.datasets.tokens import ReadOptions
from data_formats.errors import DataError
from data_formats.formats.registry import FORMATS
from data_formats.parsing import reading
from data_formats.parsing.label_xml import label_names
from tests.cli.commands import run
from tests.formats import strategies
from tests.formats.tools import label_sets, read, stream, written

HEADER = '@relation x\n@attribute a numeric\n@attribute l1 {0,1}\n@attribute b {no,yes}\n@attribute l2 {0,1}\n@data\n'
ROWS = '0.5,1,yes,0\n{1 1,3 1}\n{}\n'
SETS = [(['l1'], {'a': 0.5, 'b=yes': 1.0}), (['l1', 'l2'], {}), ([], {})]


def xml(*names, start='<labels xmlns="http://mulan.sourceforge.net/labels">'):
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n{start}'
        + ''.join(f'<label name="{k}"/>\n' for k in names)
        + '</labels>'
    )


def plain(columns, n_labels, rows):
    """A file of the strategies as `label_sets` gives it, the labels as a set."""
    out = []
    for row in rows:
        labels, inputs = set(), {}
        for k, ((name, own), value) in enumerate(zip(columns, row, strict=True)):
            if k < n_labels:
                labels |= {name} if own[value] == '1' else set()
            elif value:
                inputs |= {name: value} if own is None else {f'{name}={own[value]}': 1.0}
        out.append((labels, inputs))
    return out


def as_sets(dataset):
    return [(set(labels), row) for labels, row in label_sets(dataset)]


def attributes_of(columns):
    return [k for name, own in columns for k in ([name] if own is None else [f'{name}={value}' for value in own[1:]])]


@given(strategies.arff_files(), st.randoms(use_true_random=False), st.booleans(), st.booleans())
def test_reading_and_writing(folder, file, how, last, beside):
    """Labels first or last with a relation of MEKA, or anywhere with an XML file."""
    columns, n_labels, rows = file
    order = list(range(len(columns)))
    if beside:
        how.shuffle(order)
    elif last:
        order = order[n_labels:] + order[:n_labels]
    relation = 'x' if beside else f'a b: -C {-n_labels if last else n_labels} -y'
    text = strategies.arff([columns[k] for k in order], [[row[k] for k in order] for row in rows], relation, how)
    labels = [name for name, _ in columns[:n_labels]]
    names = folder / 'data.xml'
    if beside and any(not c.isprintable() for name in labels for c in name):
        return  # XML has no way to write some characters
    names.unlink(missing_ok=True)
    if beside:
        how.shuffle(labels)
        inside = ''.join(f'<label name={quoteattr(name)}></label>' for name in labels)
        names.write_text(f'<labels xmlns="http://mulan.sourceforge.net/labels">{inside}</labels>', encoding='utf-8')
    try:
        dataset = read(folder, 'arff', text)
    finally:
        names.unlink(missing_ok=True)
    expected = plain(columns, n_labels, rows)
    assert as_sets(dataset) == expected
    assert sorted(dataset.label_names.names()) == sorted(labels)
    assert dataset.attributes.names() == attributes_of([columns[k] for k in order if k >= n_labels])
    again = read(folder, 'arff', written('arff', dataset))
    assert as_sets(again) == expected
    assert again.attributes == dataset.attributes and again.label_names == dataset.label_names


@given(strategies.labelled_sets(strategies.column_names, strategies.column_names))
def test_any_data_can_be_written(folder, data):
    """Numbers and names as multilabel files have them, and worse."""
    if not any(chain.from_iterable(data)):
        return  # a header without any attribute
    dataset = dataset_of(data)
    again = read(folder, 'arff', written('arff', dataset))
    prefix = dict(zip(dataset.attributes.names(), again.attributes.names(), strict=True))
    assert as_sets(again) == [(set(labels), {prefix[k]: v for k, v in row.items() if v}) for labels, row in data]
    clash = set(dataset.attributes.names()) & set(dataset.label_names.names())
    assert all(new == old or (clash and new.lstrip('At') == old.lstrip('At')) for old, new in prefix.items())


def dataset_of(data):
    """A LabelSetDataset of labels and attributes of any name."""
    from cython_ext.text.vocabulary import Vocabulary
    from data_formats.datasets.multilabel import LabelSetDataset
    from data_formats.datasets.tokens import indptr_of

    attributes, labels = (Vocabulary(sorted({k for example in data for k in example[part]})) for part in (1, 0))
    rows = [sorted((attributes.get(k), v) for k, v in row.items()) for _, row in data]
    sets = [sorted(labels.get(k) for k in found) for found, _ in data]
    return LabelSetDataset(
        indptr_of(list(map(len, rows))),
        np.array([k for row in rows for k, _ in row], np.int32),
        np.array([v for row in rows for _, v in row], np.float64),
        indptr_of(list(map(len, sets))),
        np.array([k for found in sets for k in found], np.int32),
        attributes,
        labels,
    )


@given(strategies.arff_files(), strategies.arff_files(), st.randoms(use_true_random=False), st.integers(1, 300))
@settings(max_examples=50)
def test_a_stream_gives_what_reading_gives(folder, train, test, how, block):
    columns, n_labels, rows = train
    known = read(folder, 'arff', strategies.arff(columns, rows, f': -C {n_labels}', how))
    columns, n_labels, rows = test
    text = strategies.arff(columns, rows, f': -C {n_labels}', how)
    whole = read(folder, 'arff', text, known)
    names = set(known.attributes.names())
    assert as_sets(whole) == [
        (labels, {k: v for k, v in row.items() if k in names}) for labels, row in plain(columns, n_labels, rows)
    ]
    assert as_sets(read(folder, 'arff', text, known, threads=2)) == as_sets(whole)
    blocks = list(stream(folder, 'arff', text, known, block))
    assert list(chain.from_iterable(as_sets(b.dataset) for b in blocks)) == as_sets(whole)
    assert b''.join(b.rows for b in blocks) == text.encode()


@pytest.mark.parametrize(
    ('data', 'names'),
    [
        ('x.arff', 'x.xml'),
        ('x.arff.gz', 'x.xml'),
        ('x-train.arff', 'x.xml'),
        ('x_test.arff', 'x.xml.gz'),
        ('x-500-train.arff', 'x-500.xml'),
        ('X.ARFF', 'X.xml'),
    ],
)
def test_where_the_labels_are_named(tmp_path, data, names):
    for name, text in ((data, HEADER + ROWS), (names, xml('l2', 'l1'))):
        packed = gzip.compress(text.encode()) if name.endswith('.gz') else text.encode()
        (tmp_path / name).write_bytes(packed)
    assert label_sets(reading.read(FORMATS['arff'], tmp_path / data, ReadOptions())) == SETS


def test_the_xml_file_goes_before_the_relation(tmp_path):
    (tmp_path / 'data.xml').write_text(xml('l1', 'l2'))
    assert label_sets(read(tmp_path, 'arff', HEADER.replace(' x', " 'x: -C -1'") + ROWS)) == SETS
    (tmp_path / 'data.xml').unlink()
    assert label_sets(read(tmp_path, 'arff', HEADER.replace(' x', " 'x: -C -1'") + ROWS))[0] == (
        [],
        {'a': 0.5, 'l1=1': 1.0, 'b=yes': 1.0},
    )


@pytest.mark.parametrize(
    'text',
    [
        xml('l1', 'l2', start='<labels>'),
        '<labels><label name="l1"><label name="l2"/></label></labels>',
        '<m:labels xmlns:m="http://mulan.sourceforge.net/labels"><m:label name="l1"/><m:label name="l2"/></m:labels>',
        '\ufeff<!-- labels -->\r\n<labels>\r\n<label name="&#108;1"></label><label name="l2"></label></labels>\r\n',
    ],
)
def test_xml_files(tmp_path, text):
    (tmp_path / 'data.xml').write_text(text, encoding='utf-8', newline='')
    assert label_sets(read(tmp_path, 'arff', HEADER + ROWS)) == SETS


def test_names_with_escapes(tmp_path):
    (tmp_path / 'data.xml').write_text(
        '<labels><label name="a &amp; &quot;b&quot; &lt;é&gt;"/></labels>', encoding='utf-8'
    )
    assert label_names(tmp_path / 'data.xml') == ['a & "b" <é>'.encode()]
    dataset = read(tmp_path, 'arff', '@relation x\n@attribute \'a & "b" <é>\' {0,1}\n@data\n1\n{}\n')
    assert label_sets(dataset) == [(['a & "b" <é>'], {}), ([], {})]


BOMB = '<!DOCTYPE labels [<!ENTITY a "aaaaaaaaaa">' + ''.join(
    f'<!ENTITY {chr(98 + k)} "{f"&{chr(97 + k)};" * 10}">' for k in range(9)
)


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        (
            f'<?xml version="1.0"?>\n{BOMB}]>\n<labels><label name="&j;"/></labels>',
            ':2: a document type (expected <labels>',
        ),
        ('<labels><label name="l1"></labels>', ':1: no XML: mismatched tag'),
        ('<labels>\n<label name="&nope;"/></labels>', ':2: no XML: undefined entity'),
        ('', ':1: no XML: no element found'),
        ('<labels></labels>', ': no labels in this file (expected <labels> with <label name="..."> in it)'),
        ('<project><label name="l1"/></project>', ': no labels in this file'),
        ('<labels><label name="l1"/><label/></labels>', ': label 2 has no name'),
        (xml('l1', 'l2', 'l1'), ": label 'l1' twice (expected different names)"),
        (xml('l1', 'l3'), ": label 'l3' is no attribute of {arff} (expected one)"),
        (b'<labels><label name="\xe9"/></labels>', ': not UTF-8'),
        (xml('l1').encode('utf-16'), ':1: this file is in UTF-16'),
        (gzip.compress(xml('l1').encode())[:-9], ': damaged compressed file'),
    ],
)
def test_xml_files_that_are_refused(tmp_path, text, message):
    path = tmp_path / 'data.xml'
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError) as error:
        read(tmp_path, 'arff', HEADER + ROWS)
    assert str(error.value).startswith(f'{path}{message.format(arff=tmp_path / "data.arff")}')


def test_labels_that_are_no_attributes_of_a_file_to_predict(tmp_path):
    (tmp_path / 'data.xml').write_text(xml('l1', 'l2'))
    known = read(tmp_path, 'arff', HEADER + ROWS)
    text = '@relation x\n@attribute b {no,yes}\n@attribute l1 {0,1}\n@data\nyes,?\n'
    assert label_sets(read(tmp_path, 'arff', text, known, require_labels=False)) == [([], {'b=yes': 1.0})]
    with pytest.raises(DataError, match=r":5: no value of label 'l1' \(expected 0 or 1\)"):
        read(tmp_path, 'arff', text, known)


def test_labels_that_are_not_known(tmp_path):
    known = read(tmp_path, 'arff', HEADER.replace(' x', ' ": -C -1"') + '1,0,yes,1\n')
    test = read(
        tmp_path, 'arff', '@relation ": -C 2"\n@attribute l2 {0,1}\n@attribute new {0,1}\n@data\n1,1\n0,1\n', known
    )
    assert test.label_ids.tolist() == [0] and test.unknown_labels == {0: ['new'], 1: ['new']}


def test_rare_attributes_and_a_bias(tmp_path):
    (tmp_path / 'data.xml').write_text(xml('l1', 'l2'))
    dataset = read(tmp_path, 'arff', HEADER + ROWS + '2,0,no,1\n', min_freq=2, bias=True)
    assert [row for _, row in label_sets(dataset)] == [
        {'a': 0.5, 'bias': 1.0}, {'bias': 1.0}, {'bias': 1.0}, {'a': 2.0, 'bias': 1.0},
    ]  # fmt: skip


def test_predictions(tmp_path):
    names = ("'a, b'", 'c', "'it\\'s'")
    text = "@relation 'x: -C 3'\n" + ''.join(f'@attribute {name} {{0,1}}\n' for name in names) + '@data\n1,1,1\n{}\n'
    known = read(tmp_path, 'arff', text)
    blocks = [b for b in stream(tmp_path, 'arff', text, known) if b.dataset.n]
    out = io.BytesIO()
    for block in blocks:
        outputs = [block.dataset.labels(i) for i in range(block.dataset.n)]
        FORMATS['arff'].write_predictions(block, outputs, out)
        FORMATS['arff'].write_nbest(block, [[([1], 0.5, None)]], out)
    assert out.getvalue() == b"'a, b',c,'it\\'s'\n\n# 1 0.5\nc\n\n"


def test_conversion_there_and_back(tmp_path):
    (tmp_path / 'a.ml').write_text('3,1 1:0.5 7:2\n 2:1\n \nlabel 7:1\n')
    run('convert', '-q', tmp_path / 'a.ml', tmp_path / 'b.arff')
    assert (tmp_path / 'b.arff').read_text() == (
        "@relation 'multilabel: -C 3'\n\n@attribute 1 {0,1}\n@attribute 3 {0,1}\n@attribute label {0,1}\n"
        '@attribute Att1 numeric\n@attribute Att2 numeric\n@attribute Att7 numeric\n\n@data\n'
        '{0 1,1 1,3 0.5,5 2}\n{4 1}\n{}\n{2 1,5 1}\n'
    )
    run('convert', '-q', tmp_path / 'b.arff', tmp_path / 'c.ml')
    assert (tmp_path / 'c.ml').read_text() == '1,3 1:0.5 3:2\n 2:1\n \nlabel 3:1\n'


def test_every_other_kind_of_bytes(tmp_path):
    text = HEADER.encode().replace(b' x', b' ": -C -1"').replace(b'yes', b'\xe9')
    dataset = read(tmp_path, 'arff', text + b'{2 \xe9}\n')
    assert label_sets(dataset) == [([], {'b=\udce9': 1.0})]
