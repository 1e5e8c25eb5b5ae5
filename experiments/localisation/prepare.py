"""Candidate boxes for the one white blood cell of each picture of BCCD, with simple features of their colours.

A candidate's target is 1 - intersection over union with the box that was marked by hand. Its features are the shares
of its pixels in each of COLOURS^3 parts of the colour cube, and those of the frame around it, which tell a cell from a
part of one.
"""

import argparse
import itertools
import os
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np

NAME = 'localization_bccd'
PARTS = ('train', 'val', 'test')
CELL = 'WBC'
SHRINK = 4  # pictures of 640 x 480 become 160 x 120
COLOURS = 3  # levels of red, of green and of blue
SIDES = (26, 36, 46, 58)  # of candidates, in pixels of the small picture
STEP = 0.25  # of a side, between candidates
FRAME = 0.25  # of a side, on each side


def folder():
    return Path(os.environ.get('SSVM_DATA') or Path(__file__).resolve().parents[2] / 'shared' / 'data') / NAME


def marked(path):
    """The (x, y, right, bottom) of the white blood cell, in pixels of the small picture; None where there is not just
    one."""
    boxes = [
        [float(item.find(f'bndbox/{side}').text) / SHRINK for side in ('xmin', 'ymin', 'xmax', 'ymax')]
        for item in ElementTree.parse(path).iter('object')
        if item.find('name').text == CELL
    ]
    return boxes[0] if len(boxes) == 1 else None


def candidates(width, height):
    """All candidate boxes, int [n, 4]: every pair of SIDES on a grid that is as fine as they are small."""
    boxes = []
    for w, h in itertools.product(SIDES, SIDES):
        xs = np.arange(0, width - w + 1, max(1, int(STEP * w)))
        ys = np.arange(0, height - h + 1, max(1, int(STEP * h)))
        boxes += [(x, y, x + w, y + h) for y in ys.tolist() for x in xs.tolist()]
    return np.array(boxes)


def overlaps(boxes, box):
    """Intersection over union with one box, float [n]."""
    width = np.minimum(boxes[:, 2], box[2]) - np.maximum(boxes[:, 0], box[0])
    height = np.minimum(boxes[:, 3], box[3]) - np.maximum(boxes[:, 1], box[1])
    both = np.maximum(width, 0) * np.maximum(height, 0)
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return both / (areas + (box[2] - box[0]) * (box[3] - box[1]) - both)


def integral(pixels):
    """How many pixels have each colour in every box from the corner, float [height + 1, width + 1, colours]."""
    cells = np.minimum(pixels.astype(int) * COLOURS // 256, COLOURS - 1)
    colour = (cells[..., 0] * COLOURS + cells[..., 1]) * COLOURS + cells[..., 2]
    sums = np.zeros((*np.add(colour.shape, 1), COLOURS**3))
    sums[1:, 1:] = np.eye(COLOURS**3)[colour].cumsum(axis=0).cumsum(axis=1)
    return sums


def counts(sums, boxes):
    """How many pixels of each colour boxes have, float [n, colours]."""
    x, y, right, bottom = boxes.T
    return sums[bottom, right] - sums[y, right] - sums[bottom, x] + sums[y, x]


def features(sums, boxes):
    """Shares of the colours inside, and in the frame around as far as it is in the picture, float [n, 2 colours]."""
    inside = counts(sums, boxes)
    border = np.ceil(FRAME * (boxes[:, 2:] - boxes[:, :2])).astype(int)
    size = np.array(sums.shape[1::-1]) - 1
    outer = np.hstack([np.maximum(boxes[:, :2] - border, 0), np.minimum(boxes[:, 2:] + border, size)])
    around = counts(sums, outer) - inside
    return np.hstack([inside / inside.sum(axis=1)[:, None], around / np.maximum(around.sum(axis=1), 1)[:, None]])


def lines(number, losses, rows):
    """A group of an SVMlight ranking file."""
    for loss, row in zip(losses, rows, strict=True):
        pairs = ' '.join(f'{k + 1}:{row[k]:.4g}' for k in np.flatnonzero(row >= 5e-4))
        yield f'{loss:.4f} qid:{number} {pairs}\n'


def write(part, source, image, out):
    """The pictures of a part with one white blood cell; (how many, the mean of the best overlaps of candidates)."""
    best = []
    with (out / f'{part}.rank').open('w') as stream:
        for name in (source / 'ImageSets' / 'Main' / f'{part}.txt').read_text().split():
            box = marked(source / 'Annotations' / f'{name}.xml')
            if box is None:
                continue
            with image.open(source / 'JPEGImages' / f'{name}.jpg') as picture:
                small = picture.convert('RGB').reduce(SHRINK)
            boxes = candidates(*small.size)
            overlap = overlaps(boxes, box)
            best.append(overlap.max())
            stream.writelines(lines(len(best), 1 - overlap, features(integral(np.asarray(small)), boxes)))
    return len(best), float(np.mean(best))


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('out', type=Path)
    o = parser.parse_args(arguments)
    source = folder() / 'BCCD'
    if not source.exists():
        print(f'skipped: data set {NAME} is not there: {source} (SSVM_DATA says where the sets are)')
        return
    try:
        from PIL import Image
    except ImportError:
        sys.exit('prepare.py: the pictures are JPEG files, which pillow reads: pip install pillow')
    o.out.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        pictures, best = write(part, source, Image, o.out)
        print(f'{part}: {pictures} pictures, best candidate: overlap {best:.3f} on average', flush=True)


if __name__ == '__main__':
    main(sys.argv[1:])
