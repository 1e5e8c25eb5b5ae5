"""Second-order chains beyond enumeration: long sequences against plain recursions, order among ties, log space."""

import itertools

import numpy as np
import pytest

from cython_ext.structures.labels.chain2 import SecondOrderChain
from tests.optimum import log_sum_exp
from tests.oracles.cases import chain

TIED = pytest.mark.parametrize('tied', [True, False])


def theta_of(structure, unary, pairs, triples):
    """unary [T, K]; pairs [K, K] (tied) or [T - 1, K, K]; triples [first, second, third]; NaN as padding."""
    k, stride = unary.shape[1], structure.stride
    rows, blocks = np.full((len(unary), stride), np.nan), np.full((*pairs.shape[:-2], stride, stride), np.nan)
    last = np.full((k, k, stride), np.nan)
    rows[:, :k], blocks[..., :k, :k], last[..., :k] = unary, pairs, triples.transpose(1, 0, 2)
    return np.concatenate((rows.ravel(), blocks.ravel(), last.ravel()))


def parts_of(structure, mean, length, tied):
    """The inverse: (labels [T, K], pairs [K, K] or [T - 1, K, K], triples [K, K, K]); the padding is 0."""
    k, stride = structure.n_labels, structure.stride
    rows, blocks, last = np.split(mean, [length * stride, len(mean) - k * k * stride])
    shapes = (length, stride), (stride, stride) if tied else (length - 1, stride, stride), (k, k, stride)
    rows, blocks, last = (part.reshape(shape) for part, shape in zip((rows, blocks, last), shapes, strict=True))
    assert (
        not rows[:, k:].any() and not blocks[..., k:].any() and not blocks[..., k:, :].any() and not last[..., k:].any()
    )
    return rows[:, :k], blocks[..., :k, :k], last[..., :k].transpose(1, 0, 2)


def lone(length, k, tied):
    """One sequence of that length."""
    return SecondOrderChain(np.zeros(length, np.int32), np.array([0, length], np.int64), k, tied)


def planes(unary, pairs, triples, total):
    """Forward: of every prefix, by its last two labels; `total` is the maximum or log-sum-exp over the first axis."""
    length, k = unary.shape
    steps = np.broadcast_to(pairs, (length - 1, k, k))
    found = [unary[0][:, None] + steps[0] + unary[1]]
    for t in range(2, length):
        found.append(total(found[-1][:, :, None] + triples) + steps[t - 1] + unary[t])
    return found


def log_sum(x):
    """Over the first axis."""
    top = x.max(axis=0)
    return top + np.log(np.exp(x - top).sum(axis=0))


def expectations(unary, pairs, triples):
    """(log-partition, probabilities of labels, of pairs [T - 1, K, K], of triplets summed over positions)."""
    length, k = unary.shape
    steps = np.broadcast_to(pairs, (length - 1, k, k))
    alpha, beta = planes(unary, pairs, triples, log_sum), [np.zeros((k, k))]
    log_z, counts = log_sum_exp(alpha[-1].ravel()), np.zeros((k, k, k))
    for t in range(length - 1, 1, -1):
        after = triples + (steps[t - 1] + unary[t] + beta[0])
        counts += np.exp(alpha[t - 2][:, :, None] + after - log_z)
        beta.insert(0, log_sum(after.transpose(2, 0, 1)))
    joint = np.exp(np.array(alpha) + np.array(beta) - log_z)
    return log_z, np.concatenate([joint[:1].sum(axis=2), joint.sum(axis=1)]), joint, counts


def score(code, unary, pairs, triples):
    length, k = unary.shape
    steps = np.broadcast_to(pairs, (length - 1, k, k))
    return (
        unary[range(length), code].sum()
        + steps[range(length - 1), code[:-1], code[1:]].sum()
        + triples[code[:-2], code[1:-1], code[2:]].sum()
    )


def random_scores(rng, length, k, tied, scale):
    shapes = (length, k), (k, k) if tied else (length - 1, k, k), (k, k, k)
    return [rng.normal(size=shape) * scale for shape in shapes]


