"""The K best by partition, of structures that know better ways, against the list of all outputs."""

import itertools

import numpy as np
import pytest

from cython_ext.structures.partition import LabelChoices
from tests.oracles.cases import CASES, case
from tests.oracles.test_contract import SCORES, draw

LABELLED = [name for name in CASES if name.split('-')[0] in ('multiclass', 'chain', 'chain2')]


@pytest.mark.parametrize('kind', SCORES)
@pytest.mark.parametrize('name', LABELLED)
def test_it_is_the_sorted_list(name, kind):
    """Distinct outputs, best first, none that is forbidden; the first is the maximiser. The last k is above their
    number unless there are very many."""
    example = case(name)
    structure = example.structure
    choices = LabelChoices(structure, structure.n_labels, structure.stride)
    everything = min(len(example.truth.codes) + 3, 100)
    for seed, k in [*itertools.product(range(2), (1, 2, 3, 7)), (0, everything)]:
        _, theta, totals, rounding = draw(kind, example, seed)
        values, codes = choices.topk_of(structure, example.i, theta, k)
        allowed = int((totals > -np.inf).sum())
        assert len(values) == max(1, min(k, allowed))
        rows = [example.row(code) for code in codes]
        assert len(set(rows)) == len(rows)
        assert all(a >= b for a, b in itertools.pairwise(values))
        np.testing.assert_allclose(values, np.sort(totals)[::-1][: len(values)], rtol=0, atol=rounding)
        np.testing.assert_allclose(totals[rows], values, rtol=0, atol=rounding)
        value, code = structure.max_oracle(example.i, theta)
        assert values[0] == value and tuple(codes[0]) == tuple(code)


@pytest.mark.parametrize('name', LABELLED[::3])
def test_ties_are_broken_the_same_way(name):
    """A longer list begins with the shorter one, and the scores are only read."""
    example = case(name)
    choices = LabelChoices(example.structure, example.structure.n_labels, example.structure.stride)
    theta = example.theta(np.zeros(len(example.truth.part_keys)))
    theta.flags.writeable = False
    _, short = choices.topk_of(example.structure, example.i, theta, 4)
    _, long = choices.topk_of(example.structure, example.i, theta, 9)
    np.testing.assert_array_equal(short, long[: len(short)])
    np.testing.assert_array_equal(long, choices.topk_of(example.structure, example.i, theta, 9)[1])
