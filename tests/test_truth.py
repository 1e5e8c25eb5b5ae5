"""The ground truth is tested itself: counts, hand-written examples, closed-form optima, a second generic method."""

import itertools
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

from tests import optimum
from tests.enumeration import STRUCTURES, Enumeration, Example, example_of, task_loss
from tests.solvers import tiny

SMOOTH = ('log', 'softmax-margin')
OBJECTIVES = ('hinge', *SMOOTH)


# Enumeration


@pytest.mark.parametrize(('n_labels', 'length'), list(itertools.product((1, 2, 3, 5), (1, 2, 4))))
def test_chain_lists_every_labelling_once(n_labels, length):
    example = Example([[] for _ in range(length)], None, (0,) * length)
    codes = [output.code for output in STRUCTURES['chain'](example, n_labels)]
    assert len(codes) == len(set(codes)) == n_labels**length
    assert all(len(code) == length and min(code) >= 0 and max(code) < n_labels for code in codes)


def test_multiclass_lists_every_label_once():
    listed = list(STRUCTURES['multiclass'](Example([[(7, 2.0)]], None, (1,)), 3))
    assert [output.code for output in listed] == [(0,), (1,), (2,)]
    assert listed[2].parts == {('label', 0, 2): 1}
    assert listed[2].features == {('state', 7, 2): 2.0}


def test_chain_statistics_by_hand():
    """Three tokens, the labelling 1 1 0: tied steps, sums of values, edge features at their own step only."""
    tokens = [[(0, 1.0), (2, 0.5)], [(2, 0.25)], []]
    wanted = Counter({('state', 0, 1): 1.0, ('state', 2, 1): 0.75, ('transition', 1, 1): 1, ('transition', 1, 0): 1})
    labels = {('label', 0, 1): 1, ('label', 1, 1): 1, ('label', 2, 0): 1}
    (plain,) = (o for o in STRUCTURES['chain'](Example(tokens, None, (0, 0, 0)), 2) if o.code == (1, 1, 0))
    assert plain.features == wanted
    assert plain.parts == {**labels, ('step', 1, 1): 1, ('step', 1, 0): 1}

    edges = [[], [(0, 3.0)], [(0, 4.0), (1, 5.0)]]
    (rich,) = (o for o in STRUCTURES['chain'](Example(tokens, edges, (0, 0, 0)), 2) if o.code == (1, 1, 0))
    assert rich.features == wanted + Counter({('edge', 0, 1, 1): 3.0, ('edge', 0, 1, 0): 4.0, ('edge', 1, 1, 0): 5.0})
    assert rich.parts == {**labels, ('step', 1, 1, 1): 1, ('step', 2, 1, 0): 1}

    (bare,) = (o for o in STRUCTURES['chain'](Example(tokens, None, (0, 0, 0), False), 2) if o.code == (1, 1, 0))
    assert bare.features == {('state', 0, 1): 1.0, ('state', 2, 1): 0.75}
    assert bare.parts == plain.parts

    longer = Example([*tokens, []], None, (0, 0, 0, 0), False, 2)
    (second,) = (o for o in STRUCTURES['chain'](longer, 2) if o.code == (1, 1, 0, 1))
    triples = Counter({('triple', 1, 1, 0): 1, ('triple', 1, 0, 1): 1})
    assert second.features == bare.features + triples
    assert second.parts == plain.parts + Counter({('label', 3, 1): 1, ('step', 0, 1): 1}) + triples


def test_example_of_reads_the_arrays():
    data = SimpleNamespace(
        offsets=np.array([0, 1, 3]),
        indptr=np.array([0, 1, 1, 3]),
        indices=np.array([4, 0, 2]),
        values=None,
        edge_indptr=np.array([0, 0, 0, 1]),
        edge_indices=np.array([1]),
        edge_values=np.array([0.5]),
        labels=np.array([1, 0, 1]),
    )
    assert example_of(data, 0) == ([[(4, 1.0)]], [[]], (1,), True, 1)
    assert example_of(data, 1) == ([[], [(0, 1.0), (2, 1.0)]], [[], [(1, 0.5)]], (0, 1), True, 1)


