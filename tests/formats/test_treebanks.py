"""CoNLL-X and CoNLL-U: what is read, what comes back changed, and the way from one to the other."""

import io
import re
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_formats.files.source import Source
from data_formats.formats.registry import FORMATS
from tests.formats import strategies
from tests.formats.tools import read, sentences, stream

WRITERS = {'conllx': strategies.conllx, 'conllu': strategies.conllu}
names = st.sampled_from(sorted(WRITERS))
SAMPLE = (
    '# text = Don\'t panic!\n1-2\tDon\'t\t_\t_\t_\t_\t_\t_\t_\t_\n1\tDo\tdo\tAUX\tVB\t_\t3\taux\t_\t_\r\n'
    "2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t3:advmod\tx=y\n2.1\tyou\t_\t_\t_\t_\t_\t_\t3:nsubj\t_\n"
    '3\tpanic\tpanic\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No\n4\t!\t!\tPUNCT\t.\t_\t3\tpunct\t_\t_\n \t\n'
    '# nothing here\n\n1\tNo\tno\tINTJ\tUH\t_\t0\troot\t_\t_\n\n'
)  # fmt: skip


def trees(dataset):
    return [[(word.form, word.head, word.relation) for word in sentence] for sentence in sentences(dataset)]


def plain(treebank):
    return [[(form, head, relation) for form, _, _, _, head, relation in sentence] for sentence in treebank]


@given(strategies.treebanks(), names)
@settings(max_examples=40)
def test_reading(folder, treebank, name):
    dataset = read(folder, name, WRITERS[name](treebank))
    assert trees(dataset) == plain(treebank)
    tags = [(coarse, fine) for sentence in treebank for _, _, coarse, fine, _, _ in sentence]
    if all(fine == '_' for _, fine in tags):
        expected = [(coarse,) for coarse, _ in tags]
    elif all(coarse == '_' for coarse, _ in tags) or all(coarse == fine for coarse, fine in tags):
        expected = [(fine,) for _, fine in tags]
    else:
        expected = tags
    assert [word.tags for word in chain.from_iterable(sentences(dataset))] == expected


@given(strategies.treebanks(), strategies.treebanks(), names, st.integers(1, 80))
@settings(max_examples=40)
def test_a_stream_gives_what_reading_gives_and_comes_back_as_it_was(folder, train, test, name, block):
    known = read(folder, name, WRITERS[name](train))
    text = WRITERS[name](test)
    how = {'require_labels': False, 'tag_column': known.tag_column}
    whole = sentences(read(folder, name, text, known, **how))
    blocks = list(stream(folder, name, text, known, block, **how))
    assert list(chain.from_iterable(sentences(b.dataset) for b in blocks)) == whole
    relations = set(known.label_names.names())
    forms = set(known.word_names.names())
    assert [[word[:3:2] for word in sentence] for sentence in whole] == [
        [(form if form in forms else None, head) for form, head, _ in sentence] for sentence in plain(test)
    ]
    own = read(folder, name, text)
    out = io.BytesIO()
    for b in stream(folder, name, text, own, block, require_labels=False):
        FORMATS[name].write_predictions(b, (b.dataset.heads, b.dataset.relations), out)
    assert out.getvalue() == text.encode()
    assert [word.relation for word in chain.from_iterable(whole)] == [
        relation if relation in relations else None for _, _, relation in chain.from_iterable(plain(test))
    ]


def predicted(folder, text, name='conllu', **how):
    """What is written when every word hangs on the last one, by the first relation."""
    known = read(folder, name, text)
    out = io.BytesIO()
    for block in stream(folder, name, text, known, require_labels=False):
        lengths = np.diff(block.dataset.offsets)
        heads = np.repeat(lengths, lengths).astype(np.int32)
        heads[block.dataset.offsets[1:] - 1] = 0
        relations = np.where(heads == 0, -1, 0).astype(np.int32)
        FORMATS[name].write_predictions(block, (heads, relations), out, **how)
    return out.getvalue().decode()


def test_nothing_but_heads_and_relations_changes(tmp_path):
    before, after = SAMPLE.split('\n'), predicted(tmp_path, SAMPLE).split('\n')
    assert len(before) == len(after)
    found = []
    for a, b in zip(before, after, strict=True):
        if re.match(r'\d+\t', a):
            found.append(tuple(b.split('\t')[6:8]))
            a, b = (line.split('\t') for line in (a, b))
            assert a[:6] == b[:6] and a[8:] == b[8:]
        else:
            assert a == b
    assert found == [('4', 'advmod'), ('4', 'advmod'), ('4', 'advmod'), ('0', '_'), ('0', '_')]


def test_one_more_column_and_headers(tmp_path):
    text = predicted(tmp_path, SAMPLE, extra_columns=['a', 'b', 'c', 'd', 'é'], headers=['# 1 2.5', '# 1 0', '# 1 -1'])
    lines = text.split('\n')
    assert [line.split('\t')[-1] for line in lines if re.match(r'\d', line)] == ['_', 'a\r', 'b', '_', 'c', 'd', 'é']
    assert [lines[k - 1 : k + 2] for k, line in enumerate(lines) if line.startswith('# 1 ')] == [
        ["# text = Don't panic!", '# 1 2.5', "1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\t_"],
        ['# nothing here', '# 1 0', ''],
        ['', '# 1 -1', '1\tNo\tno\tINTJ\tUH\t_\t0\t_\t_\t_\té'],
    ]


