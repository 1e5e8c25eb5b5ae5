"""Containers of which every byte is accounted for: what writers of zip files make is read, anything else is refused."""

import io
import struct
import zipfile
import zlib

import numpy as np
import pytest

from data_formats.errors import DataError
from data_formats.files.container import Container, write_container
from data_formats.files.zip_members import PIECE, members_of, pieces

NAME = 'header.json'
ARRAYS = {
    'small': np.arange(3.0),
    'zeros': np.zeros((40, 30), np.int32),
    'noise': np.random.default_rng(0).normal(size=12),
    'table': np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    'nothing': np.zeros((0, 2)),
    'scalar': np.array(7, np.int64),
}


class Pipe(io.RawIOBase):
    """A stream that only takes bytes."""

    def __init__(self):
        super().__init__()
        self.parts = []

    def writable(self):
        return True

    def write(self, data):
        self.parts.append(bytes(data))
        return len(data)


def container(arrays=None, stream=None, document=None):
    stream = stream or io.BytesIO()
    write_container(stream, NAME, document or {'a': 'é', 'b': [1, 2]}, ARRAYS if arrays is None else arrays)
    return b''.join(stream.parts) if isinstance(stream, Pipe) else stream.getvalue()


def read(path, data):
    """(document, arrays) of the bytes of a container."""
    path.write_bytes(data)
    found = Container(path, NAME, 'a thing')
    return found.document, {name: found.any_array(name) for name in found.names()}


def same(found, document=None, arrays=None):
    arrays = ARRAYS if arrays is None else arrays
    return (
        found[0] == (document or {'a': 'é', 'b': [1, 2]})
        and list(found[1]) == list(arrays)
        and all(found[1][k].dtype == v.dtype and np.array_equal(found[1][k], v) for k, v in arrays.items())
    )


def unpacked(data, name):
    return b''.join(pieces(memoryview(data), members_of(memoryview(data))[name]))


@pytest.mark.parametrize('stream', [io.BytesIO, Pipe])
def test_everything_comes_back(tmp_path, stream):
    """Also from a pipe, which the lengths of members are written behind."""
    assert same(read(tmp_path / 'c', container(stream=stream())))


@pytest.mark.parametrize('size', [0, 1, 1 << 16, (1 << 16) + 1, PIECE, 3 * PIECE + 5])
@pytest.mark.parametrize('kind', [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_members_in_pieces(size, kind):
    rng = np.random.default_rng(size)
    for text in (bytes(size), rng.bytes(size), rng.integers(0, 3, size, np.uint8).tobytes()):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, 'w', kind) as archive:
            archive.writestr('first', b'x')
            archive.writestr('member', text)
        assert unpacked(stream.getvalue(), 'member') == text


@pytest.mark.parametrize('stream', [io.BytesIO, Pipe])
def test_wide_members(stream):
    """Members that might have had more than 4 GB."""
    target = stream()
    with zipfile.ZipFile(target, 'w') as archive, archive.open('wide', 'w', force_zip64=True) as member:
        member.write(b'abc')
    data = b''.join(target.parts) if stream is Pipe else target.getvalue()
    assert unpacked(data, 'wide') == b'abc'


def test_a_wide_list(monkeypatch):
    """As of a file of more than 2 GB, or of very many members."""
    monkeypatch.setattr(zipfile, 'ZIP64_LIMIT', 100)
    monkeypatch.setattr(zipfile, 'ZIP_FILECOUNT_LIMIT', 2)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, 'w') as archive:
        for k in range(5):
            with archive.open(f'm{k}', 'w', force_zip64=True) as member:
                member.write(bytes(50 * k))
    for k in range(5):
        assert unpacked(stream.getvalue(), f'm{k}') == bytes(50 * k)


def harmless_places(data):
    """Where the list says who made a member and what permissions it has; what is deflated, where some bits stand for
    nothing."""
    at, count = struct.unpack_from('<I', data, len(data) - 6)[0], struct.unpack_from('<H', data, len(data) - 12)[0]
    places = set()
    for member in members_of(memoryview(data)).values():
        if member.method == zipfile.ZIP_DEFLATED:
            places |= set(range(member.start, member.start + member.packed))
    for _ in range(count):
        names = sum(struct.unpack_from('<3H', data, at + 28))
        places |= {at + 4, at + 5, *range(at + 36, at + 42)}
        at += 46 + names
    return places


