"""A model whose place has become one that cannot be written: a full disk, a folder that is gone."""

import contextlib
import os

from data_formats.errors import DataError
from data_formats.models.model import save


def save_elsewhere(model):
    """Write a model to a new file in the folder for temporary files; returns its name, None if that fails too."""
    import tempfile  # brings a cryptographic library along, which few runs need

    name = None
    try:
        descriptor, name = tempfile.mkstemp(prefix='ssvm-', suffix='.model')
        os.close(descriptor)
        save(model, name)
    except (OSError, DataError):
        if name is not None:
            with contextlib.suppress(OSError):
                os.unlink(name)
        return None
    return name
