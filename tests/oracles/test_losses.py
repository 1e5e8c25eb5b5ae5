"""Task losses and the loss-augmented oracles: every structure and loss, against the list of all outputs."""

import numpy as np
import pytest

from cython_ext.losses.boxes import Overlap
from cython_ext.losses.candidates import GivenCosts, WrongCandidates
from cython_ext.losses.dependency import Attachment
from cython_ext.losses.loss import DecomposableLoss
from cython_ext.losses.matching import WrongLinks
from cython_ext.losses.position_costs import PositionCosts, hamming
from cython_ext.losses.zero_one import ZeroOne
from cython_ext.tasks.multilabel import build
from cython_ext.tasks.registry import TASKS, task_info
from tests import label_sets
from tests.enumeration import task_loss
from tests.optimum import log_sum_exp, softmax
from tests.oracles.cases import CASES, RANKED, case
from tests.solvers import tiny

OTHERS = ('projective', 'spanning', 'alignment', 'cfg', 'graph', 'global', 'cut', 'matching', 'candidates', 'boxes')
NAMES = [name for name in CASES if '-K1' not in name and not name.startswith(OTHERS)]
FEW = ('projective-single-R1-T4', 'projective-multi-R3-T3', 'spanning-multi-R1-T4', 'spanning-single-R3-T3')
LOSSES = {
    'zero-one': lambda structure: (ZeroOne(structure), 'zero-one'),
    'hamming': lambda structure: (PositionCosts(structure, hamming(structure.n_labels)), 'hamming'),
    'matrix': lambda structure: (
        PositionCosts(structure, tiny.cost_matrix(structure.n_labels)),
        tiny.cost_matrix(structure.n_labels),
    ),
}


TREE_LOSSES = {
    'zero-one': LOSSES['zero-one'],
    'hamming': lambda structure: (Attachment(structure), 'hamming'),
}
LINK_LOSSES = {'zero-one': LOSSES['zero-one'], 'hamming': lambda structure: (WrongLinks(structure), 'hamming')}
MATCHINGS = ('matching-1x1', 'matching-3x3', 'matching-4x3', 'matching-5x5-sparse')
# the structure knows what its candidates lose, and so does the list of them
CANDIDATES = [name for name in CASES if name.startswith('candidates')]
CANDIDATE_LOSSES = {
    'given': (GivenCosts, lambda losses: losses),
    'zero-one': (WrongCandidates, lambda losses: 1.0 * (losses > 0)),
}
BOXES = [name for name in CASES if name.startswith('boxes')]
BOX_LOSSES = {
    'overlap': (Overlap, lambda losses: losses),
    'zero-one': (ZeroOne, lambda losses: 1.0 * (np.arange(len(losses)) != losses.argmin())),
}
GROUPS = (
    (NAMES, LOSSES),
    (FEW, TREE_LOSSES),
    (MATCHINGS, LINK_LOSSES),
    (CANDIDATES, CANDIDATE_LOSSES),
    (BOXES, BOX_LOSSES),
)
PAIRS = [(name, loss) for names, losses in GROUPS for name in names for loss in losses]
SUMMED = pytest.mark.parametrize('pair', [pair for pair in PAIRS if pair[0] not in RANKED], ids='-'.join, indirect=True)


@pytest.fixture(params=PAIRS, ids='-'.join)
def pair(request):
    return request.param


@pytest.fixture
def example(pair):
    return case(pair[0])


def loss_on(example, name):
    """(the loss of that name, Delta(y_i, y) of every output)."""
    if example.task in ('candidates', 'boxes'):
        make, costs = (BOX_LOSSES if example.task == 'boxes' else CANDIDATE_LOSSES)[name]
        return make(example.structure), costs(example.truth.losses)
    losses = {'dependency': TREE_LOSSES, 'matching': LINK_LOSSES}.get(example.task, LOSSES)
    loss, plain = losses[name](example.structure)
    codes = example.truth.codes
    if example.task == 'matching':  # a code alone does not say which links are possible
        wrong = (np.arange(len(codes)) != example.truth.gold).astype(float)
        return loss, example.truth.losses if name == 'hamming' else wrong
    return loss, np.array([task_loss(plain, codes[example.truth.gold], code, example.task) for code in codes])


@pytest.fixture
def augmented(pair, example):
    return loss_on(example, pair[1])


def scores_of(example, kind, seed):
    rng, m = np.random.default_rng(seed), len(example.truth.part_keys)
    if kind == 'ties':
        return rng.integers(-1, 2, size=m).astype(float)
    if kind == 'right':  # the right output far ahead of all others
        return 1e4 * (example.truth.parts[example.truth.gold] > 0) + rng.normal(size=m)
    if kind == 'wrong':
        return -1e4 * (example.truth.parts[example.truth.gold] > 0) + rng.normal(size=m)
    return rng.normal(size=m)


SCORES = pytest.mark.parametrize('kind', ['normal', 'ties', 'right', 'wrong'])


def test_value_of_every_output(example, augmented):
    loss, deltas = augmented
    for row in np.random.default_rng(0).permutation(len(deltas))[:300]:
        code = np.array(example.truth.codes[row], dtype=np.int32)
        assert loss.value_of(example.i, code) == pytest.approx(deltas[row], rel=1e-14)