@pytest.mark.parametrize('edges', [0, 2])
def test_chain_statistics_sum_to_closed_forms(edges):
    """Over all K^T outputs each label stands K^(T-1) times at a position and each pair K^(T-2) times at a step."""
    length, k = 4, 3
    (example,) = Enumeration('chain', tiny.arrays('chain', [length], k, edges=edges), k).examples
    totals = dict(zip(example.part_keys, example.parts.sum(axis=0), strict=True))
    steps = 1 if edges else length - 1
    for key, total in totals.items():
        assert total == (k ** (length - 1) if key[0] == 'label' else steps * k ** (length - 2))
    assert len(totals) == length * k + k * k * (length - 1 if edges else 1)


@pytest.mark.parametrize('edges', [0, 2])
def test_features_are_linear_in_the_parts(edges):
    """<w, phi(x, y)> = <theta, s(y)> with theta computed part by part: parts carry all that the score depends on."""
    data = tiny.arrays('chain', (4, 1, 3), 3, edges=edges, seed=5)
    truth = Enumeration('chain', data, 3)
    w = np.random.default_rng(1).normal(size=truth.dim)
    weight = dict(zip(truth.keys, w, strict=True))
    for i, example in enumerate(truth.examples):
        x = example_of(data, i)
        theta = []
        for kind, *where in example.part_keys:
            if kind == 'label':
                t, y = where
                theta.append(sum(value * weight['state', a, y] for a, value in x.tokens[t]))
            else:
                *position, p, y = where
                extra = x.edges[position[0]] if position else ()
                theta.append(weight['transition', p, y] + sum(value * weight['edge', e, p, y] for e, value in extra))
        np.testing.assert_allclose(example.parts @ theta, example.features @ w, atol=1e-12)


def test_observed_features_are_those_of_the_right_outputs():
    """... but for edge features, which are all kept."""
    data = tiny.arrays('chain', (3, 2), 3, edges=2, seed=2)
    full, observed = Enumeration('chain', data, 3), Enumeration('chain', data, 3, feature_set='observed')
    seen = {key for key in full.keys if key[0] == 'edge'}
    for i, (enumerated, thin) in enumerate(zip(full.examples, observed.examples, strict=True)):
        assert enumerated.codes[enumerated.gold] == example_of(data, i).gold
        seen |= {key for key, value in zip(full.keys, enumerated.features[enumerated.gold], strict=True) if value}
        columns = [full.column[key] for key in observed.keys]
        np.testing.assert_array_equal(thin.features, enumerated.features[:, columns])
    assert set(observed.keys) == seen < set(full.keys)


def test_task_losses_by_hand():
    cost = [[0, 1.5, 2], [4, 0, 0.5], [1, 3, 0]]
    assert task_loss('zero-one', (1, 2, 0), (1, 2, 0)) == task_loss('hamming', (1,), (1,)) == 0
    assert task_loss('zero-one', (1, 2, 0), (0, 0, 0)) == 1
    assert task_loss('hamming', (1, 2, 0), (0, 0, 0)) == 2
    assert task_loss(cost, (1, 2, 0), (0, 1, 1)) == 4 + 3 + 1.5


def test_unknown_gold_labels_are_allowed():
    data = tiny.arrays('chain', (2,), 2)
    data.labels[:] = -1
    (example,) = Enumeration('chain', data, 2).examples
    assert example.gold is None
    assert example.losses is None
    assert len(example.codes) == 4


# Optima


def random_problem(seed, lam_times_n, objective='hinge'):
    """Integer psi in one half of the seeds, so that ties and degenerate vertices occur."""
    rng = np.random.default_rng(seed)
    d, psi, delta = int(rng.integers(1, 9)), [], []
    for _ in range(int(rng.integers(1, 5))):
        outputs = int(rng.integers(2, 30))
        rows = rng.normal(size=(outputs, d)) if seed % 2 else rng.integers(-2, 3, size=(outputs, d)).astype(float)
        cost = rng.integers(1, 4, size=outputs).astype(float)
        rows[0] = cost[0] = 0
        psi.append(rows)
        delta.append(cost)
    return optimum.Problem(psi, delta, lam_times_n / len(psi))


