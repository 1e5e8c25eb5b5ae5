"""Made-up pictures in which an object is to be found: generate.py candidates|pictures NUMBER SEED > FILE

A picture is a grid of SIDE times SIDE visual words, numbers from 1 to WORDS. In a box of random place and size, at
least 4 by 4, there is the object, whose words come from a distribution of its own. `pictures` writes them as such, a
line for each point.

`candidates` writes boxes as SVMlight ranking lines: half of them near the object, with sides moved by up to 2, half of
them anywhere. Features are how many words of each kind a box holds, over SIDE; the loss is 1 - the area that a box
shares with the object over the area of both together. Boxes are (left, top, right, bottom), the last two included.
"""

import sys

import numpy as np

SIDE, WORDS, CANDIDATES = 16, 30, 24


def distributions(rng):
    """(chances of words of the background, of the object), float64[WORDS] each."""
    return rng.dirichlet(np.full(WORDS, 0.5), size=2)


def random_box(rng, least):
    """A box with sides from `least` to half of the picture's."""
    size = rng.integers(least, SIDE // 2 + 1, size=2)
    corner = rng.integers(SIDE - size + 1)
    return np.concatenate([corner, corner + size - 1])


def near(rng, box):
    """A box with all sides moved a little."""
    moved = np.clip(box + rng.integers(-2, 3, size=4), 0, SIDE - 1)
    return moved if (moved[2:] >= moved[:2]).all() else near(rng, box)


def inside(box):
    """The part of an array [y, x] that a box is."""
    left, top, right, bottom = box
    return np.s_[top : bottom + 1, left : right + 1]


def loss(box, other):
    """1 - intersection over union."""
    marks = np.zeros((SIDE, SIDE), int)
    marks[inside(box)] += 1
    marks[inside(other)] += 1
    return 1 - (marks == 2).sum() / (marks > 0).sum()


def pictures(count, rng):
    """Pairs (words [y, x], box); words have the same chances for every seed."""
    background, of_object = distributions(np.random.default_rng(0))
    for _ in range(count):
        picture, box = rng.choice(WORDS, size=(SIDE, SIDE), p=background), random_box(rng, 4)
        picture[inside(box)] = rng.choice(WORDS, size=picture[inside(box)].shape, p=of_object)
        yield picture + 1, box


def candidate_lines(count, rng):
    for number, (picture, there) in enumerate(pictures(count, rng), 1):
        for c in range(CANDIDATES):
            box = near(rng, there) if c % 2 else random_box(rng, 2)
            words = np.bincount(picture[inside(box)].ravel())
            pairs = ' '.join(f'{word}:{times / SIDE:g}' for word, times in enumerate(words) if times)
            yield f'{loss(box, there):.4f} qid:{number} {pairs} # {" ".join(map(str, box))}'


def picture_lines(count, rng):
    for picture, box in pictures(count, rng):
        yield f'picture {SIDE} {SIDE} {" ".join(map(str, box))}'
        yield from (f'{x} {y} {word}' for (y, x), word in np.ndenumerate(picture))


KINDS = {'candidates': candidate_lines, 'pictures': picture_lines}

if __name__ == '__main__':
    if len(sys.argv) != 4 or sys.argv[1] not in KINDS:
        sys.exit('usage: generate.py candidates|pictures NUMBER SEED > FILE')
    for line in KINDS[sys.argv[1]](int(sys.argv[2]), np.random.default_rng(int(sys.argv[3]))):
        print(line)
