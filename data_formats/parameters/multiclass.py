"""Those of tokens.py."""

from data_formats.parameters.tokens import VOCABULARIES, blocks, listed, read, read_rows, stored, write_rows  # noqa: F401

STRUCTURE = {}
