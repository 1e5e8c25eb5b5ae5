"""A complete model stays where it is when another run that would have replaced it is interrupted.

The interrupted run writes its own model beside it. A run that was resumed may replace what it wrote before it was (at a
limit, say): a model of the same facts that is not further on, and is not the one which stood there when the run began.
"""

import json
import os
import zlib

from data_formats.errors import DataError
from data_formats.files.atomic import is_special
from data_formats.files.container import Container
from data_formats.files.source import Source
from data_formats.models.model import HEADER, MODEL_NOUN, is_model
from data_formats.models.tsv import is_model_tsv, read_model_tsv
from ssvm_cli.options.files import beginning
from ssvm_cli.training.monitor import INTERRUPTED

BESIDE = '.interrupted'
# What changes while a run goes on, or may differ where it is resumed; all else in a header are facts of the run.
CHANGING = ('status', 'passes', 'oracle_calls', 'primal', 'dual', 'gap', 'relative_gap', 'tolerance', 'package_version')


def place(path, header, resumed=False, earlier=None):
    """Where an interrupted run writes its model.

    Args:
        path: MODEL.
        header: of the model.
        resumed: whether the run is one that was resumed.
        earlier: `mark` of what was there when the run began.
    """
    older = _complete(path)
    if older is None:
        return path
    own = resumed and _mark(older) != earlier and _same_run(older, header)
    return path if own and older.get('passes', 0) <= header['passes'] else path + BESIDE


def mark(path):
    """A number that tells the complete model at a path from others; None where there is none."""
    header = _header(path)
    return None if header is None or header.get('status') == INTERRUPTED else _mark(header)


def remove_beside(path, header):
    """Remove the model that a run with this header has left beside its place, which has the whole one now."""
    left = _header(path + BESIDE)
    if left is not None and _same_run(left, header):
        os.unlink(path + BESIDE)


def _complete(path):
    """The header of a model that was not interrupted and is undamaged, otherwise None."""
    header = _header(path)
    if header is None or header.get('status') == INTERRUPTED:
        return None
    try:
        if is_model(path):
            container = Container(path, HEADER, MODEL_NOUN)
            for name in container.names():  # one after the other: memory may be scarce
                container.any_array(name)
    except DataError:
        return None
    return header


def _header(path):
    """The header of a model, or of the text of one; None where there is neither."""
    if path == '-' or is_special(path) or not os.path.isfile(path):
        return None
    try:
        if is_model_tsv(beginning(path)):
            return read_model_tsv(Source(path)).header
        return Container(path, HEADER, MODEL_NOUN).document if is_model(path) else None
    except DataError:
        return None


def _mark(header):
    return zlib.crc32(json.dumps(header, sort_keys=True).encode())


def _same_run(one, other):
    """Whether two headers are of runs with the same options and data."""
    other = json.loads(json.dumps(other))
    return all(one.get(key) == value for key, value in other.items() if key not in CHANGING)
