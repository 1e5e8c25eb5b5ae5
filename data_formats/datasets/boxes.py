"""The in-memory form of pictures that are bags of words: words at points, and the box to be found."""

from dataclasses import dataclass, replace

import numpy as np

from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.base import Dataset
from data_formats.datasets.tokens import indptr_of, ranges_of


@dataclass
class PictureDataset(Dataset):
    """n pictures with N points in all."""

    offsets: np.ndarray  # int64 [n + 1]; the points of picture i are offsets[i]:offsets[i + 1]
    points: np.ndarray  # int32 [N, 2], x and y, from 0
    words: np.ndarray  # int32 [N], ids in attributes; -1: one that the vocabulary does not know
    sizes: np.ndarray  # int32 [n, 2], width and height
    gold: np.ndarray  # int32 [n, 4], left, top, right and bottom of the gold box, all inside; -1: none given
    attributes: Vocabulary

    @property
    def tokens(self):
        """Number of points N."""
        return len(self.words)

    @property
    def complete(self):
        """Whether every picture has a gold box."""
        return bool((self.gold[:, 0] >= 0).all())

    @property
    def label_names(self):
        """There are no labels."""
        return Vocabulary()

    def subset(self, examples):
        """The given pictures (ints, in the given order) as a dataset over the same words."""
        examples = np.asarray(examples, dtype=np.int64)
        counts = self.offsets[examples + 1] - self.offsets[examples]
        rows = ranges_of(self.offsets[examples], counts)
        arrays = {'points': self.points[rows], 'words': self.words[rows]}
        return replace(self, offsets=indptr_of(counts), sizes=self.sizes[examples], gold=self.gold[examples], **arrays)

    def without_inputs(self):
        """The same boxes and names, and no points."""
        return replace(self, points=np.zeros((0, 2), np.int32), words=np.zeros(0, np.int32))

    @classmethod
    def concatenate(cls, blocks):
        """One dataset of the pictures of several that share their words."""
        blocks = list(blocks)
        names = ('points', 'words', 'sizes', 'gold')
        arrays = {name: np.concatenate([getattr(block, name) for block in blocks]) for name in names}
        offsets = indptr_of(np.concatenate([np.diff(block.offsets) for block in blocks]))
        return replace(blocks[0], offsets=offsets, **arrays)
