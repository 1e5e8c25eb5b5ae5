"""A box in a picture of words at points."""

from cython_ext.structures.boxes.boxes import Boxes
from cython_ext.tasks.common import zero_one
from cython_ext.tasks.registry import LINEAR, TaskInfo


def build(dataset):
    """(Structure, FeatureMap) of a PictureDataset."""
    from cython_ext.features.parts.boxes import WordFeatures

    structure = Boxes(dataset.sizes, dataset.offsets, dataset.points, dataset.words, dataset.gold)
    return structure, WordFeatures(structure, len(dataset.attributes))


def overlap():
    """1 - intersection over union of boxes"""
    from cython_ext.losses.boxes import Overlap

    return Overlap


INFO = TaskInfo(
    name='boxes',
    summary='a box in a picture of words at points',
    build=build,
    losses={'overlap': overlap, 'zero-one': zero_one},
    default_loss='overlap',
    refused={
        **dict.fromkeys(LINEAR, 'words of pictures have linear features: use the linear kernel'),
        'feature_set': 'every word of pictures has a weight: use --feature-set all',
    },
)
