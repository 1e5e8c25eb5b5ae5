"""Joined, damaged and foreign compressed files: all streams are read, and what is none is refused by name."""

import bz2
import gzip
import io
import lzma
import subprocess
import sys
import tarfile
import zipfile

import pytest

from cython_ext.text.boundaries import after_line
from data_formats.errors import DataError
from data_formats.files import compression
from data_formats.files.lines import text_lines
from data_formats.files.source import Source

A, B = b''.join(b'first %d\n' % i for i in range(3000)), b''.join(b'second %d\n' % i for i in range(3000))
PACK = {'gzip': gzip.compress, 'bzip2': bz2.compress, 'xz': lzma.compress}


def zstd_compress(text):
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.compress(text, options={zstd.CompressionParameter.checksum_flag: 1})
    return pytest.importorskip('zstandard').ZstdCompressor(write_checksum=True).compress(text)


@pytest.fixture(params=['gzip', 'bzip2', 'xz', 'zstd'])
def pack(request):
    return PACK.get(request.param, zstd_compress)


def read(folder, data, block=1 << 18):
    path = folder / 'data'
    path.write_bytes(data)
    with Source(path, block=block) as source:
        return b''.join(part for part, _ in source.blocks(after_line))


@pytest.mark.parametrize('block', [7, 1 << 18])
def test_joined_streams(tmp_path, pack, block):
    assert read(tmp_path, pack(A) + pack(B) + pack(b'') + pack(b'end\n'), block) == A + B + b'end\n'


def test_a_mark_in_two_streams(tmp_path, pack):
    assert read(tmp_path, pack(b'\xef') + pack(b'\xbb') + pack(b'\xbfa b\n')) == b'a b\n'


