"""Feature maps of token data (multiclass and chains) by the name of their feature set."""

from cython_ext.features.sparse import SparseFeatures, SparseRows


def token_features(dataset, n_labels, stride, chain, feature_set='all'):
    """The FeatureMap of a TokenDataset. feature_set: 'all' attribute-label pairs."""
    tokens = SparseRows(dataset.indptr, dataset.indices, dataset.values, len(dataset.attributes))
    edges = None
    if chain and dataset.edge_indptr is not None:
        edges = SparseRows(
            dataset.edge_indptr, dataset.edge_indices, dataset.edge_values, len(dataset.edge_attributes)
        )
    return SparseFeatures(tokens, dataset.offsets, n_labels, stride, chain, chain and dataset.transitions, edges)
