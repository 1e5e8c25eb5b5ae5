"""Weights of attributes, labels, pairs and triplets of labels: multiclass and chains.

K labels, F attributes, E edge attributes: 'state' float64[F, K], or 'state.indptr' int64[F+1], 'state.labels' int32[m]
and 'state.weights' float64[m] where only some pairs have a weight; 'transition' float64[K, K] (from, to); 'edge'
float64[E, K, K]; 'triple' float64[K, K, K] where the order is 2. With a kernel no state weights, but the tokens that
have coefficients, 'support.indptr' int64[M+1], 'support.indices' int32 attributes, 'support.values' float64 (unless all
are 1), and 'support.weights' float64[M, K].
"""

import numpy as np

from data_formats.parameters import numbers, row_table
from data_formats.parameters.sparse_weights import dense
from data_formats.parameters.sparse_weights import packed as stored
from data_formats.parameters.token_rows import blocks, listed, order_of, read_rows, write_rows
from data_formats.parsing.windows import check_names

__all__ = ['VOCABULARIES', 'blocks', 'listed', 'read', 'read_rows', 'stored', 'write_rows']

VOCABULARIES = ('label_names', 'attributes', 'edge_attributes')


def read(container, header, names, as_stored):
    """The weights; as_stored: leave the state weights as lists where they are stored so."""
    K, F, E = (len(names[name]) for name in VOCABULARIES)
    check_names(names['attributes'], names['edge_attributes'], header['data'], container.error)
    linear = header.get('kernel') is None
    weights = (_states if linear else _support)(container, K, F)
    weights |= _transitions(container, K, E, order_of(header) == 2)
    if linear and not as_stored and header['feature_set'] == 'all':
        weights = dense(weights, F, K)
    return weights


def _states(container, K, F):
    """State weights, their shapes and ranges checked against the vocabularies."""
    if 'weights.state.indptr' not in container.names():
        return {'state': numbers(container, 'state', (F, K))}
    labels = container.array('weights.state.labels', '<i4', (None,))
    indptr = row_table(container, 'state.indptr', F, len(labels))
    if len(labels) and not 0 <= labels.min() <= labels.max() < K:
        raise container.error('array weights.state.labels holds a label that is not there')
    weights = numbers(container, 'state.weights', (len(labels),))
    return {'state.indptr': indptr, 'state.labels': labels, 'state.weights': weights}


def _support(container, K, F):
    """Tokens and their coefficients, where there is a kernel."""
    indices = container.array('weights.support.indices', '<i4', (None,))
    table = numbers(container, 'support.weights', (None, K))
    indptr = row_table(container, 'support.indptr', len(table), len(indices))
    if len(indices) and not 0 <= indices.min() <= indices.max() < F:
        raise container.error('array weights.support.indices holds an attribute that is not there')
    inside = np.ones(len(indices), bool)
    inside[indptr[:-1][np.diff(indptr) > 0]] = False
    if (np.diff(indices) <= 0)[inside[1:]].any():
        raise container.error('array weights.support.indices is not ascending in each token')
    weights = {'support.indptr': indptr, 'support.indices': indices, 'support.weights': table}
    if 'weights.support.values' in container.names():
        weights['support.values'] = numbers(container, 'support.values', (len(indices),))
    return weights


def _transitions(container, K, E, triples):
    """Weights of pairs and triplets of labels; those of edge attributes there must be, and triplets where the order
    says so."""
    weights = {}
    needed = {'transition': False, 'edge': E > 0, 'triple': triples}
    for name, shape in {'transition': (K, K), 'edge': (E, K, K), 'triple': (K, K, K)}.items():
        if f'weights.{name}' in container.names() or needed[name]:
            weights[name] = numbers(container, name, shape)
    return weights
