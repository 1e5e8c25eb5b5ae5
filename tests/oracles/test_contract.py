"""The contract of the oracles: one suite over every structure, against the list of all outputs."""

import itertools

import numpy as np
import pytest

from cython_ext.relaxations.factor_blocks import FactorBlocks
from tests.optimum import log_sum_exp, softmax
from tests.oracles.cases import CASES, RANKED, case

SEEDS = range(3)


def normal(rng, m):
    return rng.normal(size=m)


def ties(rng, m):
    """Small whole numbers: many outputs share a score, and sums are exact."""
    return rng.integers(-1, 2, size=m).astype(float)


def zeros(rng, m):
    return np.zeros(m)


def extreme(rng, m):
    return rng.uniform(-1e4, 1e4, size=m)


def two_sided(rng, m):
    return rng.choice([-1e4, 0.0, 1e4], size=m)


def wide(rng, m):
    """Around the range of exp: some outputs have a probability that a double cannot hold, some have not."""
    return rng.uniform(-400, 400, size=m)


def forbidden(rng, m):
    """A third of the parts forbidden: sometimes few outputs are left, sometimes none."""
    return np.where(rng.random(m) < 1 / 3, -np.inf, rng.normal(size=m))


def mostly_forbidden(rng, m):
    return np.where(rng.random(m) < 0.6, -np.inf, rng.uniform(-50, 50, size=m))


def forbidden_extreme(rng, m):
    return np.where(rng.random(m) < 0.2, -np.inf, rng.choice([-1e4, 1e4], size=m))


FINITE = (normal, ties, zeros, extreme, two_sided, wide)
SCORES = (*FINITE, forbidden, mostly_forbidden, forbidden_extreme)


@pytest.fixture(params=CASES)
def example(request):
    return case(request.param)


SUMMED = pytest.mark.parametrize('example', [name for name in CASES if name not in RANKED], indirect=True)
POSITIONS = pytest.mark.parametrize(
    'example', [name for name in CASES if '-T0' not in name and not name.startswith(('cfg', 'boxes'))], indirect=True
)
# a box without points has no parts, so nothing forbids it, unless there is one place only
WITHOUT_PARTS = [name for name in CASES if '-T0' in name or (name.startswith('boxes') and '-1x1-' not in name)]
NOT_EMPTY = pytest.mark.parametrize('example', [name for name in CASES if name not in WITHOUT_PARTS], indirect=True)


def sums(example):
    """Whether it is a case with sums over all outputs."""
    return not any(case(name) is example for name in RANKED)


def draw(kind, example, seed):
    """Scores of the parts, theta, scores of all outputs, and how far sums of these may be off by rounding."""
    scores = kind(np.random.default_rng(seed), len(example.truth.part_keys))
    return scores, example.theta(scores), example.totals(scores), example.rounding(scores)


def test_sizes_and_codes(example):
    structure, i = example.structure, example.i
    assert len(example.truth.codes) == example.closed_form_count
    assert structure.code_size(i) == len(example.truth.codes[0])
    assert len(np.unique(example.columns)) == len(example.columns)
    assert tuple(structure.gold_code(i)) == example.truth.codes[example.truth.gold]


def test_statistics_of_every_output(example):
    some = np.random.default_rng(0).permutation(len(example.truth.codes))[:300]
    for row in some:
        code = np.array(example.truth.codes[row], dtype=np.int32)
        wanted = example.theta(example.truth.parts[row], padding=0.0)
        np.testing.assert_array_equal(example.structure.statistics(example.i, code), wanted)


@pytest.mark.parametrize('kind', SCORES)
def test_max_is_the_best_of_the_list(example, kind):
    for seed in SEEDS:
        _, theta, totals, rounding = draw(kind, example, seed)
        value, code = example.structure.max_oracle(example.i, theta)
        assert value == pytest.approx(totals.max(), rel=0, abs=rounding)
        assert totals[example.row(code)] == pytest.approx(totals.max(), rel=0, abs=rounding)