@pytest.mark.parametrize('objective', OBJECTIVES)
@pytest.mark.parametrize('lam_times_n', [1e-3, 1e-2, 0.1, 1, 10, 100, 1e3])
def test_certificate_at_every_lambda(objective, lam_times_n):
    for seed in range(12):
        problem = random_problem(seed, lam_times_n)
        found = optimum.solve(problem, objective)
        assert -1e-12 <= (found.primal - found.dual) / found.primal <= 1e-10
        assert found.primal == optimum.primal(problem, objective, found.w)
        assert found.dual == optimum.dual(problem, objective, found.alpha)


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_weak_duality_at_arbitrary_points(objective):
    rng = np.random.default_rng(3)
    for seed in range(6):
        problem = random_problem(seed, 1)
        found = optimum.solve(problem, objective)
        for _ in range(20):
            w = found.w + rng.normal(size=found.w.shape)
            alpha = [rng.dirichlet(np.full(len(cost), 0.3)) for cost in problem.delta]
            assert optimum.dual(problem, objective, alpha) <= found.dual + 1e-9 * found.primal
            assert optimum.primal(problem, objective, w) >= found.primal * (1 - 1e-9)


@pytest.mark.parametrize('lam', [0.01, 0.5, 1.9, 2.1, 30])
def test_two_classes_in_closed_form(lam):
    """One example, x = 1, psi = (1, -1): w = b psi with P(b) = lam b^2 + l(2 b)."""
    problem = optimum.Problem([np.array([[0.0, 0.0], [1.0, -1.0]])], [np.array([0.0, 1.0])], lam)
    hinge = optimum.solve(problem, 'hinge')
    assert hinge.primal == pytest.approx(lam / 4 if lam <= 2 else 1 - 1 / lam, rel=1e-9)
    np.testing.assert_allclose(hinge.w, np.array([1, -1]) * min(0.5, 1 / lam), rtol=1e-5)
    for objective, shift in (('log', 0), ('softmax-margin', 1)):
        b = brentq(lambda b, shift=shift: lam * b - 1 / (1 + np.exp(2 * b - shift)), 0, 100, xtol=1e-15)
        smooth = optimum.solve(problem, objective)
        assert smooth.primal == pytest.approx(lam * b * b + np.log1p(np.exp(shift - 2 * b)), rel=1e-10)
        np.testing.assert_allclose(smooth.w, [b, -b], rtol=1e-6)


@pytest.mark.parametrize('lam', [1e-3, 0.2, 1, 20])
def test_symmetric_multiclass_in_closed_form(lam):
    """K examples, one per class, each with an attribute of its own: P(margin) = lam (K-1)/2 m^2 + l(m)."""
    k = 4
    ones = np.arange(k, dtype=np.int32)
    data = SimpleNamespace(
        offsets=np.arange(k + 1), indptr=np.arange(k + 1), indices=ones, values=None, edge_indptr=None, labels=ones
    )
    problem = optimum.Problem.of(Enumeration('multiclass', data, k, loss='zero-one'), lam)
    curve = lam * (k - 1)
    m = min(1, 1 / curve)
    assert optimum.solve(problem, 'hinge').primal == pytest.approx(curve / 2 * m * m + max(0, 1 - m), rel=1e-9)
    for objective, shift in (('log', 0), ('softmax-margin', 1)):
        m = brentq(lambda m, s=shift: curve * m - 1 + 1 / (1 + (k - 1) * np.exp(s - m)), 0, 200, xtol=1e-15)
        wanted = curve / 2 * m * m + np.log1p((k - 1) * np.exp(shift - m))
        assert optimum.solve(problem, objective).primal == pytest.approx(wanted, rel=1e-10)


