"""Compressed inputs, and what else a file may be that is no text, all told by its first bytes.

Files may hold several compressed streams one behind the other, as joining files with `cat` makes them: each is read,
and what stands behind the last one is refused unless it is the padding that the compressor's own tools allow. The
classes of the standard library take the rest of a file for junk, also where it is a damaged stream.
"""

import re

PIECE_BYTES = 1 << 16
# Of what cannot be read here: first bytes, what it is, and what makes it text.
FOREIGN = (
    (b'PK\x03\x04', 'a zip archive', 'unzip it'),
    (b'PK\x05\x06', 'a zip archive', 'unzip it'),
    (b'7z\xbc\xaf\x27\x1c', 'a 7z archive', 'unpack it, for instance with 7z x'),
    (b'Rar!\x1a\x07', 'a rar archive', 'unpack it, for instance with unrar x'),
    (b'\x04\x22\x4d\x18', 'compressed by lz4', 'unpack it with unlz4'),
    (b'LZIP\x01', 'compressed by lzip', 'unpack it with lzip -d'),
    (b'\x89LZO\0\r', 'compressed by lzop', 'unpack it with lzop -d'),
    (b'\x5d\0\0', 'compressed by lzma', 'unpack it with unlzma'),
    (b'\x1f\x9d', 'compressed by compress (.Z)', 'unpack it with gunzip'),
    (b'\x1f\x1e', 'compressed by pack (.z)', 'unpack it with gunzip'),
)
KINDS = {  # that are read: what their streams begin with
    'gzip': re.compile(rb'\x1f\x8b'),
    'bzip2': re.compile(rb'BZh[1-9]'),
    'xz': re.compile(rb'\xfd7zXZ\0'),
    'zstd': re.compile(rb'\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18'),  # a frame, or one that is skipped
}
OWN_MEMBERS = {
    b'header.json': 'a model of ssvm',
    b'checkpoint.json': 'a checkpoint of ssvm',
}  # first members of zip files
NAME_OFFSET = 30  # where the name of the first member of a zip file begins
TAR, TAR_AT = b'ustar', 257
ENDINGS = ('.gz', '.bz2', '.xz', '.zst')  # of names
BEGINNINGS = dict(zip(ENDINGS, (b'\x1f\x8b', b'BZh', b'\xfd7zXZ\0', b'\x28\xb5\x2f\xfd'), strict=True))
SIGNATURE_BYTES = 6  # bytes that tell compressed streams


def decompressor(raw, start):
    """A stream of the uncompressed bytes of `raw`, of which `start` has been read; None if it is not compressed.

    Raises:
        ImportError(what, expected): it is, and this Python has no module for it.
    """
    kind, whole = compressed_by(start), Prefixed(start, raw)
    if kind is None:
        return None
    if kind == 'gzip':
        import gzip

        return gzip.GzipFile(fileobj=whole, mode='rb')
    make, padding = {'bzip2': (_bzip2, 1), 'xz': (_xz, 4), 'zstd': (_zstd, 0)}[kind]
    return Streams(whole, make(), KINDS[kind].match, padding)


def compressed_by(start):
    """The name of the compression of a file that begins so; None where it is plain, or of a kind that is not read."""
    return next((kind for kind, magic in KINDS.items() if magic.match(start)), None)


def is_cut_short(start, name):
    """Whether a whole file is not even the first bytes of a compressed stream: by its name, since these may be letters,
    but for a byte that no text begins with."""
    return bool(start) and any(
        magic.startswith(start) and (name.endswith(ending) or start == b'\x1f') for ending, magic in BEGINNINGS.items()
    )


