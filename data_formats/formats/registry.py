"""The data formats by name, and how to tell which one a file is in.

A format is one module of this package that offers

    NAME, DESCRIPTION       what --format calls it, and one line for the help
    EXTENSIONS, TASKS       file name endings; tasks it can feed, the usual one first
    NEIGHBOURS              True where --window and --edge-features make sense: sequences with ready-made attributes
    NUMBERS                 True where attributes are numbers, which --zero-based is about; `write` takes zero_based
    LABEL                   what a label must be to be written (data_formats.parsing.writing.Spelling)
    VALUES                  True where attributes have values, which --scale divides
    ALIKE                   formats whose files may be in this one too, if the task asks for it
    reader(source, options, vocabularies) -> data_formats.parsing.reading.Reader, how an open Source becomes the dataset
                            of its tasks, such as a TokenDataset or TreeDataset; vocabularies: what has them, None in
                            training
    write(dataset, stream, names=None)              where a data set can be turned into such a file
    transcribe(source, target, stream)              where a file can be turned into another line by line
    write_predictions(block, outputs, stream, extra_columns=None, headers=None)
    write_nbest(block, candidates, stream)

and its name in the list below.
"""

import re
from collections.abc import Mapping
from importlib import import_module
from itertools import pairwise

from data_formats.errors import DataError, UsageError
from data_formats.files.compression import ENDINGS
from data_formats.files.source import Source

UNIVERSAL_TAGS = set(b'ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X _'.split())
TREEBANKS = ('conllx', 'conllu')
BRACKETS = re.compile(rb'\s*\((\s*([^\s()]+\s*)?\()*[^\s()]+[ \t]+[^\s()]+([ \t]+[^\s()]+)?[ \t]*\)')
COUNTS = re.compile(rb'\d+[ \t]+\d+[ \t]+\d+')
ARFF = re.compile(rb'(\s|%.*\n)*@relation\s', re.IGNORECASE)
GRAPH = re.compile(rb'\s*(#.*\n\s*)*\{.*"nodes"')
LINK = re.compile(rb'[ \t]*[01P]([ \t]+qid:\d+)?[ \t]+\d+-\d+([ \t]+[^\s#]\S*:[^\s:]+)*[ \t]*((?<=[ \t])#|$)')
QID = re.compile(rb'^[ \t]*[^\s#]\S*[ \t]+qid:\d', re.MULTILINE)
# a `#` at the beginning, behind a blank or behind the value of a pair, and what is behind it
COMMENT = re.compile(rb'((?:^|[ \t])(?:[^ \t#:]+:[^ \t#]+)?)#.*')


class Formats(Mapping):
    """Name -> module; a module is imported when it is first asked for."""

    def __init__(self, names):
        self._names = tuple(names)

    def __getitem__(self, name):
        if name not in self._names:
            raise KeyError(name)
        return import_module(f'data_formats.formats.{name}')

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)


FORMATS = Formats(
    [
        'svmlight',
        'svmhmm',
        'conll',
        'crfsuite',
        'conllx',
        'conllu',
        'fasta',
        'brackets',
        'multilabel',
        'arff',
        'graph',
        'links',
        'svmrank',
        'boxes',
    ]
)


def format_named(name):
    """The module of a format, or a UsageError that lists the known ones."""
    try:
        return FORMATS[name]
    except KeyError:
        raise UsageError(f'unknown format {name!r} (choose from {", ".join(FORMATS)})') from None


def offers(module, name):
    """Whether a format, given by its module, has what not every one has: a name of the list above."""
    return bool(getattr(module, name, False))


def offering(name):
    """Names of the formats that have it."""
    return [format_name for format_name, module in FORMATS.items() if offers(module, name)]


def by_extension(path):
    """The name of the format that a file name's ending stands for, or None."""
    name = str(path).lower()
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    for module in FORMATS.values():
        if name.endswith(module.EXTENSIONS):
            return module.NAME
    return None


def detect(source, task=None):
    """The name of a source's format: by its file name, then by its first lines (nothing is consumed).

    task : the task it is for, if that is given
    """
    source = Source.of(source)
    name = by_extension(source.path) or by_content(source.head())
    if name is None:
        raise DataError(source.name, None, 'cannot tell the format of this file', f'give --format {"|".join(FORMATS)}')
    if name == 'svmlight' and task == 'chain' and QID.search(source.head()):
        return 'svmhmm'
    able = [module for module in FORMATS.values() if task in module.TASKS and name in getattr(module, 'ALIKE', ())]
    return able[0].NAME if able else name