def check_sums(structure, tied, scores, atol):
    log_partition, mean = structure.exp_oracle(0, theta_of(structure, *scores))
    log_z, labels, pairs, triples = expectations(*scores)
    assert log_partition == pytest.approx(log_z, rel=1e-12, abs=1e-9)
    found = parts_of(structure, mean, len(scores[0]), tied)
    for one, wanted in zip(found, (labels, pairs.sum(axis=0) if tied else pairs, triples), strict=True):
        np.testing.assert_allclose(one, wanted, rtol=0, atol=atol)


@TIED
@pytest.mark.parametrize(('k', 'scale'), [(1, 3), (4, 100), (5, 0.1), (22, 3), (22, 100), (33, 1)])
def test_long_sequences_against_plain_recursions(tied, k, scale):
    length = 40
    scores = random_scores(np.random.default_rng(k), length, k, tied, scale)
    structure = lone(length, k, tied)
    theta = theta_of(structure, *scores)
    best = planes(*scores, lambda x: x.max(axis=0))[-1].max()
    value, code = structure.max_oracle(0, theta)
    assert value == pytest.approx(best, rel=1e-12)
    assert score(code, *scores) == pytest.approx(best, rel=1e-12)
    check_sums(structure, tied, scores, 1e-11 * max(1, scale))
    values, codes = structure.topk_oracle(0, theta, 12)
    assert len({code.tobytes() for code in codes}) == len(codes) == (12 if k > 1 else 1)
    np.testing.assert_array_equal(codes[0], code)
    np.testing.assert_allclose(values, [score(code, *scores) for code in codes], rtol=1e-12)
    assert all(a >= b for a, b in itertools.pairwise(values))


def test_ties_go_to_the_first_labels_from_the_end():
    example = chain(2, 6, True, 2)
    for seed in range(30):
        scores = np.random.default_rng(seed).integers(0, 2, size=len(example.truth.part_keys)).astype(float)
        totals = example.totals(scores)
        best = [code for code, total in zip(example.truth.codes, totals, strict=True) if total == totals.max()]
        _, code = example.structure.max_oracle(example.i, example.theta(scores))
        assert tuple(code) == min(best, key=lambda code: code[::-1])


@TIED
def test_scores_around_the_range_of_exp(tied):
    """Labels, pairs and triplets near the smallest exponents of a double, and chains that barely mix."""
    rng = np.random.default_rng(11)
    for _ in range(200):
        length, k = int(rng.integers(3, 7)), int(rng.integers(2, 5))
        unary, pairs, triples = random_scores(rng, length, k, tied, 0)
        unary += rng.uniform(-500, 0, size=unary.shape) * (rng.random(unary.shape) < 0.7)
        pairs += rng.uniform(-700, 0, size=pairs.shape) * (rng.random(pairs.shape) < 0.5)
        triples += rng.uniform(-900, -200, size=triples.shape)
        triples[range(k), range(k), range(k)] = 0
        check_sums(lone(length, k, tied), tied, (unary, pairs, triples), 1e-9)


@TIED
def test_a_path_that_is_lost_on_the_way_and_ties_in_the_end(tied):
    """Label 2 starts near exp(-708), the end of what a double holds beside the 1 of label 0; then label 0 falls away
    and label 1 falls behind step by step, each time by less than what one scale of the forward pass may lose."""
    away = np.full((3, 3, 3), -2000.0)
    away[range(3), range(3), range(3)] = 0
    pairs = np.zeros((3, 3) if tied else (3, 3, 3))
    structure = lone(4, 3, tied)
    for start in np.arange(-690, -770, -0.5):
        unary = np.array([[0, -200, start], [0, 0, 0], [-2000, -250, 0], [-2000, start + 450, 0]])
        log_partition, mean = structure.exp_oracle(0, theta_of(structure, unary, pairs, away))
        assert log_partition == pytest.approx(start + np.log(2), rel=1e-12)
        np.testing.assert_allclose(parts_of(structure, mean, 4, tied)[0], [[0, 0.5, 0.5]] * 4, rtol=0, atol=1e-9)


def test_labels_that_have_too_many_triplets():
    with pytest.raises(ValueError, match='1300 labels have too many triplets'):
        lone(3, 1300, True)
