"""--scale: the values of each attribute divided by a number of its own, which the training file decides.

Nothing is centred, so what is zero stays zero and sparse rows stay sparse. It happens to the arrays of a parser, before
anything is made of them: attributes of neighbours have the scale of the attribute that they repeat, and a bias of 1
stays 1. Attributes that training has not seen have no weight and so no scale.
"""

import numpy as np

from data_formats.errors import DataError, shown

ROW_ARRAYS = (  # of a parser, which have values
    ('indices', 'values'),
    ('factor_indices', 'factor_values'),
    ('state_indices', 'state_values'),
    ('factor_state_indices', 'factor_state_values'),
)
ENTRIES_AT_ONCE = 1 << 20  # entries that are looked at together


def learned_scale(parts, kind):
    """float64 [attributes], what the values of each attribute are to be divided by; 1 where all of them are zero.

    Args:
        parts: a parser's arrays of the training file, with its vocabulary.
        kind: one of divisors.SCALES.
    """
    scale = np.zeros(len(parts['attributes']))
    for indices, values in _pieces(parts, len(scale)):
        np.maximum.at(scale, indices, np.abs(values))
    scale[scale == 0] = 1.0
    if kind == 'std':
        squares, counts = np.zeros(len(scale)), np.zeros(len(scale), np.int64)
        for indices, values in _pieces(parts, len(scale)):
            # of shares of the largest one, so that no square is too large or too small for a number
            squares += np.bincount(indices, (values / scale[indices]) ** 2, len(scale))
            counts += np.bincount(indices[values != 0], minlength=len(scale))
        scale *= np.sqrt(np.divide(squares, counts, out=np.ones(len(scale)), where=counts > 0))
    return scale


def divide(parts, scale, attributes, source):
    """Divide the values among a parser's arrays, in place where they are given.

    Args:
        parts: a parser's arrays.
        scale: float64 [attributes].
        attributes: their vocabulary.
        source: of the arrays, for messages.

    Raises:
        DataError: a value is so much larger than those that the scale is of that the quotient is no number.
    """
    for ids, name in ROW_ARRAYS:
        if parts.get(ids) is None:
            continue
        indices, values = parts[ids], parts[name]
        if values is None:
            if (scale[indices] != 1).any():
                parts[name] = 1 / scale[indices]
            continue
        for at in range(0, len(indices), ENTRIES_AT_ONCE):
            piece = slice(at, at + ENTRIES_AT_ONCE)
            with np.errstate(over='ignore'):
                values[piece] /= scale[indices[piece]]
        if not np.isfinite(values).all():
            k = indices[(~np.isfinite(values)).argmax()]
            what = f'a value of {shown(attributes.name_bytes(k))} is too large for its scale, {scale[k]:.3g}'
            raise DataError(source.name, None, what, 'expected values like those of the training data')


def _pieces(parts, attributes):
    """(indices, values) of all entries, so many at a time that what is made of them is no larger than need be."""
    size = max(ENTRIES_AT_ONCE, attributes)
    for ids, name in ROW_ARRAYS:
        for at in range(0, len(parts.get(ids, ())), size):
            indices = parts[ids][at : at + size]
            yield indices, np.ones(len(indices)) if parts[name] is None else parts[name][at : at + size]