@pytest.mark.parametrize('stream', [io.BytesIO, Pipe])
def test_no_byte_can_be_changed(tmp_path, stream):
    """Each byte in turn, with one bit and with all bits changed."""
    data = container(stream=stream())
    harmless = harmless_places(data)
    for at in range(len(data)):
        for bits in (1 << at % 8, 0xFF):
            changed = bytearray(data)
            changed[at] ^= bits
            try:
                found = read(tmp_path / 'c', changed)
            except DataError as error:
                assert str(error).startswith(f'{tmp_path / "c"}: ')
            else:
                assert at in harmless and same(found), f'byte {at} of {len(data)}'


def test_no_byte_can_be_lost_or_added(tmp_path):
    data = container({'small': ARRAYS['small'], 'zeros': ARRAYS['zeros']})
    for at in range(len(data) + 1):
        for changed in (data[:at] + b'x' + data[at:], data[:at] + data[at + 1 :], data[:at]):
            if changed != data:
                with pytest.raises(DataError):
                    read(tmp_path / 'c', changed)


BEHIND = [b'x', b'\n', b'PK', bytes(22), bytes(1000), b'PK\x05\x06', b'PK\x05\x06' + bytes(18), bytes(1 << 18)]


@pytest.mark.parametrize('more', BEHIND, ids=lambda more: f'{more[:4]!r} {len(more)}')
def test_nothing_stands_behind_or_before(tmp_path, more):
    data = container()
    for changed in (data + more, more + data):
        with pytest.raises(DataError):
            read(tmp_path / 'c', changed)
    if more == b'x':
        with pytest.raises(DataError, match=r'c: a thing that is truncated or damaged \(1 byte behind its end\)'):
            read(tmp_path / 'c', data + more)


def test_joined_containers(tmp_path):
    one, other = container(), container({'small': np.arange(4.0)})
    for joined in (one + one, one + other, other + one, one + other + one, one + b'\n' + other):
        with pytest.raises(DataError, match='truncated or damaged'):
            read(tmp_path / 'c', joined)


def rewritten(change):
    """A container of two members that a function of (archive) has added to, all checksums right."""
    stream = io.BytesIO(container({'small': ARRAYS['small']}))
    with zipfile.ZipFile(stream, 'a') as archive:
        change(archive)
    return stream.getvalue()


def test_other_members(tmp_path):
    with pytest.warns(UserWarning, match='Duplicate'):
        twice = rewritten(lambda archive: archive.writestr('small.npy', b'x'))
    with pytest.raises(DataError, match=r"two members 'small\.npy'"):
        read(tmp_path / 'c', twice)
    with pytest.raises(DataError, match=r"a member 'notes\.txt' that is none of a thing"):
        read(tmp_path / 'c', rewritten(lambda archive: archive.writestr('notes.txt', b'x')))
    commented = io.BytesIO(container())
    with zipfile.ZipFile(commented, 'a') as archive:
        archive.comment = b'mine'
    with pytest.raises(DataError, match='behind its end'):
        read(tmp_path / 'c', commented.getvalue())
    for kind in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        data = rewritten(lambda archive, kind=kind: archive.writestr('more.npy', b'x', kind))
        with pytest.raises(DataError, match='truncated or damaged'):
            read(tmp_path / 'c', data)


@pytest.mark.parametrize('dtype', [b"'a8'", b"'|O'", b"'<f9'", b'[]', b'3'])
def test_kinds_of_numbers_that_arrays_do_not_have(tmp_path, dtype):
    """One that numpy warns of, too."""
    header = b"{'descr': %s, 'fortran_order': False, 'shape': (3,), }" % dtype
    member = b'\x93NUMPY\x01\x00' + len(header).to_bytes(2, 'little') + header + bytes(24)
    with pytest.raises(DataError, match='array more is damaged'):
        read(tmp_path / 'c', rewritten(lambda archive: archive.writestr('more.npy', member)))


