"""Dependency trees beyond the contract: long sentences, against closed forms; trees of another kind; valid codes."""

import itertools
import math

import numpy as np
import pytest

from cython_ext.duals.sparse import SparsePoint
from cython_ext.structures.dependency.dependency import ProjectiveTrees, SpanningTrees
from cython_ext.structures.dependency.trees import projective, projective_sentences, roots, trees
from cython_ext.tasks.dependency import check_trees
from tests import sentences
from tests.optimum import log_sum_exp, softmax
from tests.solvers.treebanks import treebank_problem

KINDS = pytest.mark.parametrize('kind', [ProjectiveTrees, SpanningTrees])
ROOTS = pytest.mark.parametrize('single_root', [True, False])


def one_sentence(kind, length, single_root, relations=1):
    heads = np.arange(length, dtype=np.int32)  # a chain from the first word on
    return kind(heads, np.zeros(length, np.int32), np.array([0, length], np.int64), relations, single_root)


@KINDS
@ROOTS
@pytest.mark.parametrize('length', [10, 100])
def test_counts_of_long_sentences(kind, single_root, length):
    structure = one_sentence(kind, length, single_root)
    value, mean = structure.exp_oracle(0, np.zeros(structure.size(0)))
    trees = sentences.count(length, kind is ProjectiveTrees, single_root)
    assert value == pytest.approx(math.log(trees), rel=1e-13)
    roots = mean.reshape(length, length + 1)[:, 0].sum()
    assert roots == pytest.approx(1.0, abs=1e-12) if single_root else roots > 1


@KINDS
@ROOTS
@pytest.mark.parametrize('scale', [1.0, 1e2, 1e4])
def test_sums_of_long_sentences(kind, single_root, scale):
    """However far the scores are apart: every word has one head, and log Z lies between the maximum and that plus the
    logarithm of the number of trees; the maximiser is a tree with that score."""
    length, rng = 100, np.random.default_rng(3)
    structure = one_sentence(kind, length, single_root)
    for scores in (rng.uniform(-scale, scale, structure.size(0)), scale * rng.integers(-1, 2, structure.size(0))):
        theta = scores.astype(float)
        theta[rng.random(len(theta)) < 0.1] = -np.inf
        best, code = structure.max_oracle(0, theta)
        value, mean = structure.exp_oracle(0, theta)
        assert theta[structure.statistics(0, code) > 0].sum() == pytest.approx(best, rel=1e-13)
        trees = sentences.count(length, kind is ProjectiveTrees, single_root)
        assert best - 1e-9 * scale <= value <= best + math.log(trees) + 1e-9 * scale
        table = mean.reshape(length, length + 1)
        assert table.min() >= 0 and not table[:, 1:].diagonal().any()
        np.testing.assert_allclose(table.sum(axis=1), 1, rtol=0, atol=1e-8)
        assert (mean[theta == -np.inf] == 0).all()
        if single_root:
            assert table[:, 0].sum() == pytest.approx(1, abs=1e-8)
            assert list(code[:length]).count(0) == 1


@ROOTS
def test_all_trees_over_six_words(single_root):
    """Non-projective ones, too many for the contract suite."""
    structure = one_sentence(SpanningTrees, 6, single_root)
    heads = np.array(sentences.trees(6, False, single_root))
    rng = np.random.default_rng(5)
    for scores in (rng.normal(size=(6, 7)), rng.integers(-1, 2, (6, 7)) * 1e4, rng.uniform(-300, 300, (6, 7))):
        totals = scores[np.arange(6), heads].sum(axis=1)
        value, code = structure.max_oracle(0, scores.ravel().astype(float))
        assert value == pytest.approx(totals.max(), abs=1e-9)
        assert scores[np.arange(6), code[:6]].sum() == pytest.approx(totals.max(), abs=1e-9)
        value, mean = structure.exp_oracle(0, scores.ravel().astype(float))
        assert value == pytest.approx(log_sum_exp(totals), rel=1e-13)
        chances, wanted = softmax(totals), np.zeros((6, 7))
        for d in range(6):
            np.add.at(wanted[d], heads[:, d], chances)
        np.testing.assert_allclose(mean.reshape(6, 7), wanted, rtol=0, atol=1e-11)
        values, codes = structure.topk_oracle(0, scores.ravel().astype(float), 40)
        assert len({tuple(code) for code in codes.tolist()}) == 40
        np.testing.assert_allclose(values, np.sort(totals)[::-1][:40], rtol=0, atol=1e-9)


@KINDS
@ROOTS
def test_the_best_of_a_long_sentence_with_relations(kind, single_root):
    """Distinct, in order, valid, and the second one is what is best without some arc of the first."""
    length, relations = 12, 3
    structure = one_sentence(kind, length, single_root, relations)
    theta = np.random.default_rng(7).normal(size=structure.size(0))
    values, codes = structure.topk_oracle(0, theta, 30)
    assert len({tuple(code) for code in codes.tolist()}) == 30
    assert (np.diff(values) <= 0).all()
    for value, code in zip(values, codes, strict=True):
        used = structure.statistics(0, code) > 0
        assert theta[used].sum() == pytest.approx(value, abs=1e-12)
        heads = code[:length]
        assert trees(heads, [0, length])[0] and (not single_root or list(heads).count(0) == 1)
        assert kind is SpanningTrees or projective(heads)
    without = []
    for part in np.flatnonzero(structure.statistics(0, codes[0])):
        other = theta.copy()
        other[part] = -np.inf
        without.append(structure.max_oracle(0, other)[0])
    assert values[1] == pytest.approx(max(without), abs=1e-12)


def test_what_is_a_tree():
    for heads in itertools.product(range(5), repeat=4):
        offsets = np.array([0, 4])
        assert trees(heads, offsets)[0] == (heads in sentences.trees(4, False, False))
        assert projective(heads) == (heads in sentences.trees(4, True, False))
        assert roots(heads, offsets)[0] == heads.count(0)
    assert not trees([5, 0], [0, 2])[0] and not trees([-1, 0], [0, 2])[0]
    assert projective_sentences([0, 1, 3, 0], [0, 2, 2, 4]).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ('heads', 'single_root', 'said'),
    [
        ([2, 1, 0, 0], True, 'the heads of 1 sentences make no tree, the first of them number 1'),
        ([0, 1, 0, 0], True, '1 sentences have several roots, the first of them number 2 .use --multi-root'),
        ([0, 4, 1, 1], False, 'the trees of 1 sentences are not projective, the first of them number 1 .use --nonp'),
    ],
)
def test_right_trees_of_another_kind_are_refused(heads, single_root, said):
    offsets = np.array([0, 4]) if '1 sentences are' in said else np.array([0, 2, 4])
    with pytest.raises(ValueError, match=said):
        check_trees(np.array(heads, np.int32), offsets, False, single_root)


@KINDS
def test_codes_that_are_none_are_refused(kind):
    """A dual point of a file is believed after `valid` only."""
    problem = treebank_problem('spanning' if kind is SpanningTrees else 'projective', lengths=(4,))
    crossing = [3, 4, 0, 3]
    cases = [([2, 0, 2, 3], True), (crossing, kind is SpanningTrees)]
    cases += [([2, 1, 0, 3], False), ([0, 0, 2, 3], False), ([9, 0, 2, 3], False)]
    for heads, good in cases:
        point = SparsePoint([0, 1], [1.0], [0, 8], [*heads, 0, 0, 0, 0])
        if good:
            point.certify(problem)
        else:
            with pytest.raises(ValueError, match='not a distribution over its outputs'):
                point.certify(problem)
