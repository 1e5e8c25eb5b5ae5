"""What predictors write: rows of the input with a column more, or a label a line."""

import io

import numpy as np
import pytest

from data_formats.datasets.tokens import ReadOptions
from data_formats.files.source import Source
from data_formats.formats.registry import FORMATS
from data_formats.parsing import reading
from tests.formats.tools import read, stream

CONLL = b'-DOCSTART- -X- O\n\nThe DT B-NP\ndog\tNN\tI-NP \n \t\n\n. . O\r\n\r\n-DOCSTART- -X- O\nok UH O'
TEMPLATE = 'U0:%x[0,0]\nB\n'


def blocks_of(folder, name, text, **options):
    known = read(folder, name, text, **options)
    return list(stream(folder, name, text, known, columns=known.columns, **options))


def predicted(name, blocks, columns=None, headers=None):
    """Everything written when the label of token t is t modulo the number of labels."""
    out, start, first = io.BytesIO(), 0, 0
    for block in blocks:
        dataset = block.dataset
        labels = np.arange(start, start + dataset.tokens, dtype=np.int32) % len(dataset.label_names)
        extra = None if columns is None else [columns(t) for t in range(start, start + dataset.tokens)]
        heads = None if headers is None else [headers(i) for i in range(first, first + dataset.n)]
        FORMATS[name].write_predictions(block, labels, out, extra, heads)
        start += dataset.tokens
        first += dataset.n
    return out.getvalue()


def test_conll_echoes_its_lines(tmp_path):
    blocks = blocks_of(tmp_path, 'conll', CONLL, template=TEMPLATE)
    assert predicted('conll', blocks) == (
        b'-DOCSTART- -X- O O\n\nThe DT B-NP B-NP\ndog\tNN\tI-NP \tI-NP\n\n\n'
        b'. . O O\r\n\r\n-DOCSTART- -X- O O\nok UH O B-NP\n'
    )


@pytest.mark.parametrize('block', [1, 10, 30, 1000])
def test_conll_blocks_make_no_difference(tmp_path, block):
    path = tmp_path / 'c.conll'
    known = read(tmp_path, 'conll', CONLL, template=TEMPLATE)
    path.write_bytes(CONLL)
    options = ReadOptions(template=TEMPLATE, columns=3)
    parts = list(reading.stream(FORMATS['conll'], Source(path, block=block), options, known))
    whole = list(reading.stream(FORMATS['conll'], Source(path), options, known))
    assert predicted('conll', parts) == predicted('conll', whole)
    assert len(parts) > 1 or block == 1000


def test_conll_with_columns_and_headers(tmp_path):
    blocks = blocks_of(tmp_path, 'conll', CONLL, template=TEMPLATE)
    text = predicted('conll', blocks, lambda t: [f'x:{t}', 'y'], lambda i: f'# 1 {i}')
    assert text == (
        b'-DOCSTART- -X- O O _ _\n\n# 1 0\nThe DT B-NP B-NP x:0 y\ndog\tNN\tI-NP \tI-NP\tx:1\ty\n\n\n'
        b'# 1 1\r\n. . O O x:2 y\r\n\r\n-DOCSTART- -X- O O _ _\n# 1 2\nok UH O B-NP x:3 y\n'
    )


def test_conll_without_labels(tmp_path):
    known = read(tmp_path, 'conll', 'a X A\nb Y B\n', template=TEMPLATE)
    (block,) = stream(tmp_path, 'conll', 'b Y\na X\n', known, template=TEMPLATE, columns=3)
    assert block.dataset.labels.tolist() == [-1, -1]
    assert block.dataset.unknown_labels == {}
    assert predicted('conll', [block]) == b'b Y A\na X B\n'