def foreign(start, more=lambda: b''):
    """(what a file is, what to do) by its first bytes, None where it may be text; more: reads the next bytes."""
    for magic, what, remedy in FOREIGN:
        if start.startswith(magic):
            name = (start + more())[NAME_OFFSET:] if what == 'a zip archive' else b''
            own = next((text for member, text in OWN_MEMBERS.items() if name.startswith(member)), None)
            return (own, 'expected data') if own else (what, f'expected text, plain or compressed: {remedy}')
    if start[TAR_AT : TAR_AT + len(TAR)] == TAR and b'\0' in start[:TAR_AT]:
        return 'a tar archive', 'expected text, plain or compressed: unpack it with tar xf'
    return None


class Prefixed:
    """A binary stream with some bytes that were read ahead put back in front."""

    def __init__(self, start, stream):
        self._start = start
        self._stream = stream

    def read(self, count=-1):
        if not self._start:
            return self._stream.read(count)
        if count < 0:
            start, self._start = self._start, b''
            return start + self._stream.read()
        start, self._start = self._start[:count], self._start[count:]
        return start


class Streams:
    """The uncompressed bytes of compressed streams that stand one behind the other.

    Args:
        raw: binary stream of the compressed bytes.
        make: function without arguments that makes a decompressor of the kind of bz2.BZ2Decompressor.
        begins: function that says whether bytes begin a stream.
        padding: a multiple of how many zero bytes may stand behind a stream; 0: none may.
    """

    def __init__(self, raw, make, begins, padding):
        self._raw, self._make, self._begins, self._padding = raw, make, begins, padding
        self._stream, self._ready = make(), b''

    def read(self, count):
        """Up to `count` bytes; none at the end of the last stream.

        Raises:
            EOFError, or what the decompressor raises: the file is damaged.
        """
        while not self._ready:
            if self._stream.eof:
                start = self._next()
                if not start:
                    return b''
                self._stream = self._make()
                self._ready = self._stream.decompress(start, count)
            elif self._stream.needs_input:
                piece = self._raw.read(PIECE_BYTES)
                if not piece:
                    raise EOFError('ends inside a compressed stream')
                self._ready = self._stream.decompress(piece, count)
            else:
                self._ready = self._stream.decompress(b'', count)
        found, self._ready = self._ready[:count], self._ready[count:]
        return found

    def _next(self):
        """The beginning of the next stream; empty at the end of the file."""
        rest, zeros = self._stream.unused_data, 0
        while True:
            if self._padding:
                zeros += len(rest) - len(rest.lstrip(b'\0'))
                rest = rest.lstrip(b'\0')
            piece = self._raw.read(PIECE_BYTES) if len(rest) < SIGNATURE_BYTES else b''
            if not piece:
                break
            rest += piece
        if zeros and zeros % self._padding:
            raise EOFError(f'{zeros} zero bytes behind a compressed stream')
        if rest and not self._begins(rest):
            raise EOFError('something else behind a compressed stream')
        return rest


class Frame:
    """One frame of Zstandard by the module zstandard, as a decompressor of the standard library; a piece of input at a
    time, of which not too much can become."""

    needs_input = property(lambda self: not self._waiting)
    eof = property(lambda self: self._frame.eof)
    unused_data = property(lambda self: self._frame.unused_data + self._waiting)

    def __init__(self, frame):
        self._frame, self._waiting = frame, b''

    def decompress(self, data, count):
        piece, self._waiting = (self._waiting + data)[:1024], (self._waiting + data)[1024:]
        return self._frame.decompress(piece)


def _bzip2():
    import bz2

    return bz2.BZ2Decompressor


def _xz():
    import lzma

    return lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ)


def _zstd():
    """A maker of decompressors for Zstandard: of the standard library from Python 3.14 on, or of `zstandard`."""
    try:
        from compression.zstd import ZstdDecompressor
    except ImportError:
        try:
            import zstandard
        except ImportError as error:
            expected = 'expected Python 3.14 or the module zstandard (pip install zstandard), or unpack it with unzstd'
            raise ImportError('compressed by zstd', expected) from error
        return lambda: Frame(zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj())
    return ZstdDecompressor
