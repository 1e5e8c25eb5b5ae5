"""Where the weights of arc features stand: in a dictionary, or at a hash of the feature.

A weight vector has the weights of arc features first, then rows of `stride` weights of relation features (none where
there is one relation only). A dictionary holds features in the order in which the training data have them, so that
those of a sentence are neighbours; a feature that counts alone has its directions and distances side by side with it.
Hashed, all these stand in a block of 16 weights.

The blocks of a model are, of a dictionary, those features that have a weight other than 0:

arc.shape int64[2]              words and tags of the data, which the keys are made of
arc.keys uint64[F]              features (see reader.pyx), and
arc.bins uint16[F]              with which directions and distances they occur: bit 0 for the feature alone, then 1..14
arc.weights float64             a weight for every bit that is set
relation.keys uint64[G]         where there are several relations
relation.weights float64[G, R]

and hashed, arc.shape, arc.weights float64[2^hash_bits] and relation.weights float64[rows, R].
"""

import numpy as np

from libc.stdint cimport int64_t, uint16_t

from cython_ext.features.arcs.templates import ARC, RELATION, largest_key
from cython_ext.features.arcs.key_table cimport KeyTable, ones

LEAST_BITS, MOST_BITS = 8, 27       # of hashes
ARC_WEIGHTS_LIMIT = 1 << 28                      # arc weights, as many as locate() can tell apart
CACHE_LINE = 8                      # doubles of a cache line


cdef class ArcTable:
    """shape: (words, tags) of the data; n_labels: relations, with rows of `stride` weights; hash_bits: 2^hash_bits arc
    weights and up to as many of relations, 0 for the dictionary of arcs and relations: KeyTables in the order of
    insertion. Raises ValueError where these are too many."""

    def __init__(self, shape, Py_ssize_t n_labels, Py_ssize_t stride, Py_ssize_t hash_bits=0, KeyTable arcs=None,
                 KeyTable relations=None):
        self.shape = tuple(int(size) for size in shape)
        self.n_labels, self.stride, self.hash_bits = n_labels, stride, hash_bits
        if hash_bits:
            self._size_hashes()
        else:
            check_shape(self.shape)
            self.arcs, self.relations = arcs or KeyTable(), relations or KeyTable()
            self.arc_weights, self.relation_rows = self.arcs.lay_out(), self.relations.lay_out()
            if self.arc_weights >= ARC_WEIGHTS_LIMIT:
                raise ValueError(f'{self.arc_weights} features of arcs (expected fewer than {ARC_WEIGHTS_LIMIT}; use '
                                 '--feature-set observed, or --hash-bits)')
        self.first_row = (self.arc_weights + CACHE_LINE - 1) // CACHE_LINE * CACHE_LINE
        self.dim = self.first_row + (self.relation_rows * self.stride if self.n_labels > 1 else 0)

    def _size_hashes(self):
        if not LEAST_BITS <= self.hash_bits <= MOST_BITS:
            raise ValueError(f'{self.hash_bits} hash bits (expected {LEAST_BITS} to {MOST_BITS})')
        self.arc_weights, self.relation_rows = 1 << self.hash_bits, 1
        while 2 * self.relation_rows * self.stride <= self.arc_weights:
            self.relation_rows *= 2

    def blocks(self, w):
        """The weights by name, as above."""
        arcs = np.asarray(w)[:self.arc_weights]
        rows = np.asarray(w)[self.first_row:].reshape(-1, self.stride)[:, :self.n_labels]
        out = {'arc.shape': np.array(self.shape, np.int64)}
        if self.hash_bits:
            out['arc.weights'] = np.array(arcs, np.float64)
        else:
            keys, bins = self.arcs.arrays()
            sizes = sizes_of(bins)
            used = np.zeros(len(keys), bool)
            if len(keys):
                used = np.logical_or.reduceat(arcs != 0, np.cumsum(sizes) - sizes)
            weights = arcs[np.repeat(used, sizes)].astype(np.float64)
            out |= {'arc.keys': keys[used], 'arc.bins': bins[used], 'arc.weights': weights}
        if self.n_labels > 1 and self.hash_bits:
            out['relation.weights'] = np.array(rows, np.float64)
        elif self.n_labels > 1:
            used = rows.any(axis=1)
            keys, _ = self.relations.arrays()
            out |= {'relation.keys': keys[used], 'relation.weights': np.array(rows[used], np.float64)}
        return out

    def weights(self, blocks):
        """The weight vector of blocks(). Raises ValueError where they do not fit, or are of features that are not
        here."""
        from cython_ext.common.arrays import aligned_zeros

        check_blocks(blocks, self.hash_bits, self.n_labels)
        if tuple(blocks['arc.shape'].tolist()) != self.shape:
            raise ValueError(f'features of {blocks["arc.shape"].tolist()} words and tags (expected {list(self.shape)})')
        w = aligned_zeros(self.dim)
        rows = w[self.first_row:].reshape(-1, self.stride)[:, :self.n_labels]
        if not self.hash_bits:
            weights = np.ascontiguousarray(blocks['arc.weights'], np.float64)
            self._place(w, blocks['arc.keys'], blocks['arc.bins'], weights)
            if self.n_labels > 1:
                places, _ = self.relations.look_up(blocks['relation.keys'])
                rows[_known(places)] = blocks['relation.weights']
            return w
        fits = len(blocks['arc.weights']) == self.arc_weights
        if not fits or (self.n_labels > 1 and len(blocks['relation.weights']) != len(rows)):
            raise ValueError(f'hashes of {len(blocks["arc.weights"])} weights (expected {self.arc_weights})')
        w[:self.arc_weights] = blocks['arc.weights']
        if self.n_labels > 1:
            rows[...] = blocks['relation.weights']
        return w

    def _place(self, double[::1] w, keys, const uint16_t[::1] bins, const double[::1] weights):
        """Weights of arc features to where they stand here."""
        places, here = self.arcs.look_up(keys)
        cdef const int64_t[::1] place_view = _known(places)
        cdef const uint16_t[::1] here_view = here
        cdef Py_ssize_t k, bin, at = 0
        for k in range(len(place_view)):
            for bin in range(16):
                if bins[k] >> bin & 1:
                    if here_view[k] >> bin & 1:
                        w[place_view[k] + ones(here_view[k] & ((1 << bin) - 1))] = weights[at]
                    elif weights[at] != 0.0:
                        raise ValueError('weights of arc features that these data do not have')
                    at += 1


