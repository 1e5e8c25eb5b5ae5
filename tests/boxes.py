"""Tiny pictures as plain Python, (width, height, [(x, y, word)], right box), with all of their boxes."""

import itertools
from collections import Counter

import numpy as np

from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.boxes import PictureDataset
from data_formats.datasets.tokens import indptr_of
from tests.enumeration import Enumerated, Enumeration, Output, matrix


def all_boxes(width, height):
    """(left, top, right, bottom), every place from the first to the last one belongs to it."""
    columns, rows = (list(itertools.combinations_with_replacement(range(size), 2)) for size in (width, height))
    return [(left, top, right, bottom) for left, right in columns for top, bottom in rows]


def places(box):
    left, top, right, bottom = box
    return {(x, y) for x in range(left, right + 1) for y in range(top, bottom + 1)}


def overlap(a, b):
    """Intersection over union."""
    return len(places(a) & places(b)) / len(places(a) | places(b))


class BoxEnumeration(Enumeration):
    """All boxes of all pictures; the loss is 'overlap' (1 - intersection over union) or 'zero-one'."""

    def __init__(self, pictures, loss='overlap'):
        self.keys = sorted({('feature', word) for _, _, points, _ in pictures for _, _, word in points})
        self.column, self.loss = {key: k for k, key in enumerate(self.keys)}, loss
        self.examples = [self._all(*picture) for picture in pictures]

    def _all(self, width, height, points, right):
        outputs = []
        for box in all_boxes(width, height):
            inside = places(box)
            counts = Counter(('feature', word) for x, y, word in points if (x, y) in inside)
            outputs.append(Output(box, counts, counts))
        keys = sorted({('feature', word) for _, _, word in points})
        parts = matrix([output.parts for output in outputs], {key: k for k, key in enumerate(keys)})
        features = matrix([output.features for output in outputs], self.column)
        codes = [output.code for output in outputs]
        wrong = {'zero-one': lambda box: float(box != right), 'overlap': lambda box: 1 - overlap(box, right)}
        losses = np.array([wrong[self.loss](box) for box in codes])
        return Enumerated(codes, codes.index(right), keys, parts, features, losses)


def random_pictures(sizes, points=8, words=4, seed=0):
    """Pictures of the given (width, height), with random points and boxes; every word occurs in the first one."""
    rng, pictures = np.random.default_rng(seed), []
    for width, height in sizes:
        there = [(int(rng.integers(width)), int(rng.integers(height)), int(rng.integers(words))) for _ in range(points)]
        if not pictures:
            there += [(0, 0, word) for word in range(words)]
        boxes = all_boxes(width, height)
        pictures.append((width, height, there, boxes[int(rng.integers(len(boxes)))]))
    return pictures


def dataset_of(pictures):
    """The PictureDataset of some pictures; words are named by their numbers."""
    points = [point for _, _, some, _ in pictures for point in some]
    words = 1 + max((word for _, _, word in points), default=-1)
    table = np.array(points, np.int32).reshape(-1, 3)
    return PictureDataset(
        offsets=indptr_of([len(some) for _, _, some, _ in pictures]),
        points=table[:, :2],
        words=table[:, 2],
        sizes=np.array([picture[:2] for picture in pictures], np.int32).reshape(-1, 2),
        gold=np.array([picture[3] for picture in pictures], np.int32).reshape(-1, 4),
        attributes=Vocabulary(b'%d' % word for word in range(words)),
    )
