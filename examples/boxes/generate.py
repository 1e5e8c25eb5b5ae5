"""Made-up pictures in which an object is to be found, as SVMlight ranking lines: generate.py PICTURES SEED > FILE

A picture is a grid of SIDE times SIDE visual words, numbers from 1 to WORDS. In a box of random place and size, at
least 4 by 4, there is the object, whose words come from a distribution of its own. The candidates are boxes: half of
them near the object, with sides moved by up to 2, half of them anywhere. Features are how many words of each kind a box
holds, over SIDE; the loss is 1 - the area that a box shares with the object over the area of both together.
"""

import sys

import numpy as np

SIDE, WORDS, CANDIDATES = 16, 30, 24


def distributions(rng):
    """(chances of words of the background, of the object), float64[WORDS] each."""
    return rng.dirichlet(np.full(WORDS, 0.5), size=2)


def random_box(rng, least):
    """(top, left, bottom, right), the last two not included."""
    height, width = rng.integers(least, SIDE // 2 + 1, size=2)
    top, left = rng.integers(SIDE - height + 1), rng.integers(SIDE - width + 1)
    return np.array([top, left, top + height, left + width])


def near(rng, box):
    """A box with all sides moved a little."""
    moved = np.clip(box + rng.integers(-2, 3, size=4), 0, SIDE)
    return moved if (moved[2:] > moved[:2]).all() else near(rng, box)


def area(box):
    return int(np.prod(np.maximum(box[2:] - box[:2], 0)))


def loss(box, other):
    """1 - intersection over union."""
    shared = area(np.concatenate([np.maximum(box[:2], other[:2]), np.minimum(box[2:], other[2:])]))
    return 1 - shared / (area(box) + area(other) - shared)


def lines(count, seed):
    """The lines of that many pictures; their words have the same chances for every seed."""
    background, of_object = distributions(np.random.default_rng(0))
    rng = np.random.default_rng(seed)
    for number in range(1, count + 1):
        picture = rng.choice(WORDS, size=(SIDE, SIDE), p=background)
        there = random_box(rng, 4)
        top, left, bottom, right = there
        picture[top:bottom, left:right] = rng.choice(WORDS, size=(bottom - top, right - left), p=of_object)
        for c in range(CANDIDATES):
            box = near(rng, there) if c % 2 else random_box(rng, 2)
            words = np.bincount(picture[box[0] : box[2], box[1] : box[3]].ravel(), minlength=WORDS)
            pairs = ' '.join(f'{word}:{times / SIDE:g}' for word, times in enumerate(words, 1) if times)
            yield f'{loss(box, there):.4f} qid:{number} {pairs} # {" ".join(map(str, box))}'


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit('usage: generate.py PICTURES SEED > FILE')
    for line in lines(int(sys.argv[1]), int(sys.argv[2])):
        print(line)
