"""Boxes: the search against all boxes of pictures of many shapes, and what it does with words that are not known."""

import itertools

import numpy as np
import pytest

from cython_ext.features.calls import scores_of
from cython_ext.features.capabilities import Radius
from cython_ext.losses.boxes import Overlap
from cython_ext.tasks.boxes import build
from cython_ext.tasks.build import build_problem
from ssvm_cli.scores.boxes import overlaps
from tests.boxes import BoxEnumeration, all_boxes, dataset_of, overlap, random_pictures

SIZES = [(1, 1), (7, 1), (1, 6), (3, 4), (9, 5), (6, 8)]
KINDS = {
    'normal': lambda rng, m: rng.normal(size=m),
    'all above 0': lambda rng, m: rng.random(m),
    'all below 0': lambda rng, m: -rng.random(m),
    'small': lambda rng, m: 1e-3 * rng.normal(size=m),
    'ties': lambda rng, m: rng.integers(-1, 2, size=m).astype(float),
}


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('size', SIZES, ids=lambda size: f'{size[0]}x{size[1]}')
def test_the_best_boxes_with_and_without_loss(size, kind):
    """Losses and scores of the same size, so that they compete; all values of K at once."""
    rng = np.random.default_rng(0)
    for seed, points in itertools.product(range(4), (0, 3, 20)):
        pictures = random_pictures([(1, 1), size], points=points, seed=seed)
        structure, _ = build(dataset_of(pictures))
        example, loss = BoxEnumeration(pictures).examples[1], Overlap(structure)
        theta = KINDS[kind](rng, structure.size(1))
        scores = example.parts @ theta
        value, code, delta = loss.max_of(1, theta)
        row = example.codes.index(tuple(code.tolist()))
        assert value == pytest.approx((scores + example.losses).max(), rel=0, abs=1e-13)
        assert (scores + example.losses)[row] == pytest.approx(value, rel=0, abs=1e-13)
        assert delta == pytest.approx(example.losses[row], rel=0, abs=1e-15)
        for k in (1, 2, 5, len(scores)):
            values, codes = structure.topk_oracle(1, theta, k)
            assert len({tuple(code.tolist()) for code in codes}) == min(k, len(scores))
            np.testing.assert_allclose(values, np.sort(scores)[::-1][:k], rtol=0, atol=1e-13)
            rows = [example.codes.index(tuple(code.tolist())) for code in codes]
            np.testing.assert_allclose(scores[rows], values, rtol=0, atol=1e-13)


def test_a_picture_that_is_too_large_to_list_its_boxes():
    """60 x 40 places, 1.5 million boxes: the sums of all of them come from a table."""
    rng, width, height = np.random.default_rng(3), 60, 40
    points = [(int(rng.integers(width)), int(rng.integers(height)), int(rng.integers(20))) for _ in range(500)]
    structure, _ = build(dataset_of([(width, height, points, (10, 10, 30, 25))]))
    theta = rng.normal(size=20) - 0.2
    table = np.zeros((height + 1, width + 1))
    for x, y, word in points:
        table[y + 1, x + 1] += theta[word]
    table = table.cumsum(axis=0).cumsum(axis=1)
    best = best_augmented = -np.inf
    for top, bottom in itertools.combinations_with_replacement(range(height), 2):
        sums = table[bottom + 1] - table[top]
        rows = np.maximum(min(bottom, 25) - max(top, 10) + 1, 0)
        left, right = np.triu_indices(width)
        values = sums[right + 1] - sums[left]
        shared = np.maximum(np.minimum(right, 30) - np.maximum(left, 10) + 1, 0) * rows
        union = (right - left + 1) * (bottom - top + 1) + 21 * 16 - shared
        best = max(best, values.max())
        best_augmented = max(best_augmented, (values + 1 - shared / union).max())
    assert structure.max_oracle(0, theta)[0] == pytest.approx(best, rel=1e-12)
    assert Overlap(structure).max_of(0, theta)[0] == pytest.approx(best_augmented, rel=1e-12)


@pytest.mark.parametrize('size', [(2, 1), (1, 3), (4, 3), (5, 5)], ids=str)
def test_where_every_place_is_forbidden_some_box_is_named(size):
    width, height = size
    points = [(x, y, (x + y) % 2) for x in range(width) for y in range(height)]
    structure, _ = build(dataset_of([(width, height, points, (0, 0, 0, 0))]))
    theta = np.full(2, -np.inf)
    for value, code in (structure.max_oracle(0, theta), Overlap(structure).max_of(0, theta)[:2]):
        assert value == -np.inf and tuple(code.tolist()) in all_boxes(width, height)
    values, codes = structure.topk_oracle(0, theta, 3)
    assert values.tolist() == [-np.inf] and tuple(codes[0].tolist()) in all_boxes(width, height)
    partition, mean = structure.exp_oracle(0, theta)
    assert partition == -np.inf and mean.tolist() == [0, 0]


def test_words_that_are_not_known_do_not_count():
    pictures = random_pictures([(4, 4)], points=9, words=3, seed=1)
    data = dataset_of(pictures)
    data.words = np.where(data.words == 1, -1, data.words).astype(np.int32)
    structure, features = build(data)
    w = np.array([0.5, 9.0, -1.0])
    fewer, _ = build(dataset_of([(4, 4, [point for point in pictures[0][2] if point[2] != 1], pictures[0][3])]))
    value, code = structure.max_oracle(0, scores_of(features, 0, w))
    wanted, same = fewer.max_oracle(0, np.array([0.5, -1.0]))
    assert value == wanted and code.tolist() == same.tolist()


def test_intersection_over_union():
    boxes = all_boxes(4, 3)
    pairs = list(itertools.product(boxes[::3], boxes))
    found = overlaps(*(np.array(side, np.int32) for side in zip(*pairs, strict=True)))
    assert found.tolist() == pytest.approx([overlap(a, b) for a, b in pairs], abs=1e-15)


def test_the_spread_is_no_smaller_than_any_distance():
    pictures = random_pictures([(3, 3), (4, 2), (1, 5)], seed=4)
    problem = build_problem(dataset_of(pictures), 'boxes')
    for i, example in enumerate(BoxEnumeration(pictures).examples):
        counts = problem.structure.statistics(i, problem.structure.gold_code(i))
        ids = np.flatnonzero(counts).astype(np.int32)
        found = problem.features.helper(Radius).radius2(i, ids, counts[ids], 1.0)
        assert found >= (example.differences**2).sum(axis=1).max()


@pytest.mark.parametrize(
    ('how', 'message'),
    [
        ({'feature_set': 'observed'}, 'use --feature-set all'),
        ({'loss': 'hamming'}, 'boxes has no task loss hamming'),
        ({'similarity': np.eye(2)}, 'linear kernel'),
    ],
)
def test_what_does_not_fit_is_refused(how, message):
    with pytest.raises(ValueError, match=message):
        build_problem(dataset_of(random_pictures([(2, 2)])), 'boxes', **how)
