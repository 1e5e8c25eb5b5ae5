"""The structures under test, each beside all of its outputs. A further structure is one more row of CASES."""

import functools
from dataclasses import dataclass

import numpy as np

from cython_ext.structures.chain import Chain
from cython_ext.structures.chain2 import SecondOrderChain
from cython_ext.structures.multiclass import Multiclass
from cython_ext.structures.structure import Structure
from tests.enumeration import Enumerated, Enumeration
from tests.solvers import tiny


@dataclass
class Case:
    """Example `i` of `structure`, all its outputs, and where each part stands in theta."""

    structure: Structure
    i: int
    truth: Enumerated
    columns: np.ndarray
    closed_form_count: int

    def theta(self, scores, padding=np.nan):
        """theta with a score for each of truth.part_keys; what no part uses is padding, which nobody may read."""
        theta = np.full(self.structure.size(self.i), padding)
        theta[self.columns] = scores
        return theta

    def totals(self, scores):
        """The score of every output; a forbidden part that an output does not use does not count."""
        with np.errstate(invalid='ignore'):
            return np.where(self.truth.parts > 0, self.truth.parts * scores, 0).sum(axis=1)

    def rounding(self, scores):
        """How far sums of these scores may be off, with the order of summation left open."""
        largest = np.abs(scores[np.isfinite(scores)]).max(initial=1.0)
        return 1e-15 * largest * (self.truth.parts.sum(axis=1).max() + 1) ** 2

    def row(self, code):
        """The number of an output in the enumeration; KeyError when `code` is none."""
        return self._rows[tuple(int(y) for y in code)]

    @functools.cached_property
    def _rows(self):
        return {code: row for row, code in enumerate(self.truth.codes)}


def multiclass(n_labels):
    """The middle one of three examples."""
    data = tiny.arrays('multiclass', (1, 1, 1), n_labels)
    truth = Enumeration('multiclass', data, n_labels).examples[1]
    columns = np.array([y for _, _, y in truth.part_keys])
    return Case(Multiclass(data.labels, n_labels), 1, truth, columns, n_labels)


def chain(n_labels, length, tied, order=1):
    """The middle one of three sequences, between a longer and an empty one."""
    data = tiny.arrays('chain', (length + 1, length, 0), n_labels, edges=0 if tied else 1)
    only = tiny.arrays('chain', (length,), n_labels, edges=0 if tied else 1)
    only.order = order
    structure = (SecondOrderChain if order == 2 else Chain)(data.labels, data.offsets, n_labels, tied)
    only.labels[:] = data.labels[length + 1 :]
    (truth,) = Enumeration('chain', only, n_labels).examples
    columns = np.array([theta_column(key, length, n_labels, tied) for key in truth.part_keys], dtype=np.intp)
    return Case(structure, 1, truth, columns, n_labels**length)


def theta_column(key, length, n_labels, tied=True):
    """T rows of label scores, then one stride x stride block of steps (from, to), or one for each t = 1..T-1; then
    K x K rows of triplets (second, first, third)."""
    stride = -(-n_labels // 4) * 4
    kind, *where = key
    if kind == 'label':
        t, y = where
        return t * stride + y
    if kind == 'triple':
        first, second, third = where
        blocks = 1 if tied else max(length - 1, 0)
        return (length + blocks * stride + second * n_labels + first) * stride + third
    *position, p, y = where
    block = position[0] - 1 if position else 0
    return (length + block * stride + p) * stride + y


LENGTHS = {1: (1, 4), 2: (1, 2, 5, 12), 3: (1, 2, 3, 8), 5: (1, 2, 5), 9: (1, 2, 4)}
# of order 2: (labels, positions, tied); less than three positions have no triplets
SECOND_ORDER = [
    (1, 4, True),
    (2, 8, True),
    (3, 2, True),
    (3, 5, True),
    (5, 0, False),
    (9, 3, True),
    (2, 1, False),
    (3, 4, False),
]

CASES = {
    **{f'multiclass-K{k}': functools.partial(multiclass, k) for k in (1, 2, 3, 5, 9, 40)},
    **{
        f'chain-K{k}-T{length}-{"tied" if tied else "untied"}': functools.partial(chain, k, length, tied)
        for tied in (True, False)
        for k, lengths in LENGTHS.items()
        for length in (0, *lengths)
    },
    **{
        f'chain2-K{k}-T{length}-{"tied" if tied else "untied"}': functools.partial(chain, k, length, tied, 2)
        for k, length, tied in SECOND_ORDER
    },
}


@functools.cache
def case(name):
    """The case of that name; enumerated once for all tests."""
    return CASES[name]()