@pytest.mark.parametrize('columns', [6, 7, 8, 10])
def test_columns_that_are_missing_are_added(tmp_path, columns):
    known = read(tmp_path, 'conllx', '1\ta\t_\tA\tA\t_\t2\tr\n2\tb\t_\tB\tB\t_\t0\ts\n')
    text = ''.join('\t'.join(row.split()[:columns]) + '\r\n' for row in ('1 a _ A A _ _ _ _ _', '2 b _ B B _ _ _ 7 p'))
    (block,) = stream(tmp_path, 'conllx', text, known, require_labels=False, tag_column=known.tag_column)
    out = io.BytesIO()
    FORMATS['conllx'].write_predictions(block, (np.array([0, 1], np.int32), np.array([1, 0], np.int32)), out)
    rest = ['', ''] if columns < 10 else ['\t_\t_', '\t7\tp']
    assert out.getvalue().decode() == f'1\ta\t_\tA\tA\t_\t0\ts{rest[0]}\r\n2\tb\t_\tB\tB\t_\t1\tr{rest[1]}\r\n'


def test_nbest(tmp_path):
    known = read(tmp_path, 'conllu', SAMPLE)
    (block,) = stream(tmp_path, 'conllu', SAMPLE, known, require_labels=False)
    best = np.array([3, 3, 0, 3], np.int32), np.array([2, 0, 3, 1], np.int32)
    one = np.array([0], np.int32), np.array([3], np.int32)
    out = io.BytesIO()
    none = np.zeros((2, 0), np.int32)
    candidates = [[(best, 2.5, 0.75), (best, 1, 0.25)], [(none, 0.0, 1.0)], [(one, 0.5, None)]]
    FORMATS['conllu'].write_nbest(block, candidates, out)
    text = out.getvalue().decode()
    blocks = re.split('^# [0-9].*\n', text, flags=re.MULTILINE)[1:]
    assert re.findall('# [0-9].*', text) == ['# 1 2.5 0.75', '# 2 1 0.25', '# 1 0 1', '# 1 0.5']
    assert [block.count("# text = Don't panic!") for block in blocks] == [1, 1, 0, 0]
    assert all(block.endswith('\n\n') for block in blocks) and blocks[2] == '# nothing here\n\n'
    rows = [[line.split('\t')[6:8] for line in block.split('\n') if re.match(r'\d+\t', line)] for block in blocks]
    first = [['3', 'punct'], ['3', 'advmod'], ['0', 'root'], ['3', 'aux']]
    assert rows == [first, first, [], [['0', 'root']]]


def transcribed(folder, source, target, text):
    path = folder / f'data.{source}'
    path.write_bytes(text.encode())
    out = io.BytesIO()
    found = FORMATS[source].transcribe(Source(path, block=40), FORMATS[target], out)
    return out.getvalue().decode(), found


@given(strategies.treebanks())
@settings(max_examples=40)
def test_from_one_to_the_other_and_back(folder, treebank):
    universal, blank = strategies.conllu(treebank), re.compile(' ')
    text, (count, words, lost) = transcribed(folder, 'conllu', 'conllx', universal)
    assert text == blank.sub('_', strategies.conllx(treebank))
    long = sum(len(sentence) > 1 for sentence in treebank)
    assert lost == {k: v for k, v in (('comment', 2 * count), ('range', long), ('empty node', long)) if v}
    assert (count, words) == (len(treebank), sum(map(len, treebank)))
    back, (*_, lost) = transcribed(folder, 'conllx', 'conllu', text)
    assert back == text and lost == {}
    assert transcribed(folder, 'conllu', 'conllu', universal)[0] == universal


def test_the_last_columns_are_lost(tmp_path):
    row = '1\ta\t_\tA\tA\t_\t0\tr'
    assert transcribed(tmp_path, 'conllx', 'conllu', f'# c\n{row}\r\n')[0] == f'# c\n{row}\t_\t_\r\n'
    assert transcribed(tmp_path, 'conllx', 'conllu', '1\ta\t_\tA\tA\t_\n')[0] == '1\ta\t_\tA\tA\t_\t_\t_\t_\t_\n'
    assert transcribed(tmp_path, 'conllx', 'conllu', f'{row}\t0\tp\n')[0] == f'{row}\t_\t_\n'
    assert transcribed(tmp_path, 'conllu', 'conllx', f'{row}\t0:r\tX=Y\n')[0] == f'{row}\t_\t_\n'


def test_punctuation_is_told_by_its_characters(tmp_path):
    marks = ['.', '``', "''", '—', '«', '。', '_', '...', '%', '¿', '-LRB-', '$', '+', 'A.', '1', 'я', '-1', '…!', '¢']
    text = ''.join(f'1\t{mark}\t_\tX\t_\t_\t0\tr\t_\t_\n\n' for mark in marks * 2)
    dataset = read(tmp_path, 'conllu', text)
    expected = dict.fromkeys(['.', '``', "''", '—', '«', '。', '_', '...', '%', '¿', '…!'], True)
    expected['``'] = False  # the grave accent is a symbol
    assert dataset.punctuation.tolist() == [expected.get(mark, False) for mark in marks * 2]


def test_subsets_and_joins(tmp_path):
    dataset = read(tmp_path, 'conllu', SAMPLE)
    parts = [dataset.subset([1]), dataset.subset([0])]
    assert sentences(dataset.concatenate(parts)) == [sentences(dataset)[1], sentences(dataset)[0]]
    assert dataset.complete and dataset.without_inputs().tokens == dataset.tokens == 5
