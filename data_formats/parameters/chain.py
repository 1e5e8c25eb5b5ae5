"""Those of tokens.py."""

from data_formats.parameters.tokens import VOCABULARIES, blocks, listed, read, read_rows, stored, write_rows  # noqa: F401
from data_formats.parameters.values import Key, one_of

STRUCTURE = {'order': Key(one_of(1, 2), '1 or 2')}
