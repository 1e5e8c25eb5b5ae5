"""Checkpoints of a training run: the state of solver and monitor, and what the run was started with."""

import math
import os
from dataclasses import dataclass

import numpy as np

from data_formats.errors import DataError
from data_formats.files.atomic import atomic_output
from data_formats.files.container import Container, is_own, write_container

FORMAT = 'ssvm-checkpoint'
FORMAT_VERSION = 1
DOCUMENT = 'checkpoint.json'
NUMBER_KEY = 'number'
SHOWN_CHARACTERS = 80  # characters of a value that a message shows


@dataclass
class Checkpoint:
    """A run to go on with.

    Attributes:
        run: what decides the result (options and figures of the data), a JSON-able dictionary.
        parts: states by name ('solver', 'monitor', ...); each a flat dictionary of arrays and JSON-able scalars.
    """

    run: dict
    parts: dict


def save(checkpoint, path):
    """Write a checkpoint; `path` holds the old one or the whole new one at any moment."""
    scalars, arrays = {}, {}
    for part, state in checkpoint.parts.items():
        scalars[part] = {}
        for key, value in state.items():
            if isinstance(value, np.generic):
                value = value.item()
            if isinstance(value, np.ndarray):
                arrays[f'{part}.{key}'] = value
            else:
                scalars[part][key] = _spelled(value)
    document = {'format': FORMAT, 'format_version': FORMAT_VERSION, 'run': checkpoint.run, 'parts': scalars}
    with atomic_output(path) as stream:
        write_container(stream, DOCUMENT, document, arrays)


def load(path):
    """Read a checkpoint.

    Raises:
        DataError: missing, foreign, truncated, altered, or of another version.
    """
    if not os.path.exists(path):
        raise DataError(path, None, 'no such checkpoint', 'leave --resume out to start from the beginning')
    container = Container(path, DOCUMENT, 'an ssvm checkpoint', bounded=False)
    document = container.document
    if document.get('format') != FORMAT or document.get('format_version') != FORMAT_VERSION:
        raise container.error(f'checkpoint of format {document.get("format_version")!r}', f'expected {FORMAT_VERSION}')
    try:
        parts = _read(document.get('parts'))
    except (ValueError, TypeError, RecursionError) as error:
        raise container.error(f'{DOCUMENT} is damaged ({error})') from error
    fits = isinstance(document.get('run'), dict) and isinstance(parts, dict)
    if not fits or not all(isinstance(part, dict) for part in parts.values()):
        raise container.error('incomplete checkpoint')
    for name in container.names():
        part, _, key = name.partition('.')
        array = container.any_array(name)
        parts.setdefault(part, {})[key] = array.item() if array.ndim == 0 else array
    return Checkpoint(document['run'], parts)


def _spelled(value):
    """A value with numbers that JSON does not have as {NUMBER_KEY: text}."""
    if isinstance(value, dict):
        return {key: _spelled(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_spelled(item) for item in value]
    return {NUMBER_KEY: str(value)} if isinstance(value, float) and not math.isfinite(value) else value


def _read(value):
    """What _spelled was given, lists for tuples."""
    if isinstance(value, dict):
        return (
            float(value[NUMBER_KEY])
            if set(value) == {NUMBER_KEY}
            else {key: _read(item) for key, item in value.items()}
        )
    return [_read(item) for item in value] if isinstance(value, list) else value


def is_checkpoint(path):
    """Whether a file is a checkpoint, of whatever version and in whatever state."""
    return is_own(path, DOCUMENT, FORMAT)


def differences(saved, now):
    """Sentences about what differs between the run of a checkpoint and the present one; empty if nothing does."""
    keys = [*saved, *(key for key in now if key not in saved)]
    found = [(key, saved.get(key), now.get(key)) for key in keys if saved.get(key) != now.get(key)]
    return [f'{key} was {in_short(was)} and is {in_short(now)}' for key, was, now in found]


def in_short(value):
    """A value of a run's facts in a sentence: templates may be long."""
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else f'{text[:SHOWN_CHARACTERS]}... ({len(text)} characters)'
