"""FASTA files of native sequences with their candidates:

    >native ID
    >homolog ID NATIVE_START:HOMOLOG_START:OPS
    >decoy ID

each before the lines of its letters. A native is followed by its candidates, of which at most one is the homolog; it
comes with the right alignment, where that is known: the places where it begins, from 0, and its steps, M or S for a
letter of each (matched or substituted), I for one of the homolog, D for one of the native."""

import re

import numpy as np

from cython_ext.text.errors import TextError, shown
from data_formats.errors import DataError
from data_formats.homologs import DELETION, INSERTION, SUBSTITUTION, Piece, joined
from data_formats.reading import Reader, read_all, stream_all
from data_formats.writing import candidate_header

NAME = 'fasta'
DESCRIPTION = 'FASTA: >native ID, >homolog ID NATIVE_START:HOMOLOG_START:OPS, >decoy ID, each with its letters'
EXTENSIONS = ('.fasta', '.fa', '.faa', '.fna')
TASKS = ('alignment',)

ALIGNMENT = re.compile(rb'(\d{1,9}):(\d{1,9}):([MSID]*)')
LETTERS = re.compile(rb'[!-,/-=?-~]+')  # no blanks, no signs of gaps, no >
HEADERS = 'expected >native ID, >homolog ID NATIVE_START:HOMOLOG_START:OPS or >decoy ID'
STEPS = {b'M': SUBSTITUTION, b'S': SUBSTITUTION, b'I': INSERTION, b'D': DELETION}
WIDTH = 80  # letters of a line that is written


def before_last_native(buffer):
    """Where the last example begins, which may go on behind the buffer."""
    return buffer.rfind(b'\n>native') + 1


class FastaParser:
    """require: every native needs a homolog with its alignment; whole: which reads both sequences whole."""

    def __init__(self, require, whole):
        self.require, self.whole = require, whole
        self.pieces = []

    def feed(self, text, line, carried=None):
        """Whole examples; line: the number of the first line."""
        self.records = []
        for number, row in enumerate(text.split(b'\n')[:-1], line):
            row = row.rstrip(b' \t\r')
            if row.startswith(b'>native') and self.records:
                self.end()
            if row.startswith(b'>'):
                self.records.append(Record.of(row, number, self.records))
            elif row and not row.startswith(b'#'):
                self.letters(row, number)
        if self.records:
            self.end()

    def letters(self, row, number):
        if not self.records:
            raise TextError(number, f'letters {shown(row)} before any record', HEADERS)
        if not LETTERS.fullmatch(row):
            at = LETTERS.match(row).end() if LETTERS.match(row) else 0
            wrong = shown(row[at : at + 1])
            raise TextError(number, f'{wrong} in a sequence', 'expected letters: no blanks, no signs of gaps')
        self.records[-1].letters.append(row)

    def end(self):
        """The example whose records are complete."""
        records, self.records = self.records, []
        for record in records:
            if not record.letters:
                raise TextError(record.line, f'{record} has no letters', 'expected a line of letters behind it')
        native, *candidates = records
        if not candidates:
            raise TextError(native.line, f'{native} has no candidates', 'expected >homolog or >decoy behind it')
        right = next((k for k, record in enumerate(candidates) if record.kind == 'homolog'), None)
        homolog = None if right is None else candidates[right]
        if self.require and homolog is None:
            raise TextError(native.line, f'{native} has no homolog', 'expected >homolog ID among its candidates')
        if self.require and homolog.alignment is None:
            expected = 'expected NATIVE_START:HOMOLOG_START:OPS behind its ID'
            raise TextError(homolog.line, f'{homolog} has no alignment', expected)
        alignment = None
        if homolog is not None and homolog.alignment is not None:
            alignment = homolog.checked(native, self.whole and self.require)
        sequences = [(record.name, b''.join(record.letters)) for record in records]
        self.pieces.append(Piece(sequences, right, alignment))

    def take(self):
        """What was read since the last call; `offsets` is there for those who ask where sequences end."""
        pieces, self.pieces = self.pieces, []
        return {'pieces': pieces, 'offsets': np.zeros(1, np.int64)}


