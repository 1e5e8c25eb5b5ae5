"""The Spanish part of CoNLL-2002 for the experiments on named entities: its sentences, and columns for templates."""

import os
import re
from itertools import groupby
from pathlib import Path

NAME = 'conll2002_spanish'


def folder():
    """Where the data set is looked for."""
    return Path(os.environ.get('SSVM_DATA') or Path(__file__).resolve().parents[2] / 'shared' / 'data') / NAME


def missing(path):
    """What is said where it is not."""
    return f'skipped: data set {NAME} is not there: {path} (SSVM_DATA says where the sets are)'


def sentences(path):
    """Lists of rows (word, part of speech, tag)."""
    with open(path, encoding='utf-8') as stream:
        for blank, lines in groupby(stream, key=lambda line: not line.strip()):
            if not blank:
                yield [line.split() for line in lines]


def shape(word):
    """Letters by case, digits and all else, without repetitions: `EFE-2` is X-d."""
    kinds = ''.join('X' if c.isupper() else 'x' if c.isalpha() else 'd' if c.isdigit() else c for c in word)
    return re.sub(r'(.)\1+', r'\1', kinds)


def columns(word, part_of_speech, tag):
    return f'{word.lower()} {word.lower()[-3:]} {shape(word)} {part_of_speech} {tag}\n'


def write(path, chosen):
    """Sentences with the columns word, ending, shape, part of speech, tag."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('\n'.join(''.join(columns(*row) for row in rows) for rows in chosen), encoding='utf-8')
