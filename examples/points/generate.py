"""Synthetic pairs of pictures with points to match, as links: generate.py PAIRS SEED > FILE

The first picture has 6 to 9 points, each with a descriptor of four numbers. The second one is the first moved and
turned a little, seen with noise in places and descriptors; a point in ten is lost, and one or two are new. Every pair
of points may be linked; its attributes are the distance of the two places and the differences of the descriptors.
"""

import sys

import numpy as np

DESCRIPTOR, LOST = 4, 0.1


def picture_pair(rng):
    """(places, descriptors) of either picture, and for each point of the second its number in the first, if it is one
    that the first has."""
    count = int(rng.integers(6, 10))
    places, descriptors = rng.random((count, 2)), rng.normal(size=(count, DESCRIPTOR))
    angle = rng.normal(scale=0.2)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    new = int(rng.integers(1, 3))
    kept = np.append(np.flatnonzero(rng.random(count) >= LOST), range(count, count + new))
    seen = (places - 0.5) @ turn + 0.5 + rng.normal(scale=0.1, size=2) + rng.normal(scale=0.05, size=(count, 2))
    other = np.vstack([seen, rng.random((new, 2))])
    changed = descriptors + rng.normal(scale=0.7, size=descriptors.shape)
    features = np.vstack([changed, rng.normal(size=(new, DESCRIPTOR))])
    order = rng.permutation(kept)
    return (places, descriptors), (other[order], features[order]), order


def examples(count, seed):
    """The lines of that many pairs."""
    rng = np.random.default_rng(seed)
    for number in range(1, count + 1):
        (places, descriptors), (other, features), origin = picture_pair(rng)
        for r in range(len(places)):
            for c in range(len(other)):
                apart = np.abs(descriptors[r] - features[c])
                attributes = [f'd{k}:{value:.2f}' for k, value in enumerate(apart)]
                far = np.hypot(*(places[r] - other[c]))
                yield f'{int(origin[c] == r)} qid:{number} {r}-{c} far:{far:.2f} {" ".join(attributes)}'


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit('usage: generate.py PAIRS SEED > FILE')
    for line in examples(int(sys.argv[1]), int(sys.argv[2])):
        print(line)