@pytest.mark.parametrize('kind', SCORES)
def test_topk_is_the_sorted_list(example, kind):
    """The last k asks for more outputs than there are."""
    for seed, k in [*itertools.product(SEEDS, (1, 2, 3, 7)), (0, len(example.truth.codes) + 3)]:
        _, theta, totals, rounding = draw(kind, example, seed)
        values, codes = example.structure.topk_oracle(example.i, theta, k)
        allowed = int((totals > -np.inf).sum())
        assert len(values) == len(codes) == max(1, min(k, allowed))
        rows = [example.row(code) for code in codes]
        assert len(set(rows)) == len(rows)
        assert all(a >= b for a, b in itertools.pairwise(values))
        np.testing.assert_allclose(values, np.sort(totals)[::-1][: len(values)], rtol=0, atol=rounding)
        np.testing.assert_allclose(totals[rows], values, rtol=0, atol=rounding)


@pytest.mark.parametrize('kind', SCORES)
def test_first_of_topk_is_the_maximiser(example, kind):
    """Also among ties, so that the first of an n-best list is the prediction."""
    for seed, k in itertools.product(SEEDS, (1, 4)):
        _, theta, _, _ = draw(kind, example, seed)
        value, code = example.structure.max_oracle(example.i, theta)
        values, codes = example.structure.topk_oracle(example.i, theta, k)
        assert values[0] == value
        np.testing.assert_array_equal(codes[0], code)


@SUMMED
@pytest.mark.parametrize('kind', SCORES)
def test_exp_is_the_sum_over_the_list(example, kind):
    for seed in SEEDS:
        _, theta, totals, rounding = draw(kind, example, seed)
        log_partition, mean = example.structure.exp_oracle(example.i, theta)
        if totals.max() == -np.inf:
            assert log_partition == -np.inf
            np.testing.assert_array_equal(mean, np.zeros_like(mean))
            continue
        assert log_partition == pytest.approx(log_sum_exp(totals), rel=0, abs=4 * rounding)
        assert log_partition >= totals.max() - rounding
        wanted = example.theta(softmax(totals) @ example.truth.parts, padding=0.0)
        np.testing.assert_allclose(mean, wanted, rtol=0, atol=1e-12 + 8 * rounding)


@NOT_EMPTY
def test_all_forbidden(example):
    scores = np.full(len(example.truth.part_keys), -np.inf)
    theta = example.theta(scores)
    value, code = example.structure.max_oracle(example.i, theta)
    assert value == -np.inf
    example.row(code)
    values, codes = example.structure.topk_oracle(example.i, theta, 3)
    assert list(values) == [-np.inf]
    example.row(codes[0])
    if not sums(example):
        return
    log_partition, mean = example.structure.exp_oracle(example.i, theta)
    assert log_partition == -np.inf
    np.testing.assert_array_equal(mean, np.zeros_like(mean))


def test_one_allowed_output(example):
    """Everything forbidden but the parts of one output: it is found, alone, with probability 1."""
    rng = np.random.default_rng(4)
    for row in rng.integers(len(example.truth.codes), size=5):
        used = example.truth.parts[row] > 0
        scores = np.where(used, rng.normal(size=len(used)), -np.inf)
        totals = example.totals(scores)
        if (totals > -np.inf).sum() != 1:
            continue
        value, code = example.structure.max_oracle(example.i, example.theta(scores))
        assert example.row(code) == row
        assert value == pytest.approx(totals[row], rel=0, abs=1e-12)
        values, _ = example.structure.topk_oracle(example.i, example.theta(scores), 5)
        assert len(values) == 1
        if not sums(example):
            continue
        log_partition, mean = example.structure.exp_oracle(example.i, example.theta(scores))
        assert log_partition == pytest.approx(totals[row], rel=0, abs=1e-12)
        np.testing.assert_allclose(mean, example.theta(example.truth.parts[row], padding=0.0), rtol=0, atol=1e-12)


@SUMMED
def test_counts_in_closed_form(example):
    """At zero scores the partition function counts the outputs."""
    theta = example.theta(np.zeros(len(example.truth.part_keys)))
    log_partition, _ = example.structure.exp_oracle(example.i, theta)
    assert np.exp(log_partition) == pytest.approx(example.closed_form_count, rel=1e-12)