class Record:
    """One record: its kind, ID and letters, and the alignment of a homolog as it is written."""

    def __init__(self, kind, name, alignment, line):
        self.kind, self.name, self.alignment, self.line = kind, name, alignment, line
        self.letters = []

    def __str__(self):
        return f'{self.kind} {self.name.decode("utf-8", "backslashreplace")}'

    @classmethod
    def of(cls, row, line, before):
        """The record that a header begins. before: those of the same native."""
        kind, *fields = row[1:].split() or [b'']
        kind = kind.decode('utf-8', 'backslashreplace')
        if row[1:2].isspace() or kind not in ('native', 'homolog', 'decoy'):
            raise TextError(line, f'header {shown(row)}', HEADERS)
        if kind != 'native' and not before:
            raise TextError(line, f'a {kind} before any native', 'expected >native ID')
        if not 1 <= len(fields) <= 1 + (kind == 'homolog'):
            expected = '>homolog ID NATIVE_START:HOMOLOG_START:OPS' if kind == 'homolog' else f'>{kind} ID'
            raise TextError(line, f'header {shown(row)}', f'expected {expected}')
        if kind == 'homolog' and any(record.kind == kind for record in before):
            raise TextError(line, f'a second homolog of {before[0]}', 'expected one at most')
        alignment = None
        if len(fields) > 1:
            alignment = ALIGNMENT.fullmatch(fields[1])
            if alignment is None:
                expected = 'expected NATIVE_START:HOMOLOG_START:OPS, two numbers from 0 and letters M, S, I, D'
                raise TextError(line, f'alignment {shown(fields[1])}', expected)
        return cls(kind, fields[0], alignment, line)

    def checked(self, native, whole):
        """(starts, steps) of the alignment; whole: both sequences must be read whole."""
        i, j, ops = int(self.alignment[1]), int(self.alignment[2]), self.alignment[3]
        steps = [STEPS[bytes([op])] for op in ops]
        for record, begin, other in ((native, i, INSERTION), (self, j, DELETION)):
            end, size = begin + sum(step != other for step in steps), sum(map(len, record.letters))
            if end > size:
                expected = f'expected at most {size}, as many as it has'
                raise TextError(self.line, f'the alignment ends behind letter {end} of {record}', expected)
            if whole and (begin, end) != (0, size):
                expected = f'expected 0 to {size} for --align global'
                raise TextError(self.line, f'the alignment reads letters {begin} to {end} of {record}', expected)
        return (i, j, steps) if steps else (0, 0, [])


def learn(source, parts, options, parser):
    if not parts['pieces']:
        raise DataError(source.name, None, 'no examples in this file', 'expected one at least')


def finish(parts, options, frozen):
    return joined(parts['pieces'], None if frozen is None else frozen.label_names)


def reader(source, options, vocabularies):
    """How the file is read."""

    def parser():
        return FastaParser(options.require_labels, options.whole)

    return Reader(before_last_native, parser, learn=learn, finish=finish)


def read(source, options, vocabularies=None):
    """The whole file as a HomologDataset."""
    return read_all(source, reader(source, options, vocabularies), options, vocabularies)


def stream(source, options, vocabularies):
    """The file as Blocks of whole examples."""
    return stream_all(source, reader(source, options, vocabularies), options, vocabularies)


def write(dataset, stream, names=None):
    """A dataset as such a file."""
    for i in range(dataset.n):
        right = int(dataset.right[i])
        given = dataset.alignment(i) if dataset.aligned[i] else None
        for c in range(-1, dataset.candidates(i)):
            write_record(dataset, i, c, right, given, stream)


def write_record(dataset, i, c, right, alignment, stream):
    """The native (c = -1) or candidate c of example i; right: the candidate that is the homolog, so aligned."""
    s = int(dataset.offsets[i]) + 1 + c
    kind = b'native' if c < 0 else b'homolog' if c == right else b'decoy'
    how = b''
    if c == right and c >= 0 and alignment is not None:
        how = b' ' + spelled(dataset.sequence(s - 1 - c), dataset.sequence(s), *alignment)
    text = dataset.sequence(s)
    lines = [text[at : at + WIDTH] for at in range(0, len(text), WIDTH)]
    stream.write(b'\n'.join([b'>' + kind + b' ' + dataset.ids[s] + how, *lines]) + b'\n')


def spelled(native, other, i, j, steps):
    """NATIVE_START:HOMOLOG_START:OPS of an alignment."""
    begin, ops = b'%d:%d:' % (i, j), bytearray()
    for step in np.asarray(steps).tolist():
        if step == SUBSTITUTION:
            ops += b'M' if native[i] == other[j] else b'S'
        else:
            ops += b'I' if step == INSERTION else b'D'
        i, j = i + (step != INSERTION), j + (step != DELETION)
    return begin + bytes(ops)


def write_predictions(block, outputs, stream, extra_columns=None, headers=None):
    """The file with the best candidate of each native as its homolog, aligned, and the others as decoys.

    outputs : for each example (candidate, start in the native, start in it, steps)
    extra_columns : None, or for each example the text of one more comment line
    headers : None, or for each example a line (str) that goes before it
    """
    for i, (right, *alignment) in enumerate(outputs):
        for lines in (headers, extra_columns):
            if lines is not None:
                stream.write(lines[i].encode() + b'\n')
        for c in range(-1, block.dataset.candidates(i)):
            write_record(block.dataset, i, c, right, alignment, stream)


def write_nbest(block, candidates, stream):
    """For each native its best outputs: `# RANK SCORE [PROBABILITY]`, the two aligned records, a blank line."""
    for i, example in enumerate(candidates):
        for rank, ((right, *alignment), score, probability) in enumerate(example, 1):
            stream.write(candidate_header(rank, score, probability) + b'\n')
            for c in (-1, right):
                write_record(block.dataset, i, c, right, alignment, stream)
            stream.write(b'\n')
