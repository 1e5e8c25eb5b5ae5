"""Features of the arcs of a data set: the dictionary of those that occur, and the map."""

import numpy as np

from libc.stdint cimport int32_t, uint64_t

from cython_ext.features.arcs.reader cimport SHARE, ArcReader, bin_of
from cython_ext.features.arcs.table cimport ArcTable
from cython_ext.features.arcs.arcs import ArcFeatures
from cython_ext.features.arcs.key_table cimport KeyTable, Slot


def arc_features(dataset, Py_ssize_t n_labels, Py_ssize_t stride, feature_set='all', hash_bits=None,
                 ArcTable table=None):
    """The ArcFeatures of a SentenceDataset. table: of other data (a model's); None: of the features of all arcs, or of
    the gold ones if feature_set is 'observed', features with relations always of the gold ones; with hash_bits of
    any. Raises ValueError where these do not go together."""
    if feature_set not in ('all', 'observed'):
        raise ValueError(f'unknown feature set {feature_set} (choose from all, observed)')
    if hash_bits and feature_set == 'observed':
        raise ValueError('hashed features are not listed, so none are observed ones '
                         '(leave --hash-bits or --feature-set out)')
    shape = len(dataset.word_names), len(dataset.tag_names)
    offsets = np.ascontiguousarray(dataset.offsets, np.int64)
    reader = ArcReader(dataset.words, dataset.tags, dataset.coarse, offsets, shape)
    if table is None and hash_bits:
        table = ArcTable(shape, n_labels, stride, hash_bits)
    elif table is None:
        arcs, relations = KeyTable(), KeyTable()
        heads = np.ascontiguousarray(dataset.heads, np.int32)
        learn(reader, heads, feature_set == 'all', arcs, relations if n_labels > 1 else None)
        table = ArcTable(shape, n_labels, stride, 0, arcs, relations)
    elif (table.shape, table.n_labels, table.stride) != (shape, n_labels, stride):
        raise ValueError(f'features of {table.shape} words and tags and {table.n_labels} relations '
                         f'(expected {shape} and {n_labels})')
    return ArcFeatures(reader, table)


cdef learn(ArcReader reader, const int32_t[::1] heads, bint all_arcs, KeyTable arcs, KeyTable relations):
    """Puts the features of arcs into arcs and those of gold arcs into relations (or nowhere, if None)."""
    cdef Py_ssize_t i, d, h, gold_head
    cdef bint room = True
    with nogil:
        for i in range(reader.n):
            for d in range(1, reader.length(i) + 1):
                gold_head = heads[reader.offset_data[i] + d - 1]
                for h in range(reader.length(i) + 1):
                    if h != d and (all_arcs or h == gold_head):
                        room = room and learn_arc(reader, i, h, d, False, arcs)
                    if h != d and h == gold_head and relations is not None:
                        room = room and learn_arc(reader, i, h, d, True, relations)
    if not room:
        raise MemoryError('no memory for the features of arcs (use --feature-set observed, or --hash-bits)')


cdef bint learn_arc(ArcReader reader, Py_ssize_t i, Py_ssize_t h, Py_ssize_t d, bint relation,
                    KeyTable table) noexcept nogil:
    """Puts the features of one arc into a table; False when there is no memory for them."""
    cdef Py_ssize_t at = 0, k, count
    cdef uint64_t[SHARE] keys
    cdef Slot *slot
    while at >= 0:
        count = reader.next_keys(i, h, d, relation, &at, keys)
        for k in range(count):
            slot = table.insert(keys[k])
            if slot == NULL:
                return False
            slot.bits |= 1 if relation else 1 | 1 << bin_of(h, d)
    return True
