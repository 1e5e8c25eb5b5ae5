"""Alignments beyond the contract: the loss over candidates, what is long, empty, equal or forbidden."""

import itertools

import numpy as np
import pytest

from cython_ext.tasks.alignment import build
from cython_ext.tasks.build import build_problem
from cython_ext.tasks.registry import task_info
from tests import alignments
from tests.optimum import log_sum_exp, softmax
from tests.oracles.cases import CASES, case

NAMES = [name for name in CASES if name.startswith('alignment') and not name.endswith('free')]
MODELS = list(itertools.product(('local', 'global'), ('linear', 'affine')))


def structure_of(examples, align='local', gap_model='linear', free=False):
    return build(alignments.dataset_of(examples), gap_model=gap_model, align=align, free=free)[0]


def loss_of(name):
    """(example, the loss, Delta of every output)."""
    from cython_ext.losses.alignment import CandidateLoss

    example = case(name)
    right = example.truth.codes[example.truth.gold][0]
    return example, CandidateLoss(example.structure), np.array([float(c[0] != right) for c in example.truth.codes])


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('size', [0.0, 1.0, 1e4])
def test_the_loss_and_its_oracles(name, size):
    example, loss, deltas = loss_of(name)
    scores = size * np.random.default_rng(3).normal(size=len(example.truth.part_keys))
    theta, totals, rounding = example.theta(scores), example.totals(scores) + deltas, example.rounding(scores)
    for row in range(0, len(deltas), 7):
        assert loss.value_of(example.i, np.array(example.truth.codes[row], np.int32)) == deltas[row]
    value, code, delta = loss.max_of(example.i, theta)
    assert value == pytest.approx(totals.max(), rel=0, abs=rounding)
    assert totals[example.row(code)] == pytest.approx(totals.max(), rel=0, abs=rounding)
    assert delta == deltas[example.row(code)]
    partition, mean = loss.exp_of(example.i, theta)
    assert partition == pytest.approx(log_sum_exp(totals), rel=0, abs=1e-12 + 8 * rounding)
    chances = softmax(totals)
    wanted = example.theta(chances @ example.truth.parts, padding=0.0)
    np.testing.assert_allclose(mean, wanted, rtol=0, atol=1e-12 + 8 * rounding)
    assert loss.expected_of(example.i, wanted) == pytest.approx(chances @ deltas, abs=1e-12)


@pytest.mark.parametrize(('align', 'gap_model'), MODELS)
def test_all_alignments_of_up_to_five_letters(align, gap_model):
    rng, local, affine = np.random.default_rng(5), align == 'local', gap_model == 'affine'
    sizes = list(itertools.product(range(6), range(6)))
    for example in alignments.random_examples(rng, [*sizes[::3], (5, 5)] if local else sizes, local):
        native, (other,), _, _ = example
        structure = structure_of([example], align, gap_model, free=True)
        listed = list(alignments.outputs(example, affine, local, free=True))
        assert len(listed) == alignments.number_of_alignments(len(native), len(other), local)
        letters = sorted(set(native + other))
        theta = rng.normal(size=structure.size(0))
        totals = [total(output.features, theta, letters) + theta[-1] for output in listed]
        value, code = structure.max_oracle(0, theta)
        assert value == pytest.approx(max(totals), abs=1e-12)
        score_of = dict(zip((output.code for output in listed), totals, strict=True))
        assert score_of[tuple(code.tolist())] == pytest.approx(value, abs=1e-12)
        values, codes = structure.topk_oracle(0, theta, 20)
        np.testing.assert_allclose(values, sorted(totals)[::-1][:20], rtol=0, atol=1e-12)
        assert len(np.unique(codes, axis=0)) == len(codes)
        assert structure.exp_oracle(0, theta)[0] == pytest.approx(log_sum_exp(np.array(totals)), abs=1e-11)


def total(features, theta, letters):
    """The score of what an alignment has."""
    size, score = len(letters), 0.0
    for (kind, *what), count in features.items():
        part = size * letters.index(what[0]) + letters.index(what[1]) if kind == 'pair' else size * size
        score += count * theta[part + (kind == 'gap' and what[0] == 'extend')]
    return score


def best_score(x, y, s, opening, extending, local):
    """Gotoh's recursion over (letters of x, letters of y, last step), as plainly as it can be written."""
    best = {}
    for i, j in itertools.product(range(len(x) + 1), range(len(y) + 1)):
        cell = best[i, j] = dict.fromkeys('SID', -np.inf)
        cell['start'] = 0.0 if local or i + j == 0 else -np.inf
        if i and j:
            cell['S'] = max(best[i - 1, j - 1].values()) + s[x[i - 1], y[j - 1]]
        for step, before in (('I', best.get((i, j - 1))), ('D', best.get((i - 1, j)))):
            if before:
                cell[step] = max(v + (extending if k == step else opening) for k, v in before.items())
    return max(max(cell.values()) for cell in best.values()) if local else max(best[len(x), len(y)].values())


