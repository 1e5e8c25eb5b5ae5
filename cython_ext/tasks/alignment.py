"""The homolog of a sequence among candidates, and how the two are aligned."""

from cython_ext.structures.alignment.alignment import Alignment
from cython_ext.structures.alignment.layout import layout
from cython_ext.tasks.registry import TaskInfo


def build(
    dataset, feature_set='all', gap_model='linear', align='local', free=False, merge=False, basis=None, similarity=None
):
    """(Structure, FeatureMap) of a HomologDataset."""
    from cython_ext.features.parts.alignment import AlignmentFeatures

    if basis is not None or similarity is not None:
        raise ValueError('an alignment has no features of inputs: use the linear kernel')
    if feature_set != 'all':
        raise ValueError('every pair of letters has a weight in alignments: use --feature-set all')
    places = layout(
        dataset.offsets,
        dataset.starts,
        dataset.letters,
        dataset.right,
        dataset.right_starts,
        dataset.steps,
        dataset.step_indptr,
    )
    structure = Alignment(places, dataset.n_letters, gap_model == 'affine', align == 'local', free)
    return structure, AlignmentFeatures(structure, len(dataset.label_names))


def zero_one():
    from cython_ext.losses.alignment import CandidateLoss

    return CandidateLoss


INFO = TaskInfo(
    name='alignment',
    summary='the homolog of a sequence among candidates, and how the two are aligned',
    build=build,
    losses={'zero-one': zero_one},
    default_loss='zero-one',
)