def test_a_member_that_is_changed_by_hand_is_read(tmp_path):
    """Unpacked, changed and packed by a program of the system's own kind."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(container())) as old, zipfile.ZipFile(stream, 'w', zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    assert same(read(tmp_path / 'c', stream.getvalue()))


def bomb(head, size, level=9):
    """A container with one array of so many zero bytes behind a head, made without so much memory."""
    packer, parts, crc = zlib.compressobj(level, zlib.DEFLATED, -15), [], 0
    for piece in (head, *[bytes(1 << 20)] * (size >> 20)):
        parts.append(packer.compress(piece))
        crc = zlib.crc32(piece, crc)
    packed, total = b''.join([*parts, packer.flush()]), len(head) + (size >> 20 << 20)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, 'w') as archive:
        archive.writestr(NAME, b'{}')
    data = stream.getvalue()
    listed = data.index(b'PK\x01\x02')
    name = b'zeros.npy'
    numbers = struct.pack('<3I', crc, len(packed), total)
    local = struct.pack('<4s5H', b'PK\x03\x04', 20, 0, 8, 0, 0) + numbers + struct.pack('<2H', len(name), 0) + name
    entry = (
        struct.pack('<4s6H', b'PK\x01\x02', 20, 20, 0, 8, 0, 0)
        + numbers
        + struct.pack('<5H2I', len(name), 0, 0, 0, 0, 0, listed)
        + name
    )
    old, end = data[listed:-22], listed + len(local) + len(packed)
    return (
        data[:listed] + local + packed + old + entry
        + struct.pack('<4s4H2IH', b'PK\x05\x06', 0, 0, 2, 2, len(old) + len(entry), end, 0)
    )  # fmt: skip


def head_of(shape, dtype='<f8'):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {'descr': dtype, 'fortran_order': False, 'shape': shape})
    return stream.getvalue()


@pytest.fixture
def peak():
    """A function that says how many bytes numpy and Python have had at most since then."""
    import tracemalloc

    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


def test_a_bomb_takes_no_memory(tmp_path, peak):
    """600 MB in 600 KB: the beginning of the array says what it is, and that is not what should be there."""
    size = 600 << 20
    path = tmp_path / 'c'
    path.write_bytes(bomb(head_of((size // 8,)), size))
    assert path.stat().st_size < 1 << 20
    before = peak()
    found = Container(path, NAME, 'a thing')
    with pytest.raises(DataError, match=r'array zeros is float64 78643200 \(expected float64 3\)'):
        found.array('zeros', '<f8', (3,))
    with pytest.raises(DataError, match='array zeros would have 629145600 bytes, in a file of'):
        found.array('zeros', '<f8', (None,))
    with pytest.raises(DataError, match='would have 629145600 bytes'):
        found.any_array('zeros')
    assert peak() - before < 8 << 20


def test_lengths_that_cannot_be(tmp_path):
    """A length that so few packed bytes cannot have; an array whose beginning says another one than the list."""
    data = bytearray(container({'zeros': np.zeros(1000)}))
    for place in (data.index(b'zeros.npy') - 8, data.rindex(b'zeros.npy') - 22):
        data[place : place + 4] = (1 << 30).to_bytes(4, 'little')
    with pytest.raises(DataError, match=r"member 'zeros\.npy' cannot have 1073741824 bytes"):
        read(tmp_path / 'c', data)
    with pytest.raises(DataError, match='array zeros is damaged'):
        read(tmp_path / 'c', bomb(head_of((5, 10**30)), 1 << 20))


def test_a_document_that_is_too_large(tmp_path):
    data = container(document={'a': ' ' * (1 << 25)})
    with pytest.raises(DataError, match=r'header\.json would have 33554444 bytes'):
        read(tmp_path / 'c', data)


def test_weights_that_are_mostly_zero_may_be_long(tmp_path, monkeypatch):
    """Those of a checkpoint, and those of a model whose length the rest of it asks for."""
    monkeypatch.setattr('data_formats.files.container.FREE', 1 << 16)
    size = 8 << 20
    path = tmp_path / 'c'
    path.write_bytes(bomb(head_of((size,), '|u1'), size))
    assert len(Container(path, NAME, 'a thing', bounded=False).any_array('zeros')) == size
    found = Container(path, NAME, 'a thing')
    with pytest.raises(DataError, match='would have'):
        found.any_array('zeros')
    assert len(found.array('zeros', '|u1', (size,))) == size
    assert len(found.any_array('zeros')) == size, 'as long as one that was asked for'
