"""Where data come from: a plain or compressed file, or standard input, read once and in blocks of whole lines."""

import os
import re
import select
import stat
import sys
import zlib

from cython_ext.text.boundaries import has_marks, lines_of
from data_formats.errors import DataError, file_errors
from data_formats.files.compression import compressed_by, decompressor, foreign, is_cut_short

BLOCK_BYTES = 1 << 18
HEAD_BYTES = 1 << 16
MAX_SMALL_FILE = 1 << 28  # bytes of a file that is no data
MAX_EXAMPLE_BYTES = 1 << 30  # bytes of a line, or of an example
MARKS = re.compile(b'^(?:\xef\xbb\xbf)+', re.MULTILINE)
SIGNATURE_BYTES = 6  # bytes that tell compressed files
EAGER_BLOCKS = 32  # blocks up to which an example that takes several is looked at whenever there is nothing to read


class Source:
    """One input, read from beginning to end once; pipes are fine.

    Compression is told by the first bytes and not by the name. A byte-order mark at the beginning of a line is dropped,
    since files with marks may have been joined; a last line without newline gets one; and text that cannot be text
    (UTF-16, NUL bytes, lone carriage returns) is refused.

    Attributes:
        live: a pipe or a terminal, uncompressed; known when it is open.
        prompt: where it is live, somebody may wait for what becomes of each unit before writing the next one: `blocks`
            yields units as soon as they are there, and an empty block where it would wait for more.
    """

    def __init__(self, path, block=BLOCK_BYTES):
        self.path = str(path)
        self.name = '<stdin>' if self.path == '-' else self.path
        self.block = block
        self.prompt = False
        self.live = False
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
        size = HEAD_BYTES
        while True:
            while len(self._start) < size and (more := self._read(size - len(self._start))):
                self._start += more
                if self.prompt and self.live and enough(lines := self._start[: self._start.rfind(b'\n') + 1]):
                    return without_marks(lines)
            self._refuse_foreign()
            if len(self._start) < size:
                return without_marks(self._start)
            lines = self._start[: self._start.rfind(b'\n') + 1]
            if enough(lines):
                return without_marks(lines)
            if size >= MAX_EXAMPLE_BYTES:
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
        parts = []
        for chunk in self._chunks():
            parts.append(chunk)
            size = sum(map(len, parts))
            if size < least and (chunk or size > EAGER_BLOCKS * self.block):
                if not chunk:
                    yield b'', line
                continue
            buffer = without_marks(b''.join(parts))
            end = cut(buffer)
            if end:
                block = buffer[:end]
                self._check(block, line)
                yield block if block.endswith(b'\n') else block + b'\n', line
                line += lines_of(block)
            elif len(buffer) > MAX_EXAMPLE_BYTES:
                raise self._too_long(line)
            # a sequence longer than a block: look again when there is twice as much, not after every chunk
            least = 2 * len(buffer) if not end and len(buffer) >= self.block else 0
            parts = [buffer[end:]]
            if not chunk:
                yield b'', line
        rest = without_marks(b''.join(parts))
        if rest:
            rest = rest if rest.endswith(b'\n') else rest + b'\n'
            self._check(rest, line)
            yield rest, line

    def ready(self):
        """Whether there is something to read, or the end: reading on does not wait."""
        return not self.live or bool(select.select([self._raw.fileno()], [], [], 0)[0])

    def _chunks(self):
        """What is read, piece by piece; where `prompt`, an empty piece whenever nothing is there yet."""
        start, self._start = self._start, b''
        if self.live and start:  # more may be long in coming
            yield start
            start = b''
        while True:
            if self.prompt and not self.ready():
                yield b''
            if not (chunk := self._read(self.block)):
                break
            yield start + chunk
            start = b''
        if start:
            yield start

    def contents(self, most=MAX_SMALL_FILE):
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
        self.live = is_live(raw)
        # what a pipe has now: whoever writes sentence by sentence gets answers at once
        self._take = raw.read1 if self.live or self.path == '-' else raw.read
        self._start = self._first()
        if is_cut_short(self._start, self.name):
            raise DataError(self.name, None, 'damaged compressed file: ends inside a compressed stream')
        try:
            opened = decompressor(raw, self._start)
        except ImportError as error:
            raise DataError(self.name, None, *error.args) from error
        if opened is not None:
            self.live = False
            self._take, self._start = opened.read, b''
            while len(self._start) < 6 and (more := self._read(6 - len(self._start))):
                self._start += more
            if compressed_by(self._start) is not None:
                raise DataError(self.name, None, 'compressed twice', 'expected text, compressed once at most')
        if self._start.startswith((b'\xff\xfe', b'\xfe\xff')):
            raise DataError(self.name, 1, 'this file is in UTF-16', 'expected UTF-8')
        self._refuse_foreign(lambda: self._read(HEAD_BYTES))

    def _first(self):
        """As many bytes as tell what this is; fewer where they are a line or a tree, and hence text."""
        start = b''
        while len(start) < SIGNATURE_BYTES and b'\n' not in start and b')' not in start:
            # all that a pipe has, so that nothing is left in a buffer that `ready` does not see
            more = self._read(HEAD_BYTES if self.live else SIGNATURE_BYTES)
            if not more:
                break
            start += more
        return start

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
        return DataError(self.name, line, f'a line or an example of more than {MAX_EXAMPLE_BYTES >> 20} MB begins here')

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


def is_live(raw):
    """Whether a binary stream is no file on a disk: what it has depends on who writes it."""
    try:
        return not stat.S_ISREG(os.fstat(raw.fileno()).st_mode)
    except OSError:  # one in memory
        return False
