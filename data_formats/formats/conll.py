"""CoNLL columns with a CRF++ template: a row of cells for each token, blank line after a sequence, label last.

A row whose first cell is -DOCSTART- ends a sequence like a blank line. Files to be tagged may lack the label.
There is no `write`: a data set holds attributes, which do not tell what the columns were.
"""

import io
import re
from dataclasses import dataclass
from functools import partial

from cython_ext.text.boundaries import after_blank_line
from cython_ext.text.formats.conll import ColumnParser, echo_rows
from cython_ext.text.templates.expansion import Expander
from cython_ext.text.vocabulary import encoded
from data_formats.errors import DataError
from data_formats.parsing import templates
from data_formats.parsing.reading import Reader
from data_formats.parsing.writing import CELL_LABEL, candidate_header

NAME = 'conll'
DESCRIPTION = 'CoNLL columns: a row for each token, label last, blank line after a sequence; see --template'
EXTENSIONS = ('.conll', '.conll2000', '.conll2002', '.conll2003', '.iob', '.iob1', '.iob2', '.bio', '.iobes', '.bioes')
TASKS = ('chain', 'multiclass')
DOCSTART = b'-DOCSTART-'
LABEL = CELL_LABEL


def reader(source, options, vocabularies):
    """How the file is read: its number of columns is the model's, or that of the first row."""
    columns, line = (options.columns, None) if options.columns else first_row(source.head(first_row)) or (0, None)
    if columns == 1:
        raise DataError(source.name, line, '1 column', 'expected a word and its label at least')
    text = templates.builtin(columns or 2) if options.template is None else options.template
    template = templates.parse(text, options.template_name)
    columns = columns or template.width + 1
    template.check_columns(columns - 1)
    return Reader(after_blank_line, partial(parser_of, template, columns, vocabularies), carry_width)


def parser_of(template, columns, frozen):
    """A parser for files of so many columns."""
    expander = Expander(
        [pieces_of(feature) for feature in template.states],
        [pieces_of(feature) for feature in template.edges],
        *(() if frozen is None else (frozen.attributes, frozen.edge_attributes)),
    )
    return ColumnParser(
        expander,
        columns,
        template.width,
        frozen is None,
        None if frozen is None else frozen.label_names,
        {'template': template.text, 'transitions': template.transitions},
    )


def pieces_of(feature):
    """A template line as the expander takes it: bytes, and (row, column, derivation) for each macro."""
    return [
        piece if isinstance(piece, bytes) else (piece.row, piece.column, templates.derivation(piece))
        for piece in feature.pieces
    ]


def first_row(text, number=1):
    """(number of columns of the first row of a text, its line number) or None; `number` is that of the first line."""
    for line in io.BytesIO(text):
        cells = [cell for cell in re.split(rb'[ \t]+', line.strip(b' \t\r\n')) if cell]
        if cells and cells[0] != DOCSTART:
            return len(cells), number
        number += 1
    return None


def carry_width(text, line, width):
    """What parts behind this one must know: the number of columns of the file, and the line that showed it."""
    return width or first_row(text, line)


def write_predictions(block, labels, stream, extra_columns=None, headers=None):
    """The lines of the input, each row with the label as one more column; other lines stay."""
    if extra_columns is None and headers is None:
        echo_rows(block.rows, labels, block.dataset.label_names, stream)
        return
    names = [encoded(name) for name in block.dataset.label_names.names()]
    token, example = 0, 0
    for line in lines_of(block):
        if line.kind == 'row' and headers is not None and token == block.dataset.offsets[example]:
            stream.write(encoded(headers[example]) + line.end)
            example += 1
        if line.kind == 'row':
            extra = [] if extra_columns is None else map(encoded, extra_columns[token])
            stream.write(line.with_cells([names[labels[token]], *extra]))
            token += 1
        elif line.kind == 'document':
            extra = [] if extra_columns is None else [b'_'] * len(extra_columns[0] if len(extra_columns) else ())
            stream.write(line.with_cells([re.split(rb'[ \t]+', line.text.rstrip(b' \t'))[-1], *extra]))
        else:
            stream.write(line.end)


def write_nbest(block, candidates, stream):
    """For each sequence its candidates, best first: `# RANK SCORE [PROBABILITY]`, the labelled rows, a blank line.

    candidates : for each example a list of (labels int [T], score, probability or None)
    """
    names = [encoded(name) for name in block.dataset.label_names.names()]
    rows = [line for line in lines_of(block) if line.kind == 'row']
    offsets = block.dataset.offsets
    for example, several in enumerate(candidates):
        own = rows[offsets[example] : offsets[example + 1]]
        for rank, (labels, score, probability) in enumerate(several, 1):
            stream.write(candidate_header(rank, score, probability) + b'\n')
            stream.writelines(line.with_cells([names[label]]) for line, label in zip(own, labels, strict=True))
            stream.write(b'\n')


@dataclass(frozen=True)
class Line:
    """A line of the input: its text, its line end, and whether it is a row, a document mark or blank."""

    text: bytes
    end: bytes
    kind: str

    def with_cells(self, cells):
        """The line with more columns, parted as its own are."""
        return (b'\t' if b'\t' in self.text else b' ').join([self.text, *cells]) + self.end


def lines_of(block):
    """The lines of a block."""
    for raw in block.rows.split(b'\n')[:-1]:
        text = raw.removesuffix(b'\r')
        first = re.split(rb'[ \t]', text, maxsplit=1)[0]
        kind = 'blank' if not text.strip(b' \t') else 'document' if first == DOCSTART else 'row'
        yield Line(text, b'\r\n' if raw.endswith(b'\r') else b'\n', kind)
