"""What CoNLL-X and CoNLL-U share: reading, writing trees back into the lines, and turning one into the other."""

import io
import re
from functools import partial

from cython_ext.text.boundaries import after_blank_line
from cython_ext.text.formats.treebank import TreebankParser, echo_trees
from cython_ext.text.vocabulary import encoded
from data_formats.datasets.dependency import SentenceDataset
from data_formats.errors import DataError
from data_formats.files.source import Source
from data_formats.parsing.reading import Part, Reader, feed, sort_labels
from data_formats.parsing.writing import candidate_header

BLANK = re.compile(rb'[ \t]*\r?\n?')
ROWS = {b'-': 'range', b'.': 'empty node'}
WORDLESS = 'wordless sentence'


def reader(universal, source, options, frozen):
    """How such a file is read; universal: CoNLL-U, here and below."""
    known = () if frozen is None else (frozen.word_names, frozen.tag_names, frozen.label_names)
    how = (universal, options.require_labels, options.single_root, options.labelled)
    return Reader(after_blank_line, partial(TreebankParser, *how, *known), learn=learn, finish=finish)


def learn(source, parts, options, parser):
    """Turn what was read into a training set: relations sorted, and a decision about the columns of tags."""
    if not len(parts['heads']):
        raise DataError(source.name, None, 'no sentences in this file', 'expected one at least')
    parser.learned(parts)
    parts['label_names'] = sort_labels(parts['relations'], parts['label_names'])
    parts['tag_column'] = options.tag_column or useful_tags(parts)


def useful_tags(parts):
    """'both' columns of tags, or 'coarse' or 'fine' where the other one holds nothing, or the same."""
    nothing = parts['tag_names'].get(b'_')
    if (parts['tags'] == nothing).all():
        return 'coarse'
    if (parts['coarse'] == nothing).all() or (parts['coarse'] == parts['tags']).all():
        return 'fine'
    return 'both'


def finish(parts, options, frozen):
    """The dataset, with the columns of tags that the training file was read for."""
    if frozen is not None:
        parts.update(word_names=frozen.word_names, tag_names=frozen.tag_names, label_names=frozen.label_names)
        parts['tag_column'] = options.tag_column or 'both'
    if parts['tag_column'] == 'coarse':
        parts['tags'] = parts['coarse']
    if parts['tag_column'] != 'both':
        parts['coarse'] = None
    return SentenceDataset(**parts)


def write_predictions(block, trees, stream, extra_columns=None, headers=None):
    """The lines of the input, HEAD and DEPREL of each word replaced.

    trees : (heads int32 [N], relations int32 [N], ids in the block's label_names, -1 for `_`)
    extra_columns : None, or for each word the text of one more column
    headers : None, or for each sentence, those without words among them, a line (str) that goes before its first row
    """
    heads, relations = trees
    extra = None if extra_columns is None else [encoded(text) for text in extra_columns]
    names = block.dataset.label_names
    if headers is None:
        echo_trees(block.rows, heads, relations, names, stream, extra)
        return
    text = io.BytesIO()
    echo_trees(block.rows, heads, relations, names, text, extra)
    left = iter(headers)
    for piece in pieces_of(text.getvalue()):
        if not BLANK.fullmatch(piece):
            at = first_row(piece)
            end = b'\r\n' if piece.endswith(b'\r\n') else b'\n'
            piece = piece[:at] + encoded(next(left)) + end + piece[at:]
        stream.write(piece)


def write_nbest(block, candidates, stream):
    """For each sentence its trees, best first: `# RANK SCORE [PROBABILITY]`, the lines of the sentence, a blank line.

    candidates : for each sentence a list of ((heads, relations), score, probability or None), the arrays empty where it
        has no words
    """
    names = block.dataset.label_names
    sentences = (piece for piece in pieces_of(block.rows) if not BLANK.fullmatch(piece))
    for piece, several in zip(sentences, candidates, strict=True):
        end = b'\r\n' if piece.endswith(b'\r\n') else b'\n'
        for rank, (trees, score, probability) in enumerate(several, 1):
            stream.write(candidate_header(rank, score, probability) + end)
            echo_trees(piece, *trees, names, stream)
            stream.write(end)


def pieces_of(text):
    """The lines of each sentence of a text, and each of the blank lines between them."""
    lines = []
    for line in io.BytesIO(text):
        if not BLANK.fullmatch(line):
            lines.append(line)
            continue
        if lines:
            yield b''.join(lines)
            lines = []
        yield line
    if lines:
        yield b''.join(lines)


def first_row(piece):
    """Where the first line that is no comment begins."""
    return re.match(rb'(?:#[^\n]*\n)*', piece).end()


def transcribe(universal, source, target, stream):
    """Write a treebank in the format of another module that has UNIVERSAL, or in its own.

    Lost on the way to CoNLL-X: comments, ranges, empty nodes and the last two columns; blanks in words become `_`.
    On the way to CoNLL-U: the last two columns.

    Returns:
        (sentences, words, {what was left out: how many}).
    """
    parser = TreebankParser(universal, False, False, True)
    sentences = words = 0
    lost = {}
    with Source.of(source) as source:
        for text, line in source.blocks(after_blank_line):
            feed(source, parser, Part(text, line, None))
            parts = parser.take()
            sentences += len(parts['offsets']) - 1 + len(parts['empties'])
            words += len(parts['heads'])
            if universal and not target.UNIVERSAL and len(parts['empties']):
                lost[WORDLESS] = lost.get(WORDLESS, 0) + len(parts['empties'])
            if universal == target.UNIVERSAL:
                stream.write(text)
            else:
                change = to_universal if target.UNIVERSAL else partial(from_universal, lost=lost)
                stream.writelines(filter(None, map(change, io.BytesIO(text))))
    if not sentences:
        raise DataError(source.name, None, 'no sentences in this file', 'expected one at least')
    return sentences, words, lost


def to_universal(line):
    """A line of CoNLL-X as one of CoNLL-U."""
    text = line.rstrip(b'\r\n')
    if text.startswith(b'#') or not text.strip(b' \t'):
        return line
    fields = text.split(b'\t')[:8]
    return b'\t'.join(fields + [b'_'] * (10 - len(fields))) + line[len(text) :]


def from_universal(line, lost):
    """A line of CoNLL-U as one of CoNLL-X; None if it has no place there."""
    text = line.rstrip(b'\r\n')
    if not text.strip(b' \t'):
        return line
    kind = re.match(rb'#|\d+([-.]?)', text)
    if kind[0] == b'#' or kind[1]:
        what = ROWS.get(kind[1], 'comment')
        lost[what] = lost.get(what, 0) + 1
        return None
    fields = [field.replace(b' ', b'_') for field in text.split(b'\t')[:8]]
    return b'\t'.join([*fields, b'_', b'_']) + line[len(text) :]