@SUMMED
def test_mean_statistics_are_the_gradient(example):
    """Fourth-order differences of the log-partition function."""
    scores = normal(np.random.default_rng(7), len(example.truth.part_keys))
    _, mean = example.structure.exp_oracle(example.i, example.theta(scores))
    h = 1e-3
    for part, column in list(enumerate(example.columns))[:: max(1, len(scores) // 20)]:

        def value(step, part=part):
            shifted = scores.copy()
            shifted[part] += step
            return example.structure.exp_oracle(example.i, example.theta(shifted))[0]

        slope = (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h)
        assert mean[column] == pytest.approx(slope, rel=0, abs=1e-9)


@SUMMED
def test_log_partition_tends_to_the_maximum(example):
    scores = normal(np.random.default_rng(8), len(example.truth.part_keys))
    before = np.inf
    for sharpness in (1, 10, 100, 1e4, 1e6):
        theta = example.theta(sharpness * scores)
        value, code = example.structure.max_oracle(example.i, theta)
        log_partition, mean = example.structure.exp_oracle(example.i, theta)
        excess = (log_partition - value) / sharpness
        assert -1e-12 <= excess <= min(before, np.log(example.closed_form_count) / sharpness) + 1e-12
        before = excess
    np.testing.assert_allclose(mean, example.structure.statistics(example.i, code), rtol=0, atol=1e-6)


@POSITIONS
def test_a_constant_shifts_the_values_only(example):
    """Every output has exactly one of the parts of its first label or word: adding to them all adds to every output."""
    first = np.array([key[:2] in (('label', 0), ('arc', 1)) for key in example.truth.part_keys], dtype=bool)
    assert first.any()
    scores, theta, _, _ = draw(normal, example, 0)
    shifted = example.theta(scores + 5.0 * first)
    value, code = example.structure.max_oracle(example.i, theta)
    shifted_value, shifted_code = example.structure.max_oracle(example.i, shifted)
    np.testing.assert_array_equal(code, shifted_code)
    assert shifted_value == pytest.approx(value + 5, abs=1e-12)
    if not sums(example):
        return
    log_partition, mean = example.structure.exp_oracle(example.i, theta)
    shifted_partition, shifted_mean = example.structure.exp_oracle(example.i, shifted)
    assert shifted_partition == pytest.approx(log_partition + 5, abs=1e-12)
    np.testing.assert_allclose(shifted_mean, mean, rtol=0, atol=1e-12)


def test_theta_is_only_read_and_answers_repeat(example):
    _, theta, _, _ = draw(normal, example, 0)
    before = theta.copy()
    theta.flags.writeable = False
    answers = []
    for _ in range(2):
        answers.append(example.structure.max_oracle(example.i, theta)[1].tobytes())
        answers.append(b''.join(a.tobytes() for a in example.structure.topk_oracle(example.i, theta, 3)))
        if sums(example):
            answers.append(example.structure.exp_oracle(example.i, theta)[1].tobytes())
    np.testing.assert_array_equal(theta, before)
    assert answers[: len(answers) // 2] == answers[len(answers) // 2 :]


def test_what_does_not_fit_is_refused(example):
    structure, i = example.structure, example.i
    theta = example.theta(np.zeros(len(example.truth.part_keys)), padding=0.0)
    calls = [structure.max_oracle, lambda i, theta: structure.topk_oracle(i, theta, 2)]
    for call in [*calls, structure.exp_oracle] if sums(example) else calls:
        with pytest.raises(ValueError, match=f'example {i} has {len(theta)} parts'):
            call(i, np.zeros(len(theta) + 1))
        for outside in (-1, structure.n):
            with pytest.raises(IndexError, match=f'example {outside} of {structure.n}'):
                call(outside, theta)
    with pytest.raises(ValueError, match='expected at least 1'):
        structure.topk_oracle(i, theta, 0)
    with pytest.raises(ValueError, match='codes of length'):
        structure.statistics(i, np.zeros(structure.code_size(i) + 1, np.int32))


def test_what_is_offered_is_declared(example):
    assert example.structure.oracles == (('max', 'topk', 'exp') if sums(example) else ('max', 'topk'))
    if not sums(example):
        with pytest.raises((AttributeError, NotImplementedError)):
            example.structure.exp_oracle(example.i, np.zeros(example.structure.size(example.i)))
    assert example.structure.exact is not isinstance(example.structure, FactorBlocks)
