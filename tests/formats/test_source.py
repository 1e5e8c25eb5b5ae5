"""Plain and compressed files, standard input, blocks, and text that is none."""

import bz2
import gzip
import io
import itertools
import lzma
import os
import re
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cython_ext.text.boundaries import after_blank_line, after_line, before_last_qid
from data_formats.errors import DataError
from data_formats.files.source import Source

PACK = {'plain': bytes, 'gzip': gzip.compress, 'bzip2': bz2.compress, 'xz': lzma.compress}
MARK = b'\xef\xbb\xbf'
TEXT = b''.join(b'line %d\n' % i for i in range(5000))


def whole(source, cut=after_line):
    return b''.join(block for block, _ in source.blocks(cut))


@pytest.mark.parametrize('how', PACK)
@pytest.mark.parametrize('block', [7, 1000, 1 << 20])
def test_compression_is_told_by_content(tmp_path, how, block):
    path = tmp_path / 'data.txt'
    path.write_bytes(PACK[how](TEXT))
    source = Source(path, block=block)
    assert source.head() == TEXT[: len(source.head())]
    with source:
        assert whole(source) == TEXT


def test_several_gzip_members(tmp_path):
    path = tmp_path / 'data.gz'
    path.write_bytes(gzip.compress(b'a\n') + gzip.compress(b'b\n'))
    with Source(path) as source:
        assert whole(source) == b'a\nb\n'


@pytest.mark.parametrize('how', ['gzip', 'bzip2', 'xz'])
@pytest.mark.parametrize('damage', ['cut', 'flipped'])
def test_damaged_compressed_files(tmp_path, how, damage):
    path = tmp_path / 'data'
    packed = bytearray(PACK[how](TEXT))
    if damage == 'cut':
        del packed[len(packed) // 2 :]
    else:
        packed[len(packed) // 2] ^= 0xFF
    path.write_bytes(packed)
    with pytest.raises(DataError, match=r'^[^:]*data: ') as error, Source(path) as source:
        whole(source)
    assert error.value.line is None


@pytest.mark.parametrize(
    ('start', 'rest'),
    [
        (b'\xef\xbb\xbf', b'a\n'),
        (b'', b'\xef\xbb\n'),
        (b'', b'a'),
        (b'', b'\n'),
        (b'\xef\xbb\xbf', b''),
        (b'', b'a\r\nb\r'),
    ],
)
def test_byte_order_mark_and_last_newline(tmp_path, start, rest):
    path = tmp_path / 'data'
    path.write_bytes(start + rest)
    with Source(path) as source:
        assert whole(source) == (rest if rest.endswith(b'\n') or not rest else rest + b'\n')


@given(st.lists(st.sampled_from([MARK, b'\n', b'\n\n', b'a', b' ', b'\xef', b'\xef\xbb', b'qid:1'])), st.integers(1, 9))
def test_byte_order_marks_of_joined_files(tmp_path_factory, parts, size):
    """Those at the beginning of lines are dropped wherever a block ends; lines keep their numbers."""
    text = b''.join(parts)
    text += b'\n' * (bool(text) and not text.endswith(b'\n'))
    expected = re.sub(rb'(?m)^(\xef\xbb\xbf)+', b'', text)
    path = tmp_path_factory.mktemp('marks') / 'data'
    path.write_bytes(text)
    for cut in (after_line, after_blank_line, lambda buffer: 0):
        with Source(path, block=size) as source:
            blocks = list(source.blocks(cut))
        assert b''.join(block for block, _ in blocks) == expected
        assert [line for _, line in blocks] == [
            1 + expected.count(b'\n', 0, sum(len(block) for block, _ in blocks[:k])) for k in range(len(blocks))
        ]
    with Source(path) as source:
        assert source.head() == expected and source.contents() == expected


@pytest.mark.parametrize('piped', [False, True])
@pytest.mark.parametrize('how', PACK)
def test_standard_input(monkeypatch, tmp_path, how, piped):
    packed = PACK[how](TEXT)
    if piped:
        reading, writing = os.pipe()
        monkeypatch.setattr(sys, 'stdin', open(reading))  # noqa: SIM115

        def feed():
            with os.fdopen(writing, 'wb', buffering=0) as stream:
                for i in range(0, len(packed), 1000):
                    stream.write(packed[i : i + 1000])

        thread = threading.Thread(target=feed)
        thread.start()
    else:
        monkeypatch.setattr(sys, 'stdin', io.TextIOWrapper(io.BytesIO(packed)))
    with Source('-') as source:
        assert source.name == '<stdin>'
        assert whole(source) == TEXT
    assert not sys.stdin.buffer.closed, 'standard input is not ours to close'
    if piped:
        thread.join()
    sys.stdin.close()


def test_a_pipe_gives_what_it_has(monkeypatch):
    """Whoever writes a sentence and waits gets it tagged before the pipe is closed."""
    reading, writing = os.pipe()
    monkeypatch.setattr(sys, 'stdin', open(reading))  # noqa: SIM115
    blocks = Source('-').blocks(after_blank_line)
    os.write(writing, b'a b\nc d\n\ne')
    assert next(blocks) == (b'a b\nc d\n\n', 1)
    os.write(writing, b' f\n\n')
    assert next(blocks) == (b'e f\n\n', 4)
    os.close(writing)
    assert list(blocks) == []
    sys.stdin.close()


def test_no_standard_input(monkeypatch):
    monkeypatch.setattr(sys, 'stdin', None)
    with pytest.raises(DataError, match='<stdin>: standard input is closed'):
        Source('-').head()


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        (b'a\nb\0c\n', "2: a NUL byte (expected text)"),
        (b'a\nb\rc\nd\n', '2: a carriage return inside the line (expected lines that end in LF or CRLF)'),
        (b'a\rb\rc', '1: a carriage return inside the line (expected lines that end in LF or CRLF)'),
        (b'a\r\r\n', '1: a carriage return inside the line (expected lines that end in LF or CRLF)'),
        ('a b\n'.encode('utf-16'), '1: this file is in UTF-16 (expected UTF-8)'),
        ('a b\n'.encode('utf-16-be'), '1: a NUL byte (expected text)'),
    ],
)  # fmt: skip
def test_text_that_is_none(tmp_path, text, message):
    path = tmp_path / 'data'
    path.write_bytes(text)
    for block in (4, 1 << 20):
        with pytest.raises(DataError) as error, Source(path, block=block) as source:
            whole(source)
        assert str(error.value) == f'{path}:{message}'


