"""A zip file of one JSON document and any number of arrays: what models and checkpoints are made of.

Members carry a fixed time, so equal contents are equal bytes. Arrays are .npy members of plain numbers, little endian;
nothing is ever unpickled. zipfile checks the CRC of each member that is read.
"""

import io
import json
import math
import os
import struct
import sys
import warnings
import zipfile
import zlib

import numpy as np

from data_formats.errors import DataError, file_errors

KINDS = 'biuf'  # kinds of numbers that arrays may hold
SUFFIX = '.npy'
START = b'PK\x03\x04'
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


def _member(name, deflate):
    member = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    member.create_system = 3  # the same bytes on every system
    member.external_attr = 0o644 << 16
    member.compress_type = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
    return member


def _pays(array):
    """Whether deflating an array saves a third or more, judged by up to sixteen slices of 4 KB."""
    data = array.reshape(-1).view(np.uint8)
    step = max(4096, data.size // 16)
    slices = [data[start : start + 4096].tobytes() for start in range(0, data.size, step)]
    return sum(len(zlib.compress(s, 1)) for s in slices) < 0.67 * sum(map(len, slices))


class Container:
    """A container opened for reading. Used as a context manager.

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
        self._stream = self._open()
        try:
            self.size = self._stream.seek(0, io.SEEK_END)
            self._check_start()
            try:
                self._archive = zipfile.ZipFile(self._stream)
            except DAMAGE as error:
                raise self.error(f'{what} that is truncated or damaged ({error})') from error
            self._members = {info.filename: info for info in self._archive.infolist()}
            if name not in self._members:
                raise self.error(f'not {what} (a zip file without {name})')
            self.document = self._read_document(name)
        except BaseException:
            self._stream.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._archive.close()
        self._stream.close()

    def error(self, text, expected=None):
        return DataError('<stdin>' if self.path == '-' else self.path, None, text, expected)

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
            stream = io.BytesIO(data[: 1 << 16])
            with warnings.catch_warnings():
                warnings.simplefilter('error')
                version = np.lib.format.read_magic(stream)
                reader = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
                shape, fortran, dtype = reader[version](stream)
            if dtype.kind not in KINDS:
                raise ValueError(f'dtype {dtype}')
            if math.prod(shape) * dtype.itemsize != len(data) - stream.tell() or min(shape, default=0) < 0:
                raise ValueError('wrong length')
            flat = np.frombuffer(data, dtype, offset=stream.tell())
            return flat.reshape(shape, order='F' if fortran else 'C')
        except DAMAGE as error:
            raise self.error(f'array {name} is damaged ({error})') from error

    def _open(self):
        with file_errors(self.path):
            if self.path == '-':
                return io.BytesIO(sys.stdin.buffer.read())
            stream = open(self.path, 'rb')  # noqa: SIM115 (closed by __exit__)
            if stream.seekable():
                return stream
            with stream:
                return io.BytesIO(stream.read())

    def _check_start(self):
        self._stream.seek(0)
        start = self._stream.read(len(START))
        if not start:
            raise self.error('empty file', f'expected {self.what}')
        if start != START:
            raise self.error(f'not {self.what}', 'expected a file that ssvm wrote')

    def _read_document(self, name):
        data = self._read(name)
        try:
            document = parse_json(data.decode('utf-8', 'surrogateescape'))
        except DAMAGE as error:
            raise self.error(f'{name} is damaged ({error})') from error
        if not isinstance(document, dict):
            raise self.error(f'{name} is no JSON object', f'expected {self.what}')
        return document

    def _read(self, name):
        """The bytes of a member, its CRC checked."""
        info = self._members[name]
        # A damaged directory may promise any size: ask for no memory that the file cannot fill (at best 1:1032).
        if info.compress_size > self.size or info.file_size > 1032 * info.compress_size + 1032:
            raise self.error(f'member {name} is longer than the file')
        try:
            with self._archive.open(info) as member:
                data = bytearray(info.file_size)
                filled = 0
                with memoryview(data) as view:
                    while filled < len(data) and (count := member.readinto(view[filled:])):
                        filled += count
                if filled < len(data) or member.read(1):
                    raise EOFError('unexpected end')
                return data
        except OSError as error:
            raise self.error(f'cannot be read: {error.strerror or error}') from error
        except DAMAGE as error:
            raise self.error(f'{self.what} that is truncated or altered ({error})') from error


def parse_json(text):
    """JSON as the standard has it: no NaN, no infinity. ValueError (or RecursionError) for anything else."""
    return json.loads(text, parse_constant=_no_constant)


def _no_constant(text):
    raise ValueError(f'{text} is no number')