@pytest.mark.parametrize('lam_times_n', [0.1, 1, 10])
def test_hinge_agrees_with_slsqp(lam_times_n):
    """A second generic method (sequential quadratic programming) on the same constraints ends at the same value."""
    for seed in range(8):
        problem = random_problem(seed, lam_times_n)
        rows = np.concatenate(problem.psi)
        cost = np.concatenate(problem.delta)
        owner = np.eye(problem.n)[np.repeat(np.arange(problem.n), [len(c) for c in problem.delta])]
        full = np.hstack((rows, owner))
        d, lam, n = rows.shape[1], problem.lam, problem.n
        start = np.concatenate((np.zeros(d), [c.max() for c in problem.delta]))
        other = minimize(
            lambda z, d=d, lam=lam, n=n: lam / 2 * z[:d] @ z[:d] + z[d:].sum() / n,
            start,
            jac=lambda z, d=d, lam=lam, n=n: np.concatenate((lam * z[:d], np.full(n, 1 / n))),
            constraints={'type': 'ineq', 'fun': lambda z, a=full, c=cost: a @ z - c, 'jac': lambda z, a=full: a},
            method='SLSQP',
            options={'maxiter': 500, 'ftol': 1e-14},
        )
        assert other.fun == pytest.approx(optimum.solve(problem, 'hinge').primal, rel=1e-7)


@pytest.mark.parametrize('objective', SMOOTH)
def test_smooth_optima_agree_with_bfgs(objective):
    for seed in range(8):
        problem = random_problem(seed, 1)
        start = np.zeros(problem.psi[0].shape[1])
        other = minimize(lambda w, p=problem: optimum.primal(p, objective, w), start, method='BFGS')
        assert other.fun == pytest.approx(optimum.solve(problem, objective).primal, rel=1e-8)


@pytest.mark.parametrize('objective', SMOOTH)
def test_gradient_and_curvature_by_differences(objective):
    problem = random_problem(3, 0.5)
    w = np.random.default_rng(0).normal(size=problem.psi[0].shape[1])
    for of, at in ((optimum.primal, optimum.gradient), (optimum.gradient, optimum.curvature)):
        ends = [(of(problem, objective, w + h), of(problem, objective, w - h)) for h in 1e-5 * np.eye(len(w))]
        np.testing.assert_allclose(at(problem, objective, w), [(b - a) / 2e-5 for b, a in ends], atol=1e-8)


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_real_structures_are_solved(objective):
    """The enumerated problems that the solver tests use, up to 243 outputs an example."""
    for edges, loss in ((0, 'hamming'), (2, 'zero-one'), (0, tiny.cost_matrix(3))):
        data = tiny.arrays('chain', (5, 1, 3, 4), 3, edges=edges, seed=1)
        found = optimum.solve(optimum.Problem.of(Enumeration('chain', data, 3, loss), 0.05), objective)
        assert found.dual == pytest.approx(found.primal, rel=1e-10) and found.primal > 0


@pytest.mark.parametrize('lam_times_n', [1e-3, 1e-2, 0.1, 1, 10, 1e3])
@pytest.mark.parametrize('name', list(tiny.DATA))
def test_problems_of_the_solver_tests_are_solved(name, lam_times_n):
    """Every data set and loss of the solver tests, at every lambda: certified, whatever the vertex looks like."""
    data = tiny.named(name)
    task = data.task
    for loss in ('zero-one', 'hamming', tiny.cost_matrix(data.n_labels)):
        truth = Enumeration(task, data, data.n_labels, loss)
        for objective in OBJECTIVES:
            optimum.solve(optimum.Problem.of(truth, lam_times_n / len(truth.examples)), objective)


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_an_unfinished_run_is_not_believed(objective, monkeypatch):
    method = 'interior_point' if objective == 'hinge' else 'newton'
    full = getattr(optimum, method)
    monkeypatch.setattr(optimum, method, lambda problem, objective: full(problem, objective, iterations=2))
    with pytest.raises(optimum.CertificateError):
        optimum.solve(random_problem(1, 0.01), objective)


def test_an_infeasible_dual_point_is_refused():
    problem = random_problem(1, 1)
    alpha = [np.full(len(c), 1 / len(c)) for c in problem.delta]
    optimum.dual(problem, 'hinge', alpha)
    for wrong in (alpha[0] * 1.001, alpha[0] - 2 * np.eye(len(alpha[0]))[0] + 2 * np.eye(len(alpha[0]))[-1]):
        with pytest.raises(ValueError, match='not a distribution'):
            optimum.dual(problem, 'hinge', [wrong, *alpha[1:]])
