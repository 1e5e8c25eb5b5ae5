"""Where data come from: a plain or compressed file, or standard input, read once and in blocks of whole lines."""

import re
import sys
import zlib

from cython_ext.text.cuts import has_marks, lines_of
from data_formats.compression import compressed_by, decompressor, foreign
from data_formats.errors import DataError, file_errors

BLOCK = 1 << 18
HEAD = 1 << 16
SMALL = 1 << 28  # bytes of a file that is no data
LONGEST = 1 << 30  # bytes of a line, or of an example
MARKS = re.compile(b'^(?:\xef\xbb\xbf)+', re.MULTILINE)


class Source:
    """One input, read from beginning to end once; pipes are fine.

    Compression is told by the first bytes and not by the name. A byte-order mark at the beginning of a line is dropped,
    since files with marks may have been joined; a last line without newline gets one; and text that cannot be text
    (UTF-16, NUL bytes, lone carriage returns) is refused.
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
            self._refuse_foreign()
            if len(self._start) < size:
                return without_marks(self._start)
            lines = self._start[: self._start.rfind(b'\n') + 1]
            if enough(lines):
                return without_marks(lines)
            if size >= LONGEST:
                raise self._too_long(1)
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
            buffer = without_marks(b''.join(parts))
            end = cut(buffer)
            if end:
                block = buffer[:end]
                self._check(block, line)
                yield block, line
                line += lines_of(block)
            elif len(buffer) > LONGEST:
                raise self._too_long(line)
            # a sequence longer than a block: look again when there is twice as much, not after every chunk
            least = 2 * len(buffer) if not end and len(buffer) >= self.block else 0
            parts = [buffer[end:]]
        rest = without_marks(b''.join(parts))
        if rest:
            rest = rest if rest.endswith(b'\n') else rest + b'\n'
            self._check(rest, line)
            yield rest, line

    def contents(self, most=SMALL):
        """The whole of a small file as it stands, but for byte-order marks.

        Raises:
            DataError: it has more than `most` bytes.
        """
        if self._raw is None:
            self._open()
        parts, size = [self._start], len(self._start)
        while size <= most and (more := self._read(self.block)):
            parts.append(more)
            size += len(more)
        if size > most:
            raise DataError(self.name, None, f'more than {most} bytes', 'expected a small file')
        self._start = b''.join(parts)
        self._refuse_foreign()
        return without_marks(self._start)

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
        try:
            opened = decompressor(raw, self._start)
        except ImportError as error:
            raise DataError(self.name, None, *error.args) from error
        if opened is not None:
            self._take, self._start = opened.read, b''
            while len(self._start) < 6 and (more := self._read(6 - len(self._start))):
                self._start += more
            if compressed_by(self._start) is not None:
                raise DataError(self.name, None, 'compressed twice', 'expected text, compressed once at most')
        elif self.path == '-':
            self._take = raw.read1  # what a pipe has now: whoever writes sentence by sentence gets answers at once
        if self._start.startswith((b'\xff\xfe', b'\xfe\xff')):
            raise DataError(self.name, 1, 'this file is in UTF-16', 'expected UTF-8')
        self._refuse_foreign(lambda: self._read(HEAD))

    def _read(self, count):
        with file_errors(self.name):
            try:
                return self._take(count)
            except Exception as error:
                # decompressors raise OSErrors that are none of the system's; lzma need not be imported by everybody
                damage = isinstance(error, EOFError | zlib.error) or (isinstance(error, OSError) and not error.errno)
                if damage or type(error).__name__ in ('LZMAError', 'ZstdError'):
                    raise DataError(self.name, None, f'damaged compressed file: {error}') from error
                raise

    def _refuse_foreign(self, more=bytes):
        found = foreign(self._start, more)
        if found is not None:
            raise DataError(self.name, None, *found)

    def _too_long(self, line):
        return DataError(self.name, line, f'a line or an example of more than {LONGEST >> 20} MB begins here')

    def _check(self, block, line):
        if b'\0' in block:
            if line == 1 and (found := foreign(block)) is not None:
                raise DataError(self.name, None, *found)
            line += block.count(b'\n', 0, block.index(b'\0'))
            raise DataError(self.name, line, 'a NUL byte', 'expected text')
        if b'\r' in block and block.count(b'\r') != block.count(b'\r\n'):
            at = next(i for i, part in enumerate(block.split(b'\n')) if b'\r' in part[:-1])
            raise DataError(
                self.name, line + at, 'a carriage return inside the line', 'expected lines that end in LF or CRLF'
            )


def without_marks(text):
    """Text (bytes) without the byte-order marks at the beginning of its lines."""
    return MARKS.sub(b'', text) if has_marks(text) else text
