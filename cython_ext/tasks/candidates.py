"""One of the candidates that each example lists."""

from cython_ext.structures.candidates import Candidates
from cython_ext.tasks.registry import LINEAR, TaskInfo


def build(dataset):
    """(Structure, FeatureMap) of a CandidateDataset."""
    from cython_ext.features.parts.candidates import CandidateFeatures
    from cython_ext.features.tokens.sparse_rows import SparseRows

    rows = SparseRows(dataset.indptr, dataset.indices, dataset.values, len(dataset.attributes))
    structure = Candidates(dataset.offsets, dataset.costs)
    return structure, CandidateFeatures(rows, structure.offsets, structure.padding())


def given():
    """what the data say that a candidate loses"""
    from cython_ext.losses.candidates import GivenCosts

    return GivenCosts


def wrong_candidates():
    from cython_ext.losses.candidates import WrongCandidates

    return WrongCandidates


INFO = TaskInfo(
    name='candidates',
    summary='one of the candidates that each example lists',
    build=build,
    losses={'given': given, 'zero-one': wrong_candidates},
    default_loss='given',
    refused={
        **dict.fromkeys(LINEAR, 'candidates have linear features: use the linear kernel'),
        'feature_set': 'every feature of candidates has a weight: use --feature-set all',
    },
)
