"""A zip file of one JSON document and any number of arrays: what models and checkpoints are made of.

Members carry a fixed time, so equal contents are equal bytes. Arrays are .npy members of plain numbers, little endian;
nothing is ever unpickled. zipfile checks the CRC of each member that is read.
"""

import io
import json
import math
import mmap
import os
import struct
import sys
import tokenize
import warnings
import zipfile
import zlib

import numpy as np

from data_formats.compression import compressed_by, foreign
from data_formats.errors import DataError, file_errors

KINDS = 'biuf'  # kinds of numbers that arrays may hold
SUFFIX = '.npy'
START = b'PK\x03\x04'
LOCAL_HEADER = 30  # bytes before the name of a member; the last four are the lengths of name and extra field
HEADER_LIMIT = 1 << 16
SECTOR = 512  # bytes that tell what a file is
LEVEL = 1  # of deflating: four times as fast as zlib's usual one, and files are a twentieth larger
# What zipfile, zlib, json and numpy raise on damaged bytes.
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    OverflowError,
    SyntaxError,
    tokenize.TokenError,
    MemoryError,
    RecursionError,
    UserWarning,
)


def write_container(stream, name, document, arrays):
    """Write `document` (JSON-able) as the first member `name`, then the arrays (dict name -> array) in their order."""
    with zipfile.ZipFile(stream, 'w') as archive:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)
        data = text.encode('utf-8', 'surrogateescape')
        archive.writestr(_member(name, _pays(np.frombuffer(data, np.uint8))), data)
        for key, array in arrays.items():
            array = np.asarray(array, order='C')
            array = array.astype(array.dtype.newbyteorder('<'), copy=False)
            if array.dtype.kind not in KINDS:
                raise TypeError(f'array {key} has dtype {array.dtype}')
            member = _member(key + SUFFIX, _pays(array))
            with archive.open(member, 'w', force_zip64=array.nbytes >= 1 << 31) as target:
                np.lib.format.write_array(target, array, version=(1, 0), allow_pickle=False)


def is_own(path, name, format):
    """Whether a file is a container whose document `name` names that format, or the beginning of one."""
    with file_errors(path), open(path, 'rb') as stream:
        head = stream.read(LOCAL_HEADER + len(name))
        if not (head.startswith(START) and head[LOCAL_HEADER:] == name.encode()):
            return False
        try:
            zipfile.ZipFile(stream)
        except DAMAGE:
            return True  # what a copy that was stopped has left
    try:
        return Container(path, name, 'a file of ssvm').document.get('format') == format
    except DataError:
        return False


def _member(name, deflate):
    member = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    member.create_system = 3  # the same bytes on every system
    member.external_attr = 0o644 << 16
    member.compress_type = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
    member._compresslevel = LEVEL  # which has a public name from Python 3.13 on
    return member


