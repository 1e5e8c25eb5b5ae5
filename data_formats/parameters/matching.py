"""Those of features.py."""

from data_formats.parameters.features import VOCABULARIES, blocks, listed, read, read_rows, stored, write_rows  # noqa: F401

STRUCTURE = {}
