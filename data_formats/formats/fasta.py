"""FASTA files of native sequences with their candidates:

    >native ID
    >homolog ID NATIVE_START:HOMOLOG_START:OPS
    >decoy ID

each before the lines of its letters. A native is followed by its candidates, of which at most one is the homolog; it
comes with the gold alignment, where that is known: the places where it begins, from 0, and its steps, M or S for a
letter of each (matched or substituted), I for one of the homolog, D for one of the native."""

from functools import partial

import numpy as np

from cython_ext.text.formats.fasta import FastaParser
from data_formats.datasets.alignment import DELETION, INSERTION, SUBSTITUTION, HomologDataset, letters_of
from data_formats.errors import DataError
from data_formats.parsing.reading import Reader
from data_formats.parsing.writing import candidate_header

NAME = 'fasta'
DESCRIPTION = 'FASTA: >native ID, >homolog ID NATIVE_START:HOMOLOG_START:OPS, >decoy ID, each with its letters'
EXTENSIONS = ('.fasta', '.fa', '.faa', '.fna')
TASKS = ('alignment',)

LINE_LETTERS = 80  # letters of a line that is written


def before_last_native(buffer):
    """Where the last example begins, which may go on behind the buffer."""
    return buffer.rfind(b'\n>native') + 1


def learn(source, parts, options, parser):
    if not len(parts['ids']):
        raise DataError(source.name, None, 'no examples in this file', 'expected one at least')


def finish(parts, options, frozen):
    parts['offsets'] = parts.pop('sequences')
    names = letters_of(parts['text']) if frozen is None else frozen.label_names
    return HomologDataset(**parts, label_names=names)


def reader(source, options, vocabularies):
    """How the file is read."""
    parser = partial(FastaParser, options.require_labels, options.whole)
    return Reader(before_last_native, parser, learn=learn, finish=finish)


def write(dataset, stream, names=None):
    """A dataset as such a file."""
    for i in range(dataset.n):
        gold = int(dataset.gold[i])
        given = dataset.alignment(i) if dataset.aligned[i] else None
        for c in range(-1, dataset.candidates(i)):
            write_record(dataset, i, c, gold, given, stream)


def write_record(dataset, i, c, gold, alignment, stream):
    """The native (c = -1) or candidate c of example i; gold: the candidate that is the homolog, so aligned."""
    s = int(dataset.offsets[i]) + 1 + c
    kind = b'native' if c < 0 else b'homolog' if c == gold else b'decoy'
    how = b''
    if c == gold and c >= 0 and alignment is not None:
        how = b' ' + spelled(dataset.sequence(s - 1 - c), dataset.sequence(s), *alignment)
    text = dataset.sequence(s)
    lines = [text[at : at + LINE_LETTERS] for at in range(0, len(text), LINE_LETTERS)]
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

    outputs : for each example (candidate, start in the native, start in it, steps), candidate -1 where there is none
    extra_columns : None, or for each example the text of one more comment line
    headers : None, or for each example a line (str) that goes before it
    """
    for i, (gold, *alignment) in enumerate(outputs):
        for lines in (headers, extra_columns):
            if lines is not None:
                stream.write(lines[i].encode() + b'\n')
        for c in range(-1, block.dataset.candidates(i)):
            write_record(block.dataset, i, c, gold, alignment, stream)


def write_nbest(block, candidates, stream):
    """For each native its best outputs: `# RANK SCORE [PROBABILITY]`, the two aligned records (or the native alone,
    where it has no candidates), a blank line."""
    for i, example in enumerate(candidates):
        for rank, ((gold, *alignment), score, probability) in enumerate(example, 1):
            stream.write(candidate_header(rank, score, probability) + b'\n')
            for c in (-1, gold) if gold >= 0 else (-1,):
                write_record(block.dataset, i, c, gold, alignment, stream)
            stream.write(b'\n')