def table_of_blocks(blocks, hash_bits=None):
    """The ArcTable of a model's blocks. Raises ValueError when they are none."""
    from cython_ext.structures.choice import padded

    rows = blocks.get('relation.weights')
    n_labels = 1 if rows is None else rows.shape[1] if rows.ndim == 2 else 0
    check_blocks(blocks, hash_bits or 0, n_labels)
    shape, stride = blocks['arc.shape'].tolist(), 1 if n_labels == 1 else padded(n_labels)
    if hash_bits:
        return ArcTable(shape, n_labels, stride, hash_bits)
    arcs = KeyTable(blocks['arc.keys'], blocks['arc.bins'] | np.uint16(1))
    keys = blocks['relation.keys'] if n_labels > 1 else np.empty(0, np.uint64)
    return ArcTable(shape, n_labels, stride, 0, arcs, KeyTable(keys, np.ones(len(keys), np.uint16)))


def check_blocks(blocks, hash_bits, n_labels):
    """Raise ValueError where arrays are missing, or do not fit together."""
    wanted = {'arc.shape': np.int64, 'arc.weights': np.float64}
    if not hash_bits:
        wanted |= {'arc.keys': np.uint64, 'arc.bins': np.uint16}
    if n_labels > 1:
        wanted |= {'relation.weights': np.float64, **({} if hash_bits else {'relation.keys': np.uint64})}
    if set(blocks) != set(wanted):
        raise ValueError(f'weights {sorted(blocks)} (expected {sorted(wanted)})')
    for name, kind in wanted.items():
        block = blocks[name]
        if block.ndim != (2 if name == 'relation.weights' else 1) or not np.can_cast(block.dtype, kind, 'same_kind'):
            raise ValueError(f'{name} of dtype {block.dtype} and shape {block.shape}')
    fits = len(blocks['arc.shape']) == 2 and min(blocks['arc.shape']) >= 0
    if n_labels > 1:
        fits = fits and blocks['relation.weights'].shape[1] == n_labels
    if not hash_bits:
        fits = fits and len(blocks['arc.keys']) == len(blocks['arc.bins'])
        fits = fits and sizes_of(blocks['arc.bins']).sum() == len(blocks['arc.weights'])
    if n_labels > 1 and not hash_bits:
        fits = fits and len(blocks['relation.keys']) == len(blocks['relation.weights'])
    if not fits:
        raise ValueError('the weights of arc features do not fit together')


def check_shape(shape):
    """Raise ValueError where keys would not fit into 63 bits."""
    if max(largest_key(ARC, shape), largest_key(RELATION, shape)) >= 1 << 63:
        raise ValueError(f'{shape[0]} words and {shape[1]} tags are too many for a dictionary of arc features '
                         '(use --hash-bits)')


def sizes_of(const uint16_t[::1] bins):
    """How many bits are set, int64[n]."""
    out = np.empty(len(bins), np.int64)
    cdef int64_t[::1] view = out
    cdef Py_ssize_t k
    for k in range(len(bins)):
        view[k] = ones(bins[k])
    return out


def _known(places):
    if (places < 0).any():
        raise ValueError('weights of arc features that these data do not have')
    return places