def _pays(array):
    """Whether deflating an array saves half (reading it back takes longer), judged by up to sixteen slices of 4 KB."""
    data = array.reshape(-1).view(np.uint8)
    step = max(4096, data.size // 16)
    slices = [data[start : start + 4096].tobytes() for start in range(0, data.size, step)]
    return sum(len(zlib.compress(s, 1)) for s in slices) < 0.5 * sum(map(len, slices))


class Container:
    """A container to read from.

    Args:
        path: the file; '-' is standard input.
        name: the member that holds the JSON document.
        what: what the file should be, for messages ('an ssvm model').

    Raises:
        DataError: the file is missing, foreign, truncated or altered.
    """

    def __init__(self, path, name, what):
        self.path = os.fspath(path)
        self.what = what
        with self._open() as stream:
            self._bytes = self._view(stream)
            if not self._bytes:
                raise self.error('empty file', f'expected {what}')
            if self._bytes[: len(START)] != START:
                raise self._foreign()
            try:
                members = zipfile.ZipFile(stream).infolist()
            except DAMAGE as error:
                raise self.error(f'{what} that is truncated or damaged ({error})') from error
        self._members = {info.filename: info for info in members}
        if name not in self._members:
            raise self.error(f'not {what} (a zip file without {name})')
        self.document = self._read_document(name)

    def error(self, text, expected=None):
        return DataError('<stdin>' if self.path == '-' else self.path, None, text, expected)

    def _foreign(self):
        start = bytes(self._bytes[:SECTOR])
        kind = compressed_by(start)
        found = foreign(start) if kind is None else (f'compressed by {kind}', None)
        what = f'not {self.what}' if found is None else f'{found[0]}, not {self.what}'
        return self.error(what, 'expected a file that ssvm wrote' + ', unpacked' * (found is not None))

    def names(self):
        """Names of the arrays, in the order of the file."""
        return [name.removesuffix(SUFFIX) for name in self._members if name.endswith(SUFFIX)]

    def array(self, name, dtype, shape):
        """One array.

        Args:
            name: its name.
            dtype: the dtype it must have.
            shape: the shape it must have; None for a free length.

        Raises:
            DataError: missing, altered, or of another dtype or shape.
        """
        found = self.any_array(name)
        wanted = np.dtype(dtype)
        fits = found.ndim == len(shape) and all(n is None or n == m for n, m in zip(shape, found.shape, strict=True))
        if found.dtype != wanted or not fits:
            asked = ' x '.join('n' if n is None else str(n) for n in shape)
            raise self.error(
                f'array {name} is {found.dtype} {" x ".join(map(str, found.shape)) or "scalar"}',
                f'expected {wanted} {asked}',
            )
        return found

    def any_array(self, name):
        """One array of any kind of number and any shape; the result owns its memory and is writable."""
        if name + SUFFIX not in self._members:
            raise self.error(f'array {name} is missing', f'expected {self.what}')
        data = self._read(name + SUFFIX)
        try:
            stream = io.BytesIO(data[:HEADER_LIMIT])
            with warnings.catch_warnings():
                warnings.simplefilter('error')
                version = np.lib.format.read_magic(stream)
                reader = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
                shape, fortran, dtype = reader[version](stream)
            if dtype.kind not in KINDS:
                raise ValueError(f'dtype {dtype}')
            if math.prod(shape) * dtype.itemsize != len(data) - stream.tell() or min(shape, default=0) < 0:
                raise ValueError('wrong length')
            flat = np.frombuffer(data, dtype, offset=stream.tell()).copy()
            return flat.reshape(shape, order='F' if fortran else 'C')
        except DAMAGE as error:
            raise self.error(f'array {name} is damaged ({error})') from error

    def _open(self):
        with file_errors(self.path):
            if self.path == '-':
                return io.BytesIO(sys.stdin.buffer.read())
            stream = open(self.path, 'rb')  # noqa: SIM115 (closed by the caller)
            if stream.seekable():
                return stream
            with stream:
                return io.BytesIO(stream.read())

    @staticmethod
    def _view(stream):
        """The whole file as a memoryview, without a copy."""
        if isinstance(stream, io.BytesIO):
            return memoryview(stream.getvalue())
        if os.fstat(stream.fileno()).st_size == 0:
            return memoryview(b'')
        return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))

    def _read_document(self, name):
        data = self._read(name)
        try:
            document = parse_json(bytes(data).decode('utf-8', 'surrogateescape'))
        except DAMAGE as error:
            raise self.error(f'{name} is damaged ({error})') from error
        if not isinstance(document, dict):
            raise self.error(f'{name} is no JSON object', f'expected {self.what}')
        return document

    def _read(self, name):
        """The bytes of a member (a memoryview or bytes), their CRC checked."""
        info = self._members[name]
        try:
            head = self._bytes[info.header_offset :][:LOCAL_HEADER]
            if head[: len(START)] != START:
                raise EOFError('a member is not where it should be')
            name_size, extra_size = struct.unpack_from('<HH', head, LOCAL_HEADER - 4)
            start = info.header_offset + LOCAL_HEADER + name_size + extra_size
            data = self._bytes[start : start + info.compress_size]
            if info.compress_type == zipfile.ZIP_DEFLATED:
                # at most as long as it should be: a damaged file may promise, or unpack to, any size
                data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, info.file_size + 1)
            elif info.compress_type != zipfile.ZIP_STORED:
                raise zipfile.BadZipFile(f'compression {info.compress_type}')
            if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
                raise EOFError(f'{name} has another length or checksum')
        except DAMAGE as error:
            raise self.error(f'{self.what} that is truncated or altered ({error})') from error
        return data


def parse_json(text):
    """JSON without what readers disagree about: NaN, infinity, a key that stands twice. ValueError (or RecursionError)
    for anything else."""
    return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_unique)


def _no_constant(text):
    raise ValueError(f'{text} is no number')


def _unique(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f'key {next(key for key in keys if keys.count(key) > 1)!r} stands twice')
    return found
