"""Scores of boxes: intersection over union with the gold ones."""

import numpy as np


class LocalisationScores:
    """Counts of a stream of predictions; pictures without a box are not counted. An object is found where the
    intersection over union is above one half, as in the PASCAL VOC challenges."""

    columns = ('dev_found', 'dev_overlap')

    def __init__(self):
        self.count = self.found = self.right = 0
        self.overlap = 0.0

    def compare(self, dataset, boxes):
        """Count the examples of a PictureDataset; boxes: int32 [n, 4]."""
        known = dataset.gold[:, 0] >= 0
        shared = overlaps(dataset.gold[known], boxes[known])
        self.count += len(shared)
        self.found += int((shared > 0.5).sum())
        self.right += int((shared == 1).sum())
        self.overlap += float(shared.sum())

    def row(self):
        """The scores by column."""
        return {'dev_found': self.found / max(1, self.count), 'dev_overlap': self.overlap / max(1, self.count)}

    def summary(self):
        """All figures, as fractions and counts, JSON-able."""
        pictures = max(1, self.count)
        return {
            'pictures': self.count,
            'overlap': self.overlap / pictures,
            'found': self.found / pictures,
            'accuracy': self.right / pictures,
        }

    def table(self):
        """The same for people."""
        pictures = max(1, self.count)
        return (
            f'mean intersection over union {100 * self.overlap / pictures:.2f} %; above one half in '
            f'{100 * self.found / pictures:.2f} % ({self.found} of {self.count} pictures), {self.right} boxes are right'
        )


def overlaps(a, b):
    """float64[n], intersection over union of the boxes int32 [n, 4] of two lists, pair by pair."""
    sides = np.minimum(a[:, 2:], b[:, 2:]) - np.maximum(a[:, :2], b[:, :2]) + 1
    shared = np.prod(np.maximum(sides, 0).astype(np.float64), axis=1)
    areas = [np.prod((box[:, 2:] - box[:, :2] + 1).astype(np.float64), axis=1) for box in (a, b)]
    return shared / (areas[0] + areas[1] - shared)
