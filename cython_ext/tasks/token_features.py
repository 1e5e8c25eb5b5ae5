"""Feature maps of token data (multiclass and chains) by the name of their feature set."""

import numpy as np

from cython_ext.features.feature_sets import FEATURE_SETS
from cython_ext.features.tokens.column_groups import column_groups
from cython_ext.features.tokens.sparse import SparseFeatures
from cython_ext.features.tokens.sparse_rows import SparseRows


def kernel_basis(kernel, dataset, feature_set='all', cache_mb=None, support=None):
    """The KernelBasis of the tokens of a dataset and of further ones (a CSR triple over the same attributes). kernel: a
    dict as Kernel.of takes it. Raises ValueError."""
    from cython_ext.features.kernel.basis import CACHE_MB, KernelBasis
    from cython_ext.features.kernel.function import Kernel

    if feature_set != 'all':
        raise ValueError(f'a kernel has no weights of attributes, so no {feature_set} ones (use --feature-set all)')
    parts = [(dataset.indptr, dataset.indices, dataset.values), *([] if support is None else [support])]
    return KernelBasis(Kernel.of(kernel), parts, len(dataset.attributes), CACHE_MB if cache_mb is None else cache_mb)


def token_features(dataset, n_labels, stride, order, feature_set='all', merge=False, basis=None, similarity=None):
    """The FeatureMap of a TokenDataset. order: of the chain, 0 for single labels. feature_set: 'all' attribute-label
    pairs, or those 'observed' in the data. merge: one column for attributes that always occur together (see
    column_groups.pyx), where that is worth it. basis: the KernelBasis of a kernel; None for linear features.
    similarity: float64[K, K] of the classes, where these have features of their own (see output_features.pyx). Raises
    ValueError where these do not go together."""
    if feature_set not in FEATURE_SETS:
        raise ValueError(f'unknown feature set {feature_set} (choose from {", ".join(FEATURE_SETS)})')
    tokens = SparseRows(dataset.indptr, dataset.indices, dataset.values, len(dataset.attributes))
    edges = None
    if order and dataset.edge_indptr is not None:
        edges = SparseRows(dataset.edge_indptr, dataset.edge_indices, dataset.edge_values, len(dataset.edge_attributes))
    if similarity is not None:
        from cython_ext.features.tokens.output_features import OutputFeatures

        check_similarity(order, feature_set, basis)
        return OutputFeatures(tokens, dataset.offsets, n_labels, stride, similarity)
    layout = (n_labels, stride, order, order > 0 and dataset.transitions, edges)
    if basis is not None:
        from cython_ext.features.kernel.kernel import KernelFeatures

        return KernelFeatures(tokens, basis, dataset.offsets, *layout)
    if feature_set == 'observed':
        from cython_ext.features.tokens.observed import ObservedFeatures

        return ObservedFeatures(tokens, dataset.offsets, np.ascontiguousarray(dataset.labels, np.int32), *layout)
    groups = None
    if merge and dataset.values is None:
        groups = column_groups(dataset.indptr, dataset.indices, len(dataset.attributes))
    if groups is not None:
        tokens = SparseRows(*groups.entries(dataset.indptr, dataset.indices), len(groups.sizes))
    return SparseFeatures(tokens, dataset.offsets, *layout, groups)


def check_similarity(order, feature_set, basis):
    """Raise ValueError where features of classes do not go with the rest."""
    if order:
        raise ValueError('features of classes are for single labels, not for sequences of them')
    if feature_set != 'all':
        raise ValueError(f'features of classes tie the weights of classes (use --feature-set all, not {feature_set})')
    if basis is not None:
        raise ValueError('features of classes go with the linear kernel only')
