"""Chains beyond enumeration: long sequences against plain recursions, order among ties, fall-back to log space."""

import itertools

import numpy as np
import pytest

from cython_ext.structures.labels.chain import Chain
from tests.optimum import log_sum_exp
from tests.oracles.cases import chain

TIED = pytest.mark.parametrize('tied', [True, False])


def theta_of(structure, unary, transitions):
    """unary [T, K]; transitions [K, K] (tied) or [T - 1, K, K]; NaN as padding."""
    (length, k), stride = unary.shape, structure.stride
    rows = np.full((length, stride), np.nan)
    rows[:, :k] = unary
    blocks = np.full((*transitions.shape[:-2], stride, stride), np.nan)
    blocks[..., :k, :k] = transitions
    return np.concatenate((rows.ravel(), blocks.ravel()))


def lone(length, k, tied):
    """One sequence of that length."""
    return Chain(np.zeros(length, np.int32), np.array([0, length], np.int64), k, tied)


def forward(unary, transitions, total):
    """The recursion over positions with `total` = max or log-sum-exp of a vector, in plain Python."""
    length, k = unary.shape
    steps = np.broadcast_to(transitions, (length - 1, k, k))
    alpha = unary[0]
    for t in range(1, length):
        alpha = np.array([total(alpha + steps[t - 1, :, y]) for y in range(k)]) + unary[t]
    return total(alpha)


def marginals(unary, transitions):
    """P(y_t = k), [T, K], by forward and backward recursions with logarithms."""
    length, k = unary.shape
    steps = np.broadcast_to(transitions, (length - 1, k, k))
    alpha, beta = unary.copy(), np.zeros((length, k))
    for t in range(1, length):
        alpha[t] += [log_sum_exp(alpha[t - 1] + steps[t - 1, :, y]) for y in range(k)]
    for t in range(length - 1, 0, -1):
        beta[t - 1] = [log_sum_exp(steps[t - 1, y] + unary[t] + beta[t]) for y in range(k)]
    return np.exp(alpha + beta - log_sum_exp(alpha[-1]))


def random_scores(rng, length, k, tied, scale):
    unary = rng.normal(size=(length, k)) * scale
    return unary, rng.normal(size=(k, k) if tied else (length - 1, k, k)) * scale


@TIED
@pytest.mark.parametrize('k', [1, 2, 4, 5, 22, 33, 40, 67])
@pytest.mark.parametrize('scale', [0.1, 3, 100])
def test_long_sequences_against_plain_recursions(tied, k, scale):
    """Every number of vector blocks in a row, at a length that no scale of the forward pass could do without."""
    length = 60
    unary, transitions = random_scores(np.random.default_rng(k), length, k, tied, scale)
    structure = lone(length, k, tied)
    theta = theta_of(structure, unary, transitions)
    value, code = structure.max_oracle(0, theta)
    best = forward(unary, transitions, np.max)
    assert value == pytest.approx(best, rel=1e-12)
    steps = np.broadcast_to(transitions, (length - 1, k, k))
    score = unary[range(length), code].sum() + steps[range(length - 1), code[:-1], code[1:]].sum()
    assert score == pytest.approx(best, rel=1e-12)
    log_partition, mean = structure.exp_oracle(0, theta)
    assert log_partition == pytest.approx(forward(unary, transitions, log_sum_exp), rel=1e-12)
    rows = mean[: length * structure.stride].reshape(length, structure.stride)
    np.testing.assert_allclose(rows[:, :k], marginals(unary, transitions), rtol=0, atol=1e-11 * max(1, scale))
    np.testing.assert_array_equal(rows[:, k:], 0)
    # Summing the pairs over one end gives the labels of the other end, per step or over all steps.
    blocks = mean[length * structure.stride :].reshape(-1, structure.stride, structure.stride)
    into, out_of = blocks.sum(axis=1)[:, :k], blocks.sum(axis=2)[:, :k]
    wanted_into, wanted_out_of = rows[1:, :k], rows[:-1, :k]
    if tied:
        wanted_into, wanted_out_of = wanted_into.sum(axis=0), wanted_out_of.sum(axis=0)
    np.testing.assert_allclose(into.squeeze(), wanted_into.squeeze(), rtol=0, atol=1e-10)
    np.testing.assert_allclose(out_of.squeeze(), wanted_out_of.squeeze(), rtol=0, atol=1e-10)
    values, codes = structure.topk_oracle(0, theta, 20)
    assert len({code.tobytes() for code in codes}) == len(codes) == (20 if k > 1 else 1)
    scores = [unary[range(length), code].sum() + steps[range(length - 1), code[:-1], code[1:]].sum() for code in codes]
    np.testing.assert_allclose(values, scores, rtol=1e-12)
    assert all(a >= b for a, b in itertools.pairwise(values))