@pytest.mark.parametrize(('align', 'gap_model'), MODELS)
def test_long_sequences_of_many_lengths(align, gap_model):
    """More candidates than lanes, by a recursion that is written down anew; K best as scores of their codes."""
    rng = np.random.default_rng(7)
    native, *others = (''.join(rng.choice(list('ACGT'), size)) for size in (30, 41, 0, 12, 33, 1, 27))
    structure = structure_of([(native, others, 0, (0, 0, ''))], align, gap_model, free=True)
    theta = np.concatenate([rng.normal(size=16), -rng.random(1 if gap_model == 'linear' else 2), np.zeros(len(others))])
    s, opening, extending = theta[:16].reshape(4, 4), theta[16], theta[16 if gap_model == 'linear' else 17]
    x, *ys = ([('ACGT').index(c) for c in text] for text in (native, *others))
    wanted = [best_score(x, y, s, opening, extending, align == 'local') for y in ys]
    for c, score in enumerate(wanted):
        only = theta.copy()
        only[-len(others) :] = -1e9
        only[len(only) - len(others) + c] = 0.0
        value, code = structure.max_oracle(0, only)
        assert code[0] == c
        assert value == pytest.approx(score, abs=1e-9)
    values, codes = structure.topk_oracle(0, theta, 50)
    assert values[0] == pytest.approx(max(wanted), abs=1e-12)
    assert (np.diff(values) <= 0).all()
    assert len(np.unique(codes, axis=0)) == 50
    for value, code in zip(values, codes, strict=True):
        assert structure.statistics(0, code) @ theta == pytest.approx(value, abs=1e-9)


def test_among_equals_the_last_candidate_wins_with_the_shortest_alignment():
    example = ('ACGT', ['ACGT', 'TT', 'A'], 0, (0, 0, 'SSSS'))
    for free, k in ((False, 1), (True, 1), (True, 4)):
        structure = structure_of([example], free=free)
        _, codes = structure.topk_oracle(0, np.zeros(structure.size(0)), k)
        assert codes[0].tolist() == [2] + [0] * (structure.code_size(0) - 1)


@pytest.mark.parametrize('align', ['local', 'global'])
def test_empty_sequences(align):
    for example in (('', [''], 0, (0, 0, '')), ('', ['A'], 0, (0, 0, 'I')), ('A', [''], 0, (0, 0, 'D'))):
        structure = structure_of([example], align, free=True)
        theta = np.full(structure.size(0), 0.5)
        count = alignments.number_of_alignments(len(example[0]), len(example[1][0]), align == 'local')
        assert len(structure.topk_oracle(0, theta, 9)[0]) == count
        value, code = structure.max_oracle(0, theta)
        assert value == 0.5 + 0.5 * len(example[3][2])
        assert tuple(code[3:]) == tuple(alignments.CODES[step] for step in example[3][2])


def test_a_run_that_is_dear_to_open_and_pays_to_extend():
    """Paths into one cell differ by far more than a double's range, and the worse one is what counts later."""
    example = ('A' * 6, ['A' * 2], 0, (0, 0, 'SS'))
    structure = structure_of([example], 'global', 'affine', free=True)
    theta = np.array([-1e4, -1e4, 1e4, 0.0])
    listed = list(alignments.outputs(example, True, False, free=True))
    totals = np.array([total(output.features, theta, ['A']) for output in listed])
    partition, mean = structure.exp_oracle(0, theta)
    assert partition == pytest.approx(log_sum_exp(totals), abs=1e-9)
    gaps = np.array(
        [[o.features['pair', 'A', 'A'], o.features['gap', 'open'], o.features['gap', 'extend']] for o in listed]
    )
    np.testing.assert_allclose(mean[:3], softmax(totals) @ gaps, rtol=0, atol=1e-9)


def test_codes_that_are_none():
    structure = structure_of([('ACG', ['ACG', 'CG'], 0, (1, 1, 'SS'))])
    good = [
        [0, 1, 1, 1, 1, 0, 0, 0, 0],
        [1, 0, 0, 0, 0, 0, 0, 0, 0],
        [1, 1, 0, 1, 1, 0, 0, 0, 0],
        [1, 3, 2, 0, 0, 0, 0, 0, 0],
    ]
    bad = [
        *([2, 0, 0, 0, 0, 0, 0, 0, 0], [-1, 0, 0, 0, 0, 0, 0, 0, 0]),  # candidates
        [0, 0, 0, 1, 1, 0, 0, 0, 0],  # another alignment of the homolog
        *([1, 2, 0, 1, 1, 0, 0, 0, 0], [1, 0, 0, 2, 2, 2, 0, 0, 0]),  # beyond the ends
        *([1, -1, 0, 1, 0, 0, 0, 0, 0], [1, 0, 0, 4, 0, 0, 0, 0, 0], [1, 0, 0, 1, 0, 1, 0, 0, 0]),
    ]
    assert [structure.is_valid(0, np.array(code, np.int32)) for code in good] == [True, True, True, False]
    assert not any(structure.is_valid(0, np.array(code, np.int32)) for code in bad)


def test_what_does_not_fit_is_refused():
    dataset = alignments.dataset_of([('A' * 60000, ['A' * 60000], 0, (0, 0, 'S'))])
    with pytest.raises(ValueError, match='too long to be aligned'):
        build(dataset)
    small = alignments.dataset_of([('A', ['A'], 0, (0, 0, 'S'))])
    with pytest.raises(ValueError, match='feature-set all'):
        task_info('alignment').compose(small, feature_set='observed')
    with pytest.raises(ValueError, match='linear kernel'):
        build_problem(small, 'alignment', kernel={'kind': 'rbf'})
