"""The structures under test, each beside all of its outputs. A further structure is one more row of CASES."""

import functools
from dataclasses import dataclass

import numpy as np

from cython_ext.structures.cfg import Cfg
from cython_ext.structures.chain import Chain
from cython_ext.structures.grammar import Grammar
from cython_ext.structures.multiclass import Multiclass
from cython_ext.structures.structure import Structure
from tests import trees
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


def chain(n_labels, length, tied):
    """The middle one of three sequences, between a longer and an empty one."""
    data = tiny.arrays('chain', (length + 1, length, 0), n_labels, edges=0 if tied else 1)
    only = tiny.arrays('chain', (length,), n_labels, edges=0 if tied else 1)
    structure = Chain(data.labels, data.offsets, n_labels, tied)
    only.labels[:] = data.labels[length + 1 :]
    (truth,) = Enumeration('chain', only, n_labels).examples
    columns = np.array([theta_column(key, length, structure.stride) for key in truth.part_keys], dtype=np.intp)
    return Case(structure, 1, truth, columns, n_labels**length)


def theta_column(key, length, stride):
    """T rows of label scores, then one stride x stride block of steps (from, to), or one for each t = 1..T-1."""
    kind, *where = key
    if kind == 'label':
        t, y = where
        return t * stride + y
    *position, p, y = where
    block = position[0] - 1 if position else 0
    return (length + block * stride + p) * stride + y


def cfg(name, terminals, i, count, kept=True):
    """Sentence i of some trees, of which there are `count`; kept: whether its parses are found once for all."""
    right = trees.named(name)
    data = trees.dataset_of(right)
    grammar = Grammar.of(data, terminals)
    structure = Cfg(grammar, data, grammar.codes(data), *([] if kept else [0]))
    truth = trees.TreeEnumeration(right, terminals).examples[i]
    return Case(structure, i, truth, np.arange(len(truth.part_keys)), count)


LENGTHS = {1: (1, 4), 2: (1, 2, 5, 12), 3: (1, 2, 3, 8), 5: (1, 2, 5), 9: (1, 2, 4)}

CASES = {
    **{f'multiclass-K{k}': functools.partial(multiclass, k) for k in (1, 2, 3, 5, 9, 40)},
    **{
        f'chain-K{k}-T{length}-{"tied" if tied else "untied"}': functools.partial(chain, k, length, tied)
        for tied in (True, False)
        for k, lengths in LENGTHS.items()
        for length in (0, *lengths)
    },
    # binary trees over n words, of which there are as many as Catalan's numbers say
    'cfg-halves-5': functools.partial(cfg, 'halves', 'word', 0, 14),
    'cfg-halves-3': functools.partial(cfg, 'halves', 'word', 1, 2),
    'cfg-normal-form': functools.partial(cfg, 'normal form', 'word', 2, 274),
    'cfg-chains': functools.partial(cfg, 'chains', 'word', 1, 26),
    'cfg-chains-tags': functools.partial(cfg, 'chains', 'pos', 1, 10),
    'cfg-chains-anew': functools.partial(cfg, 'chains', 'word', 0, 20, kept=False),
    'cfg-long-rules-tags': functools.partial(cfg, 'long rules', 'pos', 0, 14),
}


@functools.cache
def case(name):
    """The case of that name; enumerated once for all tests."""
    return CASES[name]()
