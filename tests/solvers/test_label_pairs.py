"""Every solver on tiny sets of labels with weights for some pairs, each to its own optimum over enumerated sets;
without pairs that is the sum of the optima of the labels."""

import functools

import numpy as np
import pytest

from cython_ext.features.calls import adjoint, gram_of, norm2_of, scores_of
from cython_ext.objectives.registry import Variant
from cython_ext.solvers.registry import solver_info
from cython_ext.structures.graph.labels_apart import LabelsApart
from cython_ext.tasks.build import build_problem
from cython_ext.tasks.multilabel import layout_of
from tests import graphs, label_sets, optimum
from tests.solvers.runs import close_in, make
from tests.solvers.test_optimum import BY_PARTS, MINIMISERS, REACH

LAM, LABELS = 0.1, 4
PAIRS = {'none': [], 'tree': [[0, 2], [1, 2], [2, 3]], 'loop': [[0, 1], [0, 2], [1, 2]], 'all': None}


@functools.cache
def data(binary=False):
    return label_sets.random_sets(5, LABELS, 3, seed=2, binary=binary)


def problem_of(pairs, objective, loss='hamming', binary=False, **how):
    structure = {'relaxation': 'none', **({} if pairs == 'all' else {'pairs': PAIRS[pairs]})}
    return build_problem(data(binary), 'multilabel', objective, loss, LAM, structure=structure, **how)


@functools.cache
def plain(pairs, objective, loss='hamming', binary=False):
    """(the plain problem, its optimum)."""
    layout = layout_of(data(binary), PAIRS[pairs])
    if layout.values is None:
        layout.values = np.ones(len(layout.indices))
    truth = graphs.GraphEnumeration(layout)
    problem = optimum.Problem.of(truth, LAM)
    if loss == 'f1':
        problem.delta = [f1_losses(e) for e in truth.examples]
    if loss == 'zero-one':
        problem.delta = [(np.arange(len(e.codes)) != e.gold).astype(float) for e in truth.examples]
    return problem, optimum.solve(problem, objective)


def f1_losses(example):
    """1 - F1 of every set of an enumerated example; 0 where both sets are empty."""
    codes, gold = np.array(example.codes), np.array(example.codes[example.gold])
    both = (codes & gold).sum(axis=1)
    sizes = codes.sum(axis=1) + gold.sum()
    return np.where(sizes > 0, 1 - 2 * both / np.maximum(sizes, 1), 0.0)


NO_PAIRS = ('hamming', 'zero-one', 'f1')
CASES = [
    (solver, pairs, objective, loss)
    for solver in MINIMISERS
    for objective in solver_info(solver).objectives
    for pairs, loss in (*(('none', name) for name in NO_PAIRS), ('tree', 'hamming'), ('loop', 'hamming'))
    if loss == 'hamming' or (objective != 'log' and solver not in BY_PARTS)
]


@pytest.mark.parametrize('case', CASES, ids=map('-'.join, CASES))
def test_bounds_close_in_on_the_optimum(case):
    solver, pairs, objective, loss = case
    problem, (truth, best) = problem_of(pairs, objective, loss), plain(pairs, objective, loss)
    assert isinstance(problem.structure, LabelsApart) == ((pairs, objective, loss) == ('none', 'hinge', 'hamming'))
    tolerance, limit = REACH[solver]
    if (solver, loss) == ('fw', 'f1'):
        limit *= 5  # its error falls like 1/t
    method = make(solver, problem, seed=3)
    close_in(method, best, 1.0, tolerance, limit)
    for _, w in method.iterates():
        expected = optimum.primal(truth, objective, np.array(w, float))
        assert problem.evaluate(w).primal == pytest.approx(expected, rel=1e-7)


