"""Attributes of a token's neighbours, and of the transition into it, for formats with ready-made attributes.

The vocabulary of a window of N is that of the tokens themselves, then the same names as NAME[-1], as NAME[+1], as
NAME[-2] and so on, so that the attribute of a neighbour has the token's number plus a constant. An attribute named
`bias` (--bias) comes behind.
"""

from dataclasses import replace

import numpy as np

from cython_ext.text.rows import keep_ids
from data_formats.datasets.tokens import indptr_of, rows_of
from data_formats.errors import DataError

MAX_ATTRIBUTES = 2**31 - 1  # attributes: ids are 32 bits wide


def distances(window):
    """Of the neighbours, as their attributes are numbered."""
    return [sign * far for far in range(1, window + 1) for sign in (-1, 1)]


def window_names(names, window):
    """The vocabulary of a window, made of that of the tokens.

    Raises:
        DataError: an attribute has the name of a neighbour's already, or there are too many.
    """
    if len(names) * (2 * window + 1) > MAX_ATTRIBUTES:
        raise DataError(
            'data', None, f'{len(names)} attributes are too many for --window {window}', f'at most {MAX_ATTRIBUTES}'
        )
    try:
        return names.with_suffixes(b'[%+d]' % distance for distance in distances(window))
    except KeyError as error:
        (name,) = error.args
        raise DataError(
            'data', None, f'an attribute is named {name!r} already', f'expected no {name!r} with --window {window}'
        ) from None


def own_attributes(attributes, window, bias):
    """How many attributes of a vocabulary that a model has are of tokens themselves."""
    return (len(attributes) - bias) // (2 * window + 1)


def check_names(attributes, edge_attributes, facts, error):
    """Raise error(text) unless vocabularies are what a model of these facts (of its data) must have."""
    window, bias = facts.get('window') or 0, bool(facts.get('bias'))
    if not (window or facts.get('edge_features')):
        return
    own = attributes.select(range(own_attributes(attributes, window, bias)))
    try:
        made = own.with_suffixes(b'[%+d]' % distance for distance in distances(window))
    except KeyError:
        made = None
    if made != attributes.select(range(len(attributes) - bias)):
        raise error(f'its attributes are not those of a window of {window}')
    if facts.get('edge_features') and edge_attributes != own:
        raise error('its edge attributes are not the attributes of tokens')


def with_neighbours(dataset, options, frozen=None):
    """The dataset with what --window and --edge-features add.

    Args:
        dataset: a TokenDataset as a parser makes it, over its own vocabulary or over that of `frozen`.
        options: ReadOptions.
        frozen: what has the `attributes` and `edge_attributes` of a model, None while training.

    Raises:
        DataError: as window_names.
    """
    own = len(dataset.attributes) if frozen is None else own_attributes(frozen.attributes, options.window, options.bias)
    if (dataset.indices >= own).any():  # by chance the name of a neighbour's attribute: unknown like any other
        kept = np.where(np.arange(len(dataset.attributes)) < own, np.arange(len(dataset.attributes)), -1)
        rows = keep_ids(dataset.indptr, dataset.indices, dataset.values, kept.astype(np.int32))
        dataset = replace(dataset, **dict(zip(('indptr', 'indices', 'values'), rows, strict=True)))
    changed = {}
    if options.edge_features:
        changed |= edges_of(dataset)
        changed['edge_attributes'] = dataset.attributes if frozen is None else frozen.edge_attributes
    if options.window:
        changed |= window_of(dataset, options.window, own)
        changed['attributes'] = (
            window_names(dataset.attributes, options.window) if frozen is None else frozen.attributes
        )
        if dataset.scale is not None:
            changed['scale'] = np.tile(dataset.scale, 2 * options.window + 1)
    return replace(dataset, **changed)


def window_of(dataset, window, own):
    """The rows of tokens and of their neighbours up to so far away in the same sequence, side by side."""
    tokens = np.arange(dataset.tokens)
    lengths = np.diff(dataset.offsets)
    begin, end = np.repeat(dataset.offsets[:-1], lengths), np.repeat(dataset.offsets[1:], lengths)
    near = tokens[:, None] + [0, *distances(window)]
    inside = (near >= begin[:, None]) & (near < end[:, None])
    shift = np.broadcast_to(np.arange(2 * window + 1) * own, near.shape)[inside]
    indptr, indices, values = rows_of(dataset.indptr, dataset.indices, dataset.values, near[inside])
    indices = indices + np.repeat(shift, np.diff(indptr)).astype(np.int32)
    cells = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
    return {'indptr': indptr[cells], 'indices': indices, 'values': values}


def edges_of(dataset):
    """The rows of tokens once more, without those of first tokens."""
    counts = np.diff(dataset.indptr)
    first = np.zeros(dataset.tokens, bool)
    first[dataset.offsets[:-1][np.diff(dataset.offsets) > 0]] = True
    kept = np.repeat(~first, counts)
    values = None if dataset.values is None else dataset.values[kept]
    return {
        'edge_indptr': indptr_of(np.where(first, 0, counts)),
        'edge_indices': dataset.indices[kept],
        'edge_values': values,
    }