@pytest.mark.parametrize('damage', ['half', 'one byte short', 'only magic', 'altered beginning', 'altered middle'])
def test_a_damaged_second_stream(tmp_path, pack, damage):
    first, second = pack(A), bytearray(pack(B))
    if damage == 'half':
        del second[len(second) // 2 :]
    elif damage == 'one byte short':
        del second[-1:]
    elif damage == 'only magic':
        del second[6:]
    else:
        second[1 if damage == 'altered beginning' else len(second) // 2] ^= 0x55
    with pytest.raises(DataError, match='data: damaged compressed file: ') as error:
        read(tmp_path, first + bytes(second))
    assert error.value.line is None


@pytest.mark.parametrize('junk', [b'x', b'some more text\n', b'BZh', b'\0\0\0\0x', b'\0\0\0\0junk behind zeros'])
def test_junk_behind_a_stream(tmp_path, pack, junk):
    with pytest.raises(DataError, match='data: damaged compressed file: '):
        read(tmp_path, pack(A) + junk)


@pytest.mark.parametrize('zeros', [1, 4, 6, 512, 70000])
@pytest.mark.parametrize('kind', PACK)
def test_padding(tmp_path, kind, zeros):
    """gzip's and bzip2's tools take any number of zero bytes, those of xz multiples of four."""
    packed = PACK[kind]
    data = packed(A) + bytes(zeros) + packed(B) + bytes(zeros)
    if kind == 'xz' and zeros % 4:
        with pytest.raises(DataError, match='zero bytes behind a compressed stream'):
            read(tmp_path, data)
    else:
        assert read(tmp_path, data) == A + B


def test_zstd_takes_no_padding_and_skips_frames(tmp_path):
    with pytest.raises(DataError, match='something else behind a compressed stream'):
        read(tmp_path, zstd_compress(A) + bytes(4))
    skipped = b'\x52\x2a\x4d\x18' + (5).to_bytes(4, 'little') + b'\0text'
    assert read(tmp_path, skipped + zstd_compress(A) + skipped + zstd_compress(B)) == A + B


def test_zstd_without_a_module(tmp_path, monkeypatch):
    for name in ('zstandard', 'compression', 'compression.zstd'):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(DataError, match=r'data: compressed by zstd \(expected Python 3.14 or the module zstandard'):
        read(tmp_path, b'\x28\xb5\x2f\xfd\x04\0\x09\0\0a\n')


def test_compressed_twice(tmp_path, pack):
    with pytest.raises(DataError, match='data: compressed twice'):
        read(tmp_path, pack(pack(A)))


def archive(kind):
    stream = io.BytesIO()
    if kind == 'zip':
        with zipfile.ZipFile(stream, 'w') as target:
            target.writestr('train.txt', A)
    else:
        with tarfile.open(fileobj=stream, mode='w:' + kind.removeprefix('tar').removeprefix('.')) as target:
            member = tarfile.TarInfo('train.txt')
            member.size = len(A)
            target.addfile(member, io.BytesIO(A))
    return stream.getvalue()


FOREIGN = [
    (archive('zip'), 'a zip archive'),
    (archive('tar'), 'a tar archive'),
    (archive('tar.gz'), 'a tar archive'),
    (archive('tar.xz'), 'a tar archive'),
    (b'7z\xbc\xaf\x27\x1c\0\4', 'a 7z archive'),
    (b'Rar!\x1a\x07\x01\0', 'a rar archive'),
    (b'\x04\x22\x4d\x18d@\xa7', 'compressed by lz4'),
    (b'\x1f\x9d\x90a\n', 'compressed by compress (.Z)'),
    (b'LZIP\x01\x0c', 'compressed by lzip'),
    (lzma.compress(A, lzma.FORMAT_ALONE), 'compressed by lzma'),
]


@pytest.mark.parametrize(('data', 'what'), FOREIGN)
def test_what_cannot_be_read_is_named(tmp_path, data, what):
    with pytest.raises(DataError) as error:
        read(tmp_path, data)
    assert str(error.value).startswith(f'{tmp_path / "data"}: {what} (expected text, plain or compressed: un')
    with pytest.raises(DataError) as again, Source(tmp_path / 'data') as source:
        source.head()
    assert str(again.value) == str(error.value)
    with pytest.raises(DataError) as again:  # of a taxonomy, class features, a matrix
        text_lines(tmp_path / 'data')
    assert str(again.value) == str(error.value)


def test_xz_and_bzip2_of_the_tools(tmp_path):
    """Files that the programs themselves have padded and joined."""
    (tmp_path / 'text').write_bytes(A)
    for tool in ('xz', 'bzip2', 'gzip'):
        try:
            packed = subprocess.run([tool, '-c', tmp_path / 'text'], capture_output=True, check=True).stdout
        except FileNotFoundError:
            continue
        assert read(tmp_path, packed + packed) == A + A


def test_a_frame_in_small_pieces():
    """A zstd stream is unpacked a piece at a time by the module zstandard, which has no bound of its own."""
    zstandard = pytest.importorskip('zstandard')
    frame = compression.Frame(zstandard.ZstdDecompressor().decompressobj())
    packed = zstandard.compress(bytes(1 << 26))
    assert len(packed) > 1024
    assert len(frame.decompress(packed, 10)) < 1 << 26
    assert not frame.eof and not frame.needs_input


@pytest.mark.parametrize(
    ('name', 'start'),
    [
        ('a.svm.gz', b'\x1f'),
        ('b', b'\x1f'),
        ('c.bz2', b'B'),
        ('c.bz2', b'BZh'),
        ('d.xz', b'\xfd7z'),
        ('e.zst', b'(\xb5'),
    ],
)
def test_not_even_the_first_bytes(tmp_path, name, start):
    path = tmp_path / name
    path.write_bytes(start)
    with (
        pytest.raises(DataError, match='damaged compressed file: ends inside a compressed stream'),
        Source(path) as source,
    ):
        source.head()


def test_letters_that_compressed_files_begin_with_are_text(tmp_path):
    for text in (b'B', b'BZ', b'BZh', b'('):
        assert read(tmp_path, text) == text + b'\n'
