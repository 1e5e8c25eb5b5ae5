"""The homolog of a sequence among candidates, and how the two are aligned."""

from cython_ext.structures.alignment.alignment import Alignment
from cython_ext.structures.alignment.layout import layout
from cython_ext.tasks.registry import LINEAR, TaskInfo


def build(dataset, gap_model='linear', align='local', free=False):
    """(Structure, FeatureMap) of a HomologDataset."""
    from cython_ext.features.parts.alignment import AlignmentFeatures

    places = layout(
        dataset.offsets,
        dataset.starts,
        dataset.letters,
        dataset.gold,
        dataset.gold_starts,
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
    refused={
        **dict.fromkeys(LINEAR, 'an alignment has no features of inputs: use the linear kernel'),
        'feature_set': 'every pair of letters has a weight in alignments: use --feature-set all',
    },
)
