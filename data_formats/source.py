"""Where data come from: a plain or compressed file, or standard input, read once and in blocks of whole lines."""

import sys
import zlib

from cython_ext.text.cuts import lines_of
from data_formats.errors import DataError, file_errors

BLOCK = 1 << 18
HEAD = 1 << 16
BOM = b'\xef\xbb\xbf'


class Source:
    """One input, read from beginning to end once; pipes are fine.

    Compression is told by the first bytes and not by the name. A byte-order mark is dropped, a last line without
    newline gets one, and text that cannot be text (UTF-16, NUL bytes, lone carriage returns) is refused.
    """

    def __init__(self, path, block=BLOCK):
        self.path = str(path)
        self.name = '<stdin>' if self.path == '-' else self.path
        self.block = block
        self._raw = None
        self._take = None
        self._start = b''

    @classmethod
    def of(cls, source):
        """The source itself, or a new one for a path."""
        return source if isinstance(source, cls) else cls(source)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def head(self, enough=bool):
        """The first lines, which are read again by `blocks`.

        enough(lines) says whether they will do (at first those of 64 KB); until then twice as much is looked at. At
        least one line, however long, is whole.
        """
        if self._raw is None:
            self._open()
        size = HEAD
        while True:
            while len(self._start) < size and (more := self._read(size - len(self._start))):
                self._start += more
            if len(self._start) < size:
                return self._start
            lines = self._start[: self._start.rfind(b'\n') + 1]
            if enough(lines):
                return lines
            size *= 2

    def blocks(self, cut):
        """Yield (bytes, number of the first line) until the end.

        `cut(buffer)` says where the last unit (line, sequence) that is surely complete ends; 0 asks for more
        bytes. Every block ends in a newline.
        """
        if self._raw is None:
            self._open()
        line, least = 1, 0
        parts, self._start = [self._start], b''
        while chunk := self._read(self.block):
            parts.append(chunk)
            if sum(map(len, parts)) < least:
                continue
            buffer = b''.join(parts)
            end = cut(buffer)
            if end:
                block = buffer[:end]
                self._check(block, line)
                yield block, line
                line += lines_of(block)
            # a sequence longer than a block: look again when there is twice as much, not after every chunk
            least = 2 * len(buffer) if not end and len(buffer) >= self.block else 0
            parts = [buffer[end:]]
        rest = b''.join(parts)
        if rest:
            rest = rest if rest.endswith(b'\n') else rest + b'\n'
            self._check(rest, line)
            yield rest, line

    def close(self):
        """Close the file; standard input stays open."""
        if self._raw is not None and self.path != '-':
            self._raw.close()

    def _open(self):
        if self.path == '-' and sys.stdin is None:
            raise DataError(self.name, None, 'standard input is closed')
        with file_errors(self.name):
            raw = sys.stdin.buffer if self.path == '-' else open(self.path, 'rb')  # noqa: SIM115
        self._raw = raw
        self._take = raw.read
        self._start = self._read(6)
        opened = decompressor(raw, self._start)
        if opened is not None:
            self._take = opened.read
            self._start = self._read(6)
        elif self.path == '-':
            self._take = raw.read1  # what a pipe has now: whoever writes sentence by sentence gets answers at once
        if self._start.startswith((b'\xff\xfe', b'\xfe\xff')):
            raise DataError(self.name, 1, 'this file is in UTF-16', 'expected UTF-8')
        self._start = self._start.removeprefix(BOM)

    def _read(self, count):
        with file_errors(self.name):
            try:
                return self._take(count)
            except (EOFError, zlib.error) as error:
                raise DataError(self.name, None, f'damaged compressed file: {error}') from error
            except Exception as error:
                # lzma.LZMAError without importing lzma for everybody
                if type(error).__name__ == 'LZMAError':
                    raise DataError(self.name, None, f'damaged compressed file: {error}') from error
                raise

    def _check(self, block, line):
        if b'\0' in block:
            line += block.count(b'\n', 0, block.index(b'\0'))
            raise DataError(self.name, line, 'a NUL byte', 'expected text')
        if b'\r' in block and block.count(b'\r') != block.count(b'\r\n'):
            at = next(i for i, part in enumerate(block.split(b'\n')) if b'\r' in part[:-1])
            raise DataError(
                self.name, line + at, 'a carriage return inside the line', 'expected lines that end in LF or CRLF'
            )


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


def decompressor(raw, start):
    """A stream of the uncompressed bytes of `raw`, of which `start` has been read; None if it is not compressed."""
    whole = Prefixed(start, raw)
    if start.startswith(b'\x1f\x8b'):
        import gzip

        return gzip.GzipFile(fileobj=whole, mode='rb')
    if start.startswith(b'BZh') and len(start) > 3 and start[3:4].isdigit():
        import bz2

        return bz2.BZ2File(whole)
    if start.startswith(b'\xfd7zXZ\0'):
        import lzma

        return lzma.LZMAFile(whole)
    return None
