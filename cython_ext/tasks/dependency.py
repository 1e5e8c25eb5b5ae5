"""A head and a relation for each word of a sentence, that make a tree."""

import numpy as np

from cython_ext.structures.dependency.dependency import ProjectiveTrees, SpanningTrees
from cython_ext.tasks.common import zero_one
from cython_ext.tasks.registry import TaskInfo


def build(dataset, feature_set='all', nonprojective=False, single_root=True, hash_bits=None, table=None):
    """(Structure, FeatureMap) of a SentenceDataset. nonprojective: trees may cross; single_root: one word hangs from
    the root, and not any number; hash_bits, table: see arc_features. Raises ValueError where these do not go together,
    or the gold trees are not of this kind."""
    from cython_ext.features.arcs.dictionary import arc_features

    heads, relations = (np.ascontiguousarray(a, np.int32) for a in (dataset.heads, dataset.relations))
    offsets = np.ascontiguousarray(dataset.offsets, np.int64)
    if table is None and heads.min(initial=0) >= 0:
        check_trees(heads, offsets, nonprojective, single_root)
    kind = SpanningTrees if nonprojective else ProjectiveTrees
    structure = kind(heads, relations, offsets, len(dataset.label_names), single_root)
    return structure, arc_features(dataset, structure.n_labels, structure.stride, feature_set, hash_bits, table)


def check_trees(heads, offsets, nonprojective, single_root):
    """Raise ValueError where some gold output is none of the structure's."""
    from cython_ext.structures.dependency.trees import projective_sentences, roots, trees

    lengths = np.diff(offsets)
    bad = ~trees(heads, offsets)
    if bad.any():
        raise ValueError(
            f'the heads of {bad.sum()} sentences make no tree, the first of them number {bad.argmax() + 1}'
        )
    bad = (roots(heads, offsets) != 1) & (lengths > 0)
    if single_root and bad.any():
        raise ValueError(
            f'{bad.sum()} sentences have several roots, the first of them number {bad.argmax() + 1} (use --multi-root)'
        )
    bad = ~projective_sentences(heads, offsets)
    if not nonprojective and bad.any():
        raise ValueError(
            f'the trees of {bad.sum()} sentences are not projective, the first of them number '
            f'{bad.argmax() + 1} (use --nonprojective)'
        )


def attachment():
    from cython_ext.losses.dependency import Attachment

    return Attachment


INFO = TaskInfo(
    name='dependency',
    summary='a head and a relation for each word of a sentence, that make a tree',
    build=build,
    losses={'hamming': attachment, 'zero-one': zero_one},
    default_loss='hamming',
    refused={
        'basis': 'a kernel is between the features of positions, and arcs have features of their own '
        '(use --kernel linear)',
        'similarity': 'features of classes are for single labels, not for trees',
    },
)
