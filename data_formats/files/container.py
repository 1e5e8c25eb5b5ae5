"""A zip file of one JSON document and any number of arrays: what models and checkpoints are made of.

Members carry a fixed time, so equal contents are equal bytes. Arrays are .npy members of plain numbers, little endian;
nothing is ever unpickled. How an array begins says what it is, so that one that should not be there is refused before
it is unpacked.
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
import zlib
from itertools import chain

import numpy as np

from data_formats.errors import DataError, file_errors, shown
from data_formats.files.compression import compressed_by, foreign
from data_formats.files.zip_members import LOCAL, MAX_DEFLATE_RATIO, START, DamagedError, members_of, pieces

NUMBER_KINDS = 'biuf'  # kinds of numbers that arrays may hold
ARRAY_SUFFIX = '.npy'
LARGEST_DOCUMENT = 1 << 25  # bytes
FREE, GROWTH = 1 << 28, 64  # bytes of arrays of free length: as many, or so many times those of the file
SIGNATURE_BYTES = 512  # bytes that tell what a file is
DEFLATE_LEVEL = 1  # of deflating: four times as fast as zlib's usual one, and files are a twentieth larger
# What zlib, json and numpy raise on damaged bytes.
DAMAGE_ERRORS = (
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
    Warning,
)


def write_container(stream, name, document, arrays):
    """Write `document` (JSON-able) as the first member `name`, then the arrays (dict name -> array) in their order."""
    import zipfile

    with zipfile.ZipFile(stream, 'w') as archive:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)
        data = text.encode('utf-8', 'surrogateescape')
        archive.writestr(_member(name, _pays(np.frombuffer(data, np.uint8))), data)
        for key, array in arrays.items():
            array = np.asarray(array, order='C')
            array = array.astype(array.dtype.newbyteorder('<'), copy=False)
            if array.dtype.kind not in NUMBER_KINDS:
                raise TypeError(f'array {key} has dtype {array.dtype}')
            member = _member(key + ARRAY_SUFFIX, _pays(array))
            with archive.open(member, 'w', force_zip64=array.nbytes >= 1 << 31) as target:
                np.lib.format.write_array(target, array, version=(1, 0), allow_pickle=False)


def is_own(path, name, format):
    """Whether a file is a container whose document `name` names that format, or the beginning of one."""
    with file_errors(path), open(path, 'rb') as stream:
        head = stream.read(LOCAL.size + len(name))
        if not (head.startswith(START) and head[LOCAL.size :] == name.encode()):
            return False
    try:
        return Container(path, name, 'a file of ssvm').document.get('format') == format
    except DataError as error:
        return isinstance(error.__cause__, DamagedError | struct.error)  # what a copy that was stopped has left


def _member(name, deflate):
    import zipfile

    member = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    member.create_system = 3  # the same bytes on every system
    member.external_attr = 0o644 << 16
    member.compress_type = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
    member._compresslevel = DEFLATE_LEVEL  # which has a public name from Python 3.13 on
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
        bounded: whether arrays of free length may not be much longer than the file: nothing needs them to be, unless
            they are vectors of weights that are mostly zero.

    Raises:
        DataError: the file is missing, foreign, truncated or altered.
    """

    def __init__(self, path, name, what, bounded=True):
        self.path = os.fspath(path)
        self.what = what
        with self._open() as stream:
            self._bytes = self._view(stream)
            if not self._bytes:
                raise self.error('empty file', f'expected {what}')
            if self._bytes[: len(START)] != START:
                raise self._foreign()
        try:
            self._members = members_of(self._bytes)
        except DAMAGE_ERRORS as error:
            raise self.error(f'{what} that is truncated or damaged ({error})') from error
        if name not in self._members:
            raise self.error(f'not {what} (a zip file without {name})')
        foreign = next((each for each in self._members if each != name and not each.endswith(ARRAY_SUFFIX)), None)
        if foreign is not None:
            raise self.error(f'a member {shown(foreign)} that is none of {what}')
        self._read = set()
        self._free = max(FREE, (GROWTH if bounded else MAX_DEFLATE_RATIO) * len(self._bytes))
        self.document = self._read_document(name)

    def error(self, text, expected=None):
        return DataError('<stdin>' if self.path == '-' else self.path, None, text, expected)

    def _foreign(self):
        start = bytes(self._bytes[:SIGNATURE_BYTES])
        kind = compressed_by(start)
        found = foreign(start) if kind is None else (f'compressed by {kind}', None)
        what = f'not {self.what}' if found is None else f'{found[0]}, not {self.what}'
        return self.error(what, 'expected a file that ssvm wrote' + ', unpacked' * (found is not None))

    def names(self):
        """Names of the arrays, in the order of the file."""
        return [name.removesuffix(ARRAY_SUFFIX) for name in self._members if name.endswith(ARRAY_SUFFIX)]

    def unread(self):
        """Names of those that nobody has asked for."""
        return [name for name in self.names() if name not in self._read]

    def array(self, name, dtype, shape):
        """One array.

        Args:
            name: its name.
            dtype: the dtype it must have.
            shape: the shape it must have; None for a free length.

        Raises:
            DataError: missing, altered, or of another dtype or shape.
        """
        return self._array(name, np.dtype(dtype), shape)

    def any_array(self, name):
        """One array of any kind of number and any shape; the result owns its memory and is writable."""
        return self._array(name, None, None)

    def verify(self, name):
        """The DataError of any_array where it raises one, in little memory: for arrays that nobody needs."""
        self._array(name, None, None, keep=False)

    def _array(self, name, wanted, shape, keep=True):
        """An array, its kind and shape checked before it is unpacked; wanted, shape: None where any will do."""
        if name + ARRAY_SUFFIX not in self._members:
            raise self.error(f'array {name} is missing', f'expected {self.what}')
        self._read.add(name)
        member = self._members[name + ARRAY_SUFFIX]
        try:
            parts = self._pieces(member)
            first = next(parts, b'')
            try:
                found, fortran, dtype, start = _described(first)
            except DAMAGE_ERRORS:
                for _ in parts:  # which says whether its checksum is right
                    pass
                raise
            size = math.prod(found)
            if size * dtype.itemsize != member.size - start:
                raise ValueError('wrong length')
            if wanted is not None:
                self._check(name, found, dtype, wanted, shape)
            if shape is None or None in shape:
                self._check_size(name, size * dtype.itemsize)
            else:  # what others have vouched for: as much may be in arrays that are like it
                self._free = max(self._free, size * dtype.itemsize)
            if not keep:
                for _ in parts:
                    pass
                return None
            flat = np.empty(size, dtype)
            _fill(flat.view(np.uint8), first[start:], parts)
            return flat.reshape(found, order='F' if fortran else 'C')
        except DAMAGE_ERRORS as error:
            raise self.error(f'array {name} is damaged ({error})') from error

    def _pieces(self, member):
        try:
            yield from pieces(self._bytes, member)
        except (DamagedError, zlib.error) as error:
            raise self.error(f'{self.what} that is truncated or altered ({error})') from error

    def _check(self, name, found, dtype, wanted, shape):
        fits = len(found) == len(shape) and all(n is None or n == m for n, m in zip(shape, found, strict=True))
        if dtype != wanted or not fits:
            asked = ' x '.join('n' if n is None else str(n) for n in shape)
            raise self.error(
                f'array {name} is {dtype} {" x ".join(map(str, found)) or "scalar"}',
                f'expected {wanted} {asked}',
            )

    def _check_size(self, name, size):
        if size > self._free:
            what = f'array {name} would have {size} bytes, in a file of {len(self._bytes)}'
            raise self.error(what, f'expected at most {self._free}')

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
        member = self._members[name]
        if member.size > LARGEST_DOCUMENT:
            raise self.error(f'{name} would have {member.size} bytes', f'expected at most {LARGEST_DOCUMENT}')
        try:
            document = parse_json(b''.join(self._pieces(member)).decode('utf-8', 'surrogateescape'))
        except DAMAGE_ERRORS as error:
            raise self.error(f'{name} is damaged ({error})') from error
        if not isinstance(document, dict):
            raise self.error(f'{name} is no JSON object', f'expected {self.what}')
        return document


def _described(first):
    """(shape, whether columns come first, dtype, where the numbers begin) of a .npy file, by its first bytes."""
    stream = io.BytesIO(first)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        version = np.lib.format.read_magic(stream)
        reader = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, fortran, dtype = reader[version](stream)
    if dtype.kind not in NUMBER_KINDS:
        raise ValueError(f'dtype {dtype}')
    if min(shape, default=0) < 0:
        raise ValueError('wrong length')
    return shape, fortran, dtype, stream.tell()


def _fill(target, first, parts):
    """Put bytes into an array, uint8, that has their length."""
    at = 0
    for part in chain([first], parts):
        target[at : at + len(part)] = np.frombuffer(part, np.uint8)
        at += len(part)


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
