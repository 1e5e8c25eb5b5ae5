"""Readers against altered files: whatever is in a file, it is data, or an error of one line that names the file.

    python -m tests.fuzz [--count N] [--seed S] [NAME ...]

makes N inputs for each of the READERS (or those named), each from what the seed and its number say, so that a failure
can be made again. The input that is being read is in build/fuzz/NAME.input, also after a crash; those that failed are
kept as build/fuzz/NAME-SEED-NUMBER.
"""

import argparse
import faulthandler
import random
import resource
import sys
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path

import click

from data_formats.errors import DataError, UsageError

KEPT = Path('build') / 'fuzz'
PIECES = (
    *(b'\n', b'\r', b'\t', b' ', b':', b'(', b')', b'[', b'{', b'"', b'\\', b'#', b'@', b',', b'%', b'\0', b'\xff'),
    *(b'0', b'9', b'-', b'.', b'e', b'e308', b'nan', b'inf', b'null', b'true', b'-1', b'9' * 20, b'1' * 5000),
    *(b'\xef\xbb\xbf', b'\xff\xfe', b'\x1b[2J', b'\xc2\x85', b'\xe2\x80\xa8', b'\x1f\x8b', b'PK\x03\x04', b'(' * 3000),
)
LIMIT = 60  # seconds for one input
MEMORY = 1 << 33  # bytes of address space, so that a reader that asks for too much fails
LONGEST = 1500  # characters of a message, its path included


@dataclass(frozen=True)
class Reader:
    """How files of one kind are read.

    seeds : whole files, as bytes
    read : function of a path, which raises DataError, UsageError or click.UsageError for what is none
    alter : function of (bytes, Random) -> bytes
    """

    seeds: tuple
    read: object
    alter: object = None


def altered(data, rng):
    """A file after some changes: bytes set, put in, taken out, cut off, doubled, moved."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        at, to = rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)
        piece = rng.choice(PIECES) if rng.random() < 0.7 else rng.randbytes(rng.randint(1, 4))
        kind = rng.randrange(8)
        if kind <= 1 and at < len(data):
            data[at] ^= 1 << rng.randrange(8) if kind else rng.randrange(256)
        elif kind == 2:
            data[at : at + len(piece)] = piece
        elif kind == 3:
            data[at:at] = piece
        elif kind == 4:
            del data[at : at + rng.choice((1, 1, 2, 5, 30))]
        elif kind == 5:
            del data[at:]
        elif kind == 6:
            data[at:at] = data[min(at, to) : max(at, to)][:200]
        else:
            lines = data.split(b'\n')
            rng.shuffle(lines)
            data = bytearray(b'\n'.join(lines))
    return bytes(data)


def input_of(reader, name, seed, number):
    """The input of that number, and nothing but what name, seed and number say."""
    rng = random.Random(f'{name} {seed} {number}')
    if rng.random() < 0.02:
        return rng.randbytes(rng.choice((0, 1, 10, 100, 1000)))
    data = rng.choice(reader.seeds)
    return (reader.alter or altered)(data, rng)


def failure(reader, path):
    """What is wrong with how a file is read; None if nothing is."""
    try:
        reader.read(path)
    except (DataError, UsageError, click.UsageError) as error:
        text = error.message if isinstance(error, click.UsageError) else str(error)
        if '\n' in text or len(text) > LONGEST or any(c < ' ' for c in text):
            return f'a message that is none: {text[:200]!r}'
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return traceback.format_exc()
    return None


def run(name, reader, count, seed, folder=KEPT):
    """The numbers of the inputs that fail, of `count`; they are printed, and kept in the folder."""
    failed = []
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f'{name}.input'
    for number in range(count):
        data = input_of(reader, name, seed, number)
        path.write_bytes(data)
        faulthandler.dump_traceback_later(LIMIT, exit=True, file=sys.__stderr__)
        try:
            wrong = failure(reader, path)
        finally:
            faulthandler.cancel_dump_traceback_later()
        if wrong is not None:
            kept = folder / f'{name}-{seed}-{number}'
            kept.write_bytes(data)
            failed.append(number)
            print(f'{name}: input {number} of seed {seed}, kept as {kept}: {wrong}')
    path.unlink(missing_ok=True)
    return failed


def main(arguments):
    from tests.fuzz_readers import readers

    parser = argparse.ArgumentParser(prog='python -m tests.fuzz', description=__doc__.split('\n\n')[0])
    parser.add_argument('--count', type=int, default=10_000, help='inputs for each reader')
    parser.add_argument('--seed', default='0')
    parser.add_argument('names', nargs='*', metavar='NAME', help='readers, by default all')
    given = parser.parse_args(arguments)
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        known = readers(Path(folder))
        for name in given.names or known:
            found = run(name, known[name], given.count, given.seed)
            print(f'{name}: {given.count} inputs of seed {given.seed}, {len(found)} failed', flush=True)
            failed += len(found)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