def of_label(k, objective):
    """The optimum of a label by itself: a binary problem."""
    right, x = label_sets.table(data())[:, k], label_sets.inputs(data())
    psi = [np.stack([np.zeros(len(row)), row if y else -row]) for y, row in zip(right, x, strict=True)]
    problem = optimum.Problem(psi, [np.array([0.0, 1.0])] * len(psi), LAM)
    return optimum.solve(problem, objective)


@pytest.mark.parametrize('objective', ['hinge', 'log', 'softmax-margin'])
def test_without_pairs_every_label_is_a_problem_by_itself(objective):
    labels = [of_label(k, objective) for k in range(LABELS)]
    total = sum(each.primal for each in labels)
    assert plain('none', objective)[1].primal == pytest.approx(total, rel=1e-8)
    problem = problem_of('none', objective)
    w = np.concatenate([each.w for each in labels])
    assert problem.evaluate(w).primal == pytest.approx(total, rel=1e-8)


@pytest.mark.parametrize('binary', [False, True])
def test_losses_of_the_examples_are_those_of_whole_sets(binary):
    apart, w = problem_of('none', 'hinge', binary=binary), np.random.default_rng(0).normal(size=12)
    expected = optimum.losses(plain('none', 'hinge', binary=binary)[0], 'hinge', w)
    np.testing.assert_allclose(apart.structure.by_example(apart.evaluate(w).loss_values), expected, rtol=1e-12)


@pytest.mark.parametrize(
    'how',
    [
        {'loss': 'zero-one'},
        {'loss': 'zero-one', 'variant': Variant('slack')},
        {'loss': 'zero-one', 'variant': Variant(slack_norm=2)},
        {'variant': Variant(hard_margin=True)},
    ],
)
def test_losses_of_whole_sets_keep_them_whole(how):
    assert not isinstance(problem_of('none', 'hinge', **how).structure, LabelsApart)
    assert not isinstance(build_problem(data(), 'multilabel', lam=LAM).structure, LabelsApart)


def test_features_of_labels_apart():
    """scores, adjoint and inner products fit together, and weights are named as those of whole sets."""
    problem, rng = problem_of('none', 'hinge'), np.random.default_rng(1)
    features, structure = problem.features, problem.structure
    x, w = label_sets.inputs(data()), rng.normal(size=features.dim)
    for b in (0, 3, 7, structure.n - 1):
        k, i = divmod(b, structure.examples)
        theta, a = scores_of(features, b, w), np.append(rng.normal(size=2), [0, 0])
        np.testing.assert_allclose(theta, [0, LABELS * x[i] @ w.reshape(LABELS, -1)[k], 0, 0], rtol=1e-12, atol=1e-12)
        assert adjoint(features, b, a) @ w == pytest.approx(theta @ a, rel=1e-12)
        image = adjoint(features, b, a)
        assert norm2_of(features, b, a) == pytest.approx(image @ image, rel=1e-12)
        np.testing.assert_allclose(gram_of(features, b, a), scores_of(features, b, image), rtol=1e-12, atol=1e-12)
    blocks = features.blocks(w)
    assert blocks['state'].shape == (3, LABELS) and blocks['pair'].shape == (0,)
    np.testing.assert_array_equal(features.weights(blocks), w)
    with pytest.raises(ValueError, match='weights of other attributes or labels'):
        features.weights({**blocks, 'pair': np.zeros(6)})


@pytest.mark.parametrize('pairs', ['tree', 'loop', 'all'])
def test_features_of_whole_sets(pairs):
    """Inner products of what a set adds, also where they are taken factor by factor."""
    features, rng = problem_of(pairs, 'log').features, np.random.default_rng(3)
    for i in range(data().n):
        a = np.where(rng.random(scores_of(features, i, features.zeros()).size) < 0.6, 0, rng.normal())
        a *= rng.normal(size=a.size)
        image = adjoint(features, i, a)
        np.testing.assert_allclose(gram_of(features, i, a), scores_of(features, i, image), rtol=1e-12, atol=1e-12)
        assert norm2_of(features, i, a) == pytest.approx(image @ image, rel=1e-12)
