"""Synthetic alignment data of Tsochantaridis et al. (2005), section 5.3, as FASTA: generate.py NATIVES SEED > FILE

Letters are 1 to 20, written A to T; letter c has the probability c / 210. Natives and decoys are 50 random letters. A
homolog comes from a random stretch of its native by 30 random steps: match (0.2), substitute c by c mod 20 + 1 (0.4),
insert a random letter (0.2), delete (0.2); random letters around it fill it up to 50.
"""

import sys

import numpy as np

LENGTH, STEPS, DECOYS = 50, 30, 10
ALPHABET = 'ABCDEFGHIJKLMNOPQRST'
OPS, CHANCES = 'MSID', (0.2, 0.4, 0.2, 0.2)


def random_letters(rng, count):
    """Numbers from 0 to 19."""
    chances = np.arange(1, 21) / 210
    return rng.choice(20, size=count, p=chances)


def homolog(rng, native):
    """(letters, start in the native, start in it, steps) of a homolog."""
    steps = rng.choice(list(OPS), size=STEPS, p=CHANCES)
    start = i = int(rng.integers(LENGTH - int((steps != 'I').sum()) + 1))
    inside = []
    for step in steps:
        if step == 'I':
            inside += list(random_letters(rng, 1))
            continue
        if step != 'D':
            inside.append(native[i] if step == 'M' else (native[i] + 1) % 20)
        i += 1
    before = int(rng.integers(LENGTH - len(inside) + 1))
    around = random_letters(rng, LENGTH - len(inside))
    return [*around[:before], *inside, *around[before:]], start, before, ''.join(steps)


def examples(count, seed):
    """The lines of that many examples."""
    rng = np.random.default_rng(seed)
    for number in range(1, count + 1):
        native = random_letters(rng, LENGTH)
        letters, start, other, steps = homolog(rng, native)
        yield from (f'>native {number}', spelled(native))
        yield from (f'>homolog {number} {start}:{other}:{steps}', spelled(letters))
        for _ in range(DECOYS):
            yield from (f'>decoy {number}', spelled(random_letters(rng, LENGTH)))


def spelled(letters):
    return ''.join(ALPHABET[c] for c in letters)


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit('usage: generate.py NATIVES SEED > FILE')
    for line in examples(int(sys.argv[1]), int(sys.argv[2])):
        print(line)