def by_content(head):
    """The name of the format that the first bytes of a file look like, or None.

    `index:value` words after the first make SVMlight, with `qid:` svm_hmm, with sets of labels before them
    multilabel, with a `ROW-COLUMN` in front links.
    Lines with TABs are CRFsuite's when their number of fields varies or when fields look like attributes (`w=x`,
    `w[0]=x`, `a:0.5`); rows of one width are CoNLL columns. First of all, `>native` in the first line is FASTA,
    `picture` with numbers boxes, an object with `"nodes"` a graph, `@relation` ARFF, brackets up to a closed
    `(TAG WORD)` are brackets, and six to ten fields with numbers in the first one and in HEAD are a treebank.
    """
    if BRACKETS.match(head):
        return 'brackets'
    lines = [line.rstrip(b' \t\r') for line in head.split(b'\n')]
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith(b'#')), b'')
    if re.fullmatch(rb'\s*picture(\s+\d{1,9}){2}((\s+\d{1,9}){4})?', first):
        return 'boxes'
    if re.match(rb'>(native|homolog|decoy)\b', next((line for line in lines if line[:1] not in (b'', b'#')), b'')):
        return 'fasta'
    if ARFF.match(head):
        return 'arff'
    if GRAPH.match(head):
        return 'graph'
    name = _treebank(head.split(b'\n')[:50])
    if name is not None:
        return name
    rows = [line for line in lines if line and not line.startswith((b'#', b'-DOCSTART-'))][:50]
    if rows and all(LINK.match(row) for row in rows):
        return 'links'
    name = _pairs(rows)
    if name is not None:
        return name
    if any(b'\t' in row for row in rows):
        fields = [field for row in rows for field in row.split(b'\t')[1:]]
        attributes = sum(b'=' in field or (b':' in field and _is_number(field.rpartition(b':')[2])) for field in fields)
        if len({row.count(b'\t') for row in rows}) > 1 or 2 * attributes > len(fields):
            return 'crfsuite'
    if rows and len({len(words_of(row)) for row in rows}) == 1 and len(words_of(rows[0])) > 1:
        return 'conll'
    return None


def _pairs(rows):
    """The name of the format of `index:value` words that rows look like, or None: multilabel has labels that are parted
    by commas, rows that begin with a blank and a pair, or three counts in front."""
    counts = bool(rows) and COUNTS.fullmatch(rows[0]) is not None
    rows = [row for line in rows[counts:] if (row := COMMENT.sub(rb'\1', line)).strip()]
    words = list(map(words_of, rows))
    pairs = [word for row in words for word in row[1:]]
    without_labels = any(row[:1] in b' \t' and _is_pair(own[0]) for row, own in zip(rows, words, strict=True))
    if not (pairs or without_labels) or not all(map(_is_pair, pairs)):
        return None
    if counts or without_labels or any(b',' in row[0] for row in words):
        return 'multilabel'
    return 'svmhmm' if any(word.startswith(b'qid:') for word in pairs) else 'svmlight'


def words_of(row):
    """What blanks and TABs part; other white space may stand in names."""
    return [word for word in row.replace(b'\t', b' ').split(b' ') if word]


def _treebank(lines):
    """The name of the treebank format that lines look like, or None: CoNLL-U has comments, ranges, empty nodes or
    the universal tags."""
    rows = [line.rstrip(b'\r').split(b'\t') for line in lines if line.strip() and not line.startswith(b'#')]
    words = [row for row in rows if row[0].isdigit() and 6 <= len(row) <= 10]
    if not words or words[0][0] != b'1' or not all(re.fullmatch(rb'\d{1,9}([-.]\d+)?', row[0]) for row in rows):
        return None
    if not all(re.fullmatch(rb'\d+|_', row[6]) for row in words if len(row) > 6):
        return None
    numbers = [int(row[0]) for row in words]
    if any(number not in (1, before + 1) for before, number in pairwise(numbers)):
        return None
    universal = len(words) < len(rows) or {row[3] for row in words} <= UNIVERSAL_TAGS
    return TREEBANKS[universal or lines[0].startswith(b'#')]


def _is_pair(word):
    """Whether a word is `index:value`, `qid:n`, `sid:n` or `cost:x`."""
    name, _, value = word.partition(b':')
    return (name.isdigit() or name in (b'qid', b'sid', b'cost')) and _is_number(value)


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True
