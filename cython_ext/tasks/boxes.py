"""A box in a picture of words at points."""

from cython_ext.structures.boxes.boxes import Boxes
from cython_ext.tasks.common import zero_one
from cython_ext.tasks.registry import TaskInfo


def build(dataset, feature_set='all', merge=False, basis=None, similarity=None):
    """(Structure, FeatureMap) of a PictureDataset."""
    from cython_ext.features.parts.boxes import WordFeatures

    if basis is not None or similarity is not None:
        raise ValueError('words of pictures have linear features: use the linear kernel')
    if feature_set != 'all':
        raise ValueError('every word of pictures has a weight: use --feature-set all')
    structure = Boxes(dataset.sizes, dataset.offsets, dataset.points, dataset.words, dataset.right)
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
)
