"""Graphs with counts as the kernel reads them (kernels/graph/counts.h)."""

import numpy as np

TERM = np.dtype(
    [('at', np.int64), ('first', np.int64), ('last', np.int64), ('start', np.int64), ('buckets', np.int32)], align=True
)


class CountsError(ValueError):
    """Counts that share nodes, with one another or with other factors."""


def has_counts(layout, shape):
    """Whether a Shape has a factor that is a count."""
    return any(layout.types[kind].buckets is not None for kind in np.unique(shape.types))


def counts_and_nodes(types, shape):
    """(terms, place, states, node, starts) of a Shape, as of ssvm_counts. Raises CountsError where the labelings of its
    counts are not found by sorting."""
    sizes = np.array([kind.size for kind in types], np.int64)[shape.types]
    place = np.cumsum(sizes) - sizes
    terms, nodes, starts = np.zeros(len(shape.types) - shape.nodes, TERM), [], []
    for term, f in zip(terms, range(shape.nodes, len(shape.types)), strict=True):
        kind, scope = types[shape.types[f]], shape.scopes[f]
        if kind.buckets is None:
            raise CountsError('a graph has a factor beside one that counts')
        term['at'], term['first'], term['last'] = place[f], len(nodes), len(nodes) + len(scope)
        term['start'], term['buckets'] = len(starts), kind.size
        nodes += scope
        starts += kind.buckets
    if len(set(nodes)) < len(nodes):
        raise CountsError('a graph has two factors that count the same node')
    apart = sorted(set(range(shape.nodes)) - set(nodes))
    arrays = [(place, np.int64), (sizes, np.int32), ([*nodes, *apart], np.int32), (starts, np.int32)]
    return terms, *(np.append(values, 0).astype(kind) for values, kind in arrays)