@pytest.mark.parametrize('name', [(2, 5, True), (3, 4, True), (3, 4, False)])
def test_ties_go_to_the_first_labels_from_the_end(name):
    """Among the best outputs the one whose labels, read from the last position, come first."""
    example = chain(*name)
    for seed in range(40):
        scores = np.random.default_rng(seed).integers(0, 2, size=len(example.truth.part_keys)).astype(float)
        totals = example.totals(scores)
        best = [code for code, total in zip(example.truth.codes, totals, strict=True) if total == totals.max()]
        _, code = example.structure.max_oracle(example.i, example.theta(scores))
        assert tuple(code) == min(best, key=lambda code: code[::-1])


@TIED
def test_a_path_that_is_lost_on_the_way_and_ties_in_the_end(tied):
    """Label 2 starts near exp(-708), the end of what a double holds beside the 1 of label 0; then label 0 falls away
    and label 1 falls behind step by step, each time by less than what one scale of the forward pass may lose."""
    away = np.full((3, 3), -2000.0)
    np.fill_diagonal(away, 0)
    structure = lone(3, 3, tied)
    for start in np.arange(-700, -760, -0.25):
        unary = np.array([[0, -200, start], [-2000, -250, 0], [-2000, start + 450, 0]])
        theta = theta_of(structure, unary, away if tied else np.broadcast_to(away, (2, 3, 3)))
        log_partition, mean = structure.exp_oracle(0, theta)
        assert log_partition == pytest.approx(start + np.log(2), rel=1e-12)
        rows = mean[: 3 * structure.stride].reshape(3, -1)[:, :3]
        np.testing.assert_allclose(rows, [[0, 0.5, 0.5]] * 3, rtol=0, atol=1e-9)


@TIED
def test_scores_around_the_range_of_exp(tied):
    """Chains that barely mix, with label scores near the smallest exponents of a double: the log-partition function
    and the marginals stay those of the recursion with logarithms."""
    rng = np.random.default_rng(11)
    for _ in range(400):
        length, k = int(rng.integers(2, 7)), int(rng.integers(2, 5))
        unary = rng.uniform(-500, 0, size=(length, k)) * (rng.random((length, k)) < 0.7)
        transitions = rng.uniform(-900, -200, size=(k, k) if tied else (length - 1, k, k))
        transitions[..., range(k), range(k)] = 0
        structure = lone(length, k, tied)
        log_partition, mean = structure.exp_oracle(0, theta_of(structure, unary, transitions))
        assert log_partition == pytest.approx(forward(unary, transitions, log_sum_exp), rel=0, abs=1e-9)
        rows = mean[: length * structure.stride].reshape(length, -1)[:, :k]
        np.testing.assert_allclose(rows, marginals(unary, transitions), rtol=0, atol=1e-9)


@TIED
def test_a_label_that_underflows_before_a_small_scale(tied):
    """Label 0 of position 2 is 721 below label 1, too far for its exponential; the transitions to it and from it are as
    much better, and half of the probability goes through it."""
    transitions = np.array([[322, 0, 401], [275, 0, 0], [0, 92, 0]], float)
    for low in np.arange(-8.5, -7, 0.125):
        unary = np.array([[81, 301, 523], [335, 296, 275], [low, 713, 201], [-397, 820, 818]])
        steps = transitions if tied else np.broadcast_to(transitions, (3, 3, 3))
        structure = lone(4, 3, tied)
        log_partition, mean = structure.exp_oracle(0, theta_of(structure, unary, steps))
        assert log_partition == pytest.approx(forward(unary, transitions, log_sum_exp), rel=0, abs=1e-9)
        rows = mean[: 4 * structure.stride].reshape(4, -1)[:, :3]
        np.testing.assert_allclose(rows, marginals(unary, transitions), rtol=0, atol=1e-9)