@SCORES
def test_max_is_the_best_of_the_list(example, augmented, kind):
    loss, deltas = augmented
    for seed in range(4):
        scores = scores_of(example, kind, seed)
        totals = example.totals(scores) + deltas
        value, code, delta = loss.max_of(example.i, example.theta(scores))
        rounding = example.rounding(scores)
        assert value == pytest.approx(totals.max(), rel=0, abs=rounding)
        assert totals[example.row(code)] == pytest.approx(totals.max(), rel=0, abs=rounding)
        assert delta == pytest.approx(deltas[example.row(code)], rel=1e-14)


@SUMMED
@SCORES
def test_exp_is_the_sum_over_the_list(example, augmented, kind):
    loss, deltas = augmented
    for seed in range(2):
        scores = scores_of(example, kind, seed)
        totals = example.totals(scores) + deltas
        log_partition, mean = loss.exp_of(example.i, example.theta(scores))
        rounding = 1e-12 + 8 * example.rounding(scores)
        assert log_partition == pytest.approx(log_sum_exp(totals), rel=0, abs=rounding)
        wanted = example.theta(softmax(totals) @ example.truth.parts, padding=0.0)
        np.testing.assert_allclose(mean, wanted, rtol=0, atol=rounding)


@pytest.mark.parametrize(
    'pair', [pair for pair in PAIRS if pair[1] not in ('zero-one', 'overlap')], ids='-'.join, indirect=True
)
def test_the_expected_loss_comes_from_the_mean_statistics(example, augmented):
    loss, deltas = augmented
    chances = softmax(example.totals(scores_of(example, 'normal', 1)))
    mean = example.theta(chances @ example.truth.parts, padding=0.0)
    assert loss.expected_of(example.i, mean) == pytest.approx(chances @ deltas, rel=1e-12)


def test_the_right_output_costs_nothing_and_no_output_less(example, augmented):
    loss, deltas = augmented
    assert loss.value_of(example.i, example.structure.gold_code(example.i)) == 0
    assert deltas.min() == 0
    theta = example.theta(np.zeros(len(example.truth.part_keys)))
    assert loss.max_of(example.i, theta)[0] == pytest.approx(deltas.max(), rel=1e-14)


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        (lambda c: c[:, :-1], 'shape'),
        (lambda c: c - 2 * (1 - np.eye(len(c))), 'not negative'),
        (lambda c: c + np.eye(len(c)), 'zero for the right label'),
        (lambda c: np.where(np.eye(len(c)), 0, np.nan), 'finite'),
        (lambda c: np.where(np.eye(len(c)), 0, np.inf), 'finite'),
    ],
)
def test_cost_matrices_that_are_none_are_refused(change, message):
    structure = case('chain-K3-T2-tied').structure
    with pytest.raises(ValueError, match=message):
        PositionCosts(structure, change(hamming(3)))


@pytest.mark.parametrize('name', CASES)
def test_rows_of_labels(name):
    """Where a structure has them, a label is a part of the row of its position; no other takes costs of positions."""
    structure = case(name).structure
    rows = structure.label_rows()
    if rows is None:
        with pytest.raises(TypeError):
            PositionCosts(structure)
        return
    n_labels, stride = rows
    for i in range(structure.n):
        code = structure.gold_code(i)
        row = structure.statistics(i, code)[: len(code) * stride].reshape(len(code), stride)
        np.testing.assert_array_equal(row[:, :n_labels], np.eye(n_labels)[code])
        assert not row[:, n_labels:].any()


EXAMPLES = {  # of each task, one of each class of structures
    'multiclass': ('multiclass-K3',),
    'chain': ('chain-K3-T2-tied', 'chain2-K3-T2-tied'),
    'dependency': ('projective-single-R1-T4', 'spanning-multi-R1-T4'),
    'alignment': ('alignment-local-linear',),
    'cfg': ('cfg-chains',),
    'multilabel': ('graph-complete',),
    'graph': ('graph-tree',),
    'matching': ('matching-3x3',),
    'candidates': ('candidates-5',),
    'boxes': ('boxes-4x3-8',),
}
# of losses that need more, or less, of a structure
OF_THEIR_OWN = {('cfg', 'brackets'): ('cfg-chains-brackets',), ('multilabel', 'f1'): ('sets',)}


def structure_of(name):
    if name == 'sets':
        return build(label_sets.random_sets(3, 3, 2, 0), pairs=[])[0]
    return case(name).structure


@pytest.mark.parametrize('task', TASKS)
def test_classes_say_what_their_losses_can_do(task):
    info = task_info(task)
    pairs = [(loss, name) for loss in info.losses for name in OF_THEIR_OWN.get((task, loss), EXAMPLES[task])]
    for loss, name in pairs:
        kind, made = info.loss_class(loss), info.loss_class(loss).on(structure_of(name))
        assert isinstance(made, DecomposableLoss) == made.decomposable == kind.decomposable
        assert (made.make_strata() is not None) == (made.unstratified is None) == (kind.unstratified is None)
    if info.cost_matrix is not None:
        costs = info.cost_matrix()
        assert costs.decomposable and (costs.unstratified is None) == (task == 'multiclass')