def test_files_that_cannot_be_read(tmp_path):
    for path, message in ((tmp_path / 'none', 'No such file or directory'), (tmp_path, 'Is a directory')):
        with pytest.raises(DataError) as error, Source(path) as source:
            whole(source)
        assert str(error.value) == f'{path}: {message}'


lines = st.lists(st.sampled_from([b'a b', b'', b' \t', b'x', b'\r']), max_size=12)


@given(lines, st.integers(1, 20), st.booleans())
def test_blocks_end_where_sequences_end(folder, content, block, last_newline):
    path = folder / 'blocks'
    text = b'\n'.join(content) + b'\n' * (last_newline or not content or content[-1] == b'\r')
    path.write_bytes(text)
    with Source(path, block=block) as source:
        parts = list(source.blocks(after_blank_line))
    joined = b''.join(part for part, _ in parts)
    assert joined == (text if text.endswith(b'\n') or not text else text + b'\n')
    number = 1
    for i, (part, line) in enumerate(parts):
        assert line == number
        number += part.count(b'\n')
        assert i == len(parts) - 1 or not part.split(b'\n')[-2].strip(), 'a blank line before every cut'


@given(st.lists(st.integers(1, 3), max_size=12), st.integers(1, 40))
def test_sequences_of_one_qid_stay_together(folder, steps, block):
    path = folder / 'qids'
    qids = [sum(steps[: i + 1]) // 2 for i in range(len(steps))]
    path.write_bytes(b''.join(b'1 qid:%d 1:1 # qid:9\n# note\n' % qid for qid in qids))
    with Source(path, block=block) as source:
        parts = [part for part, _ in source.blocks(before_last_qid)]
    assert b''.join(parts) == path.read_bytes()
    seen = [{line.split()[1] for line in part.split(b'\n') if line and line[:1] != b'#'} for part in parts]
    for a, b in itertools.pairwise(seen):
        assert not a & b