def test_label_lines(tmp_path):
    hmm, crf = b'3 qid:1 1:1\n1 qid:1 1:1\n2 qid:2 1:1\n', b'C\ta\nA\ta\n\n\nB\ta\n'
    assert predicted('svmhmm', blocks_of(tmp_path, 'svmhmm', hmm)) == b'1\n2\n3\n'
    assert predicted('svmlight', blocks_of(tmp_path, 'svmlight', b'2 1:1\n\n1 2:1\n')) == b'1\n2\n'
    assert predicted('crfsuite', blocks_of(tmp_path, 'crfsuite', crf)) == b'A\nB\n\nC\n\n'


def test_tokens_as_examples_keep_the_sequences_apart(tmp_path):
    blocks = blocks_of(tmp_path, 'crfsuite', b'C\ta\nA\ta\n\nB\ta\n\n', task='multiclass')
    assert blocks[0].dataset.n == 3
    assert predicted('crfsuite', blocks) == b'A\nB\n\nC\n\n'
    assert predicted('crfsuite', blocks, lambda t: ['x']) == b'A\tx\nB\tx\n\nC\tx\n\n'


def test_label_lines_with_columns_and_headers(tmp_path):
    def columns(t):
        return [f'A:{t}', 'é']

    crf = b'C\ta\nA\ta\n\nB\ta\n'
    blocks = blocks_of(tmp_path, 'crfsuite', crf)
    text = predicted('crfsuite', blocks, columns, lambda i: f'# {i}')
    assert text == '# 0\nA\tA:0\té\nB\tA:1\té\n\n# 1\nC\tA:2\té\n\n'.encode()
    blocks = blocks_of(tmp_path, 'svmlight', b'2 1:1\n1 2:1\n')
    assert predicted('svmlight', blocks, columns) == '1 A:0 é\n2 A:1 é\n'.encode()


def test_nbest(tmp_path):
    candidates = [[(np.array([0, 1]), 2.5, None), (np.array([1, 1]), -1.0, None)], [(np.array([1]), 1 / 3, 0.25)]]
    blocks = blocks_of(tmp_path, 'conll', b'a X A\nb\tY\tB\n\nc X A\n\n', template=TEMPLATE)
    out = io.BytesIO()
    FORMATS['conll'].write_nbest(blocks[0], candidates, out)
    assert out.getvalue() == (
        b'# 1 2.5\na X A A\nb\tY\tB\tB\n\n# 2 -1\na X A B\nb\tY\tB\tB\n\n# 1 0.3333333333 0.25\nc X A B\n\n'
    )
    out = io.BytesIO()
    FORMATS['crfsuite'].write_nbest(blocks_of(tmp_path, 'crfsuite', b'A\ta\nB\tb\n\nA\ta\n\n')[0], candidates, out)
    assert out.getvalue() == b'# 1 2.5\nA\nB\n\n# 2 -1\nB\nB\n\n# 1 0.3333333333 0.25\nB\n\n'


def test_names_that_are_no_text_come_out_as_they_went_in(tmp_path):
    text = b'caf\xe9 X \xe9\n'
    (block,) = blocks_of(tmp_path, 'conll', text, template=TEMPLATE)
    assert predicted('conll', [block]) == b'caf\xe9 X \xe9 \xe9\n'
    assert predicted('conll', [block], lambda t: ['x']) == b'caf\xe9 X \xe9 \xe9 x\n'


def test_memory_does_not_grow_with_the_input(tmp_path):
    """Unknown labels and words are many, what a stream keeps of them is bounded."""
    known = read(tmp_path, 'conll', 'a X A\nb Y B\n', template=TEMPLATE)
    text = ''.join(f'w{i} X L{i}\n\n' for i in range(60_000))
    tokens = 0
    for block in stream(tmp_path, 'conll', text, known, block=1 << 16, template=TEMPLATE, columns=3):
        first = block.dataset.unknown_labels[0]
        assert first == f'L{tokens}'
        assert len(block.dataset.label_names) == 2
        tokens += block.dataset.tokens
        assert block.dataset.tokens < 10_000
    assert tokens == 60_000
