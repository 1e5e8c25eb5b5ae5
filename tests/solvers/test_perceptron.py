"""The averaged perceptron against a few lines of Python over enumerated outputs, its end, and its dual point."""

import functools

import numpy as np
import pytest

from cython_ext.features.calls import scores_of
from data_formats.models.model import load
from tests import optimum
from tests.cli.commands import run as ssvm
from tests.kernels import explicit_features, with_features
from tests.solvers import problems, tiny
from tests.solvers.runs import go, make, run

twin = functools.cache(problems.twin)

NAMES = ['multiclass', 'multiclass-binary', 'chain', 'chain-binary', 'chain-empty', 'chain-edges', 'chain-unlinked']


class Reference:
    """Collins (2002), figure 2, keeping the weights after every example; of equally good outputs the one whose last
    label is least, then the one before it."""

    def __init__(self, truth):
        self.truth, self.history = truth, []
        self.w = np.zeros(truth.dim)
        self.wrong = [[] for _ in truth.examples]

    def best(self, i, w):
        example = self.truth.examples[i]
        scores = example.features @ w
        ties = np.flatnonzero(scores >= scores.max() - 1e-9)
        return min(ties, key=lambda y: example.codes[y][::-1])

    def visit(self, i):
        example, y = self.truth.examples[i], self.best(i, self.w)
        if y != example.gold:
            self.w = self.w + example.features[example.gold] - example.features[y]
            self.wrong[i].append(y)
        self.history.append(self.w)


def both(name, **options):
    it = twin(name, 'hinge', 'matrix', feature_set='all')
    return it, make('perceptron', it.problem, seed=2, **options), Reference(it.truth)


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('feature_set', ['all', 'observed'])
def test_weights_and_average_are_those_of_the_paper(name, feature_set):
    it = twin(name, 'hinge', 'matrix', feature_set=feature_set)
    for average in (True, False):
        solver, reference = make('perceptron', it.problem, seed=2, average=average), Reference(it.truth)
        for _ in range(12):
            if solver.finished:
                break
            before = sum(map(len, reference.wrong))
            assert solver.run_pass(go())
            for i in solver.state()['order']:
                reference.visit(i)
            ((_, w),) = solver.iterates()
            wanted = np.mean(reference.history, axis=0) if average else reference.w
            np.testing.assert_allclose(it.from_core(w), wanted, rtol=0, atol=1e-10)
            assert solver.mistakes == sum(map(len, reference.wrong)) - before
            assert solver.finished == (solver.mistakes == 0)
        assert solver.oracle_calls == len(reference.history)


def test_orders():
    it = twin('chain', 'hinge')
    given, shuffled = make('perceptron', it.problem, shuffle=False), make('perceptron', it.problem)
    orders = set()
    for _ in range(8):
        run(given, 1)
        assert given.state()['order'].tolist() == list(range(it.problem.n))
        run(shuffled, 1)
        orders.add(tuple(shuffled.state()['order'].tolist()))
    assert len(orders) > 2 and all(sorted(order) == list(range(it.problem.n)) for order in orders)


@pytest.mark.parametrize('name', NAMES)
def test_dual_point_is_its_mistakes_at_their_best_scale(name):
    """alpha moves from the right outputs towards the frequencies of the mistakes as far as D rises."""
    it, solver, reference = both(name)
    assert solver.dual_value() == 0
    for passes in range(1, 8):
        if solver.finished:
            break
        run(solver, 1)
        for i in solver.state()['order']:
            reference.visit(i)
        values = []
        for share in np.linspace(0, 1, 2001):
            alpha = []
            for example, wrong in zip(it.truth.examples, reference.wrong, strict=True):
                counts = np.bincount(wrong, minlength=len(example.codes)) * share / passes
                counts[example.gold] = 1 - counts.sum()
                alpha.append(counts)
            values.append(optimum.dual(it.plain, 'hinge', alpha))
        assert max(values) <= solver.dual_value() + it.rounding()
        assert solver.dual_value() == pytest.approx(max(values), rel=1e-4, abs=1e-9)
        assert solver.dual_value() == pytest.approx(solver.dual_point().value(it.problem), rel=1e-11, abs=1e-15)
        for a in it.alpha_of(solver.dual_point()):
            assert a.min() >= 0 and a.sum() == pytest.approx(1, abs=1e-14)


def separable(task, seed):
    """Random data relabelled with the best outputs under random weights, by a margin."""
    data = tiny.arrays(task, (3, 2, 4, 1, 3, 2), 3, attributes=5, bias=True, seed=seed)
    truth = problems.Enumeration(task, data, 3)
    w = np.random.default_rng(seed).normal(size=truth.dim)
    best = [example.codes[int((example.features @ w).argmax())] for example in truth.examples]
    data.labels = np.array([label for code in best for label in code], np.int32)
    return data


@pytest.mark.parametrize('task', ['multiclass', 'chain'])
@pytest.mark.parametrize('seed', range(5))
def test_ends_without_a_mistake_on_separable_data(task, seed):
    """Collins (2002), theorem 1: there are at most R^2 / delta^2 mistakes, delta the largest margin of unit weights."""
    data = separable(task, seed)
    problem = problems.build_problem(problems.dataset_of(data), task, 'hinge', 'zero-one', 1.0)
    truth = problems.Enumeration(task, data, 3, 'zero-one')
    plain = optimum.Problem.of(truth, 1e-9)
    best = optimum.interior_point(plain)[0]  # for a small lambda: the largest margin, or nearly so
    wrong = [np.delete(psi, example.gold, axis=0) for psi, example in zip(plain.psi, truth.examples, strict=True)]
    margin = min((psi @ best).min() for psi in wrong) / np.linalg.norm(best)
    radius = max(np.sqrt((psi**2).sum(axis=1).max()) for psi in plain.psi)
    assert margin > 0
    solver, mistakes = make('perceptron', problem, average=False), 0
    while not solver.finished:
        run(solver, 1)
        mistakes += solver.mistakes
        assert mistakes <= (radius / margin) ** 2
    ((_, w),) = solver.iterates()
    for i, example in enumerate(truth.examples):
        _, code = problem.structure.max_oracle(i, scores_of(problem.features, i, w))
        assert tuple(code.tolist()) == example.codes[example.gold]


def test_lambda_and_task_loss_have_no_influence():
    weights = []
    for loss, lam in (('hamming', 1.0), ('matrix', 1e-3), ('zero-one', 100.0)):
        it = twin('chain', 'hinge', loss, lam)
        weights.append(run(make('perceptron', it.problem, seed=4), 5).iterates()[0][1].tobytes())
    assert len(set(weights)) == 1


@pytest.mark.parametrize('threads', [1, 2])
def test_the_command_makes_ten_passes_and_keeps_the_last_weights(tmp_path, threads):
    """Not those whose hinge loss is least, which are the first ones here."""
    rng = np.random.default_rng(0)
    lines = [''.join(f'{rng.integers(3)} {k}:{rng.normal():.3f} 5:1\n' for k in (1, 2)) for _ in range(40)]
    (tmp_path / 'train.svm').write_text(''.join(lines))
    how = ['train', '--solver', 'perceptron', '--threads', threads, '--log', tmp_path / 'log.csv']
    how.append(tmp_path / 'train.svm')
    ssvm(*how, tmp_path / 'model')
    rows = [line.split(',') for line in (tmp_path / 'log.csv').read_text().splitlines()[1:]]
    column = rows[0].index('primal')
    primals = [float(row[column]) for row in rows[1:]]
    assert rows[-1][0] == '10' and min(primals) < primals[-1]
    header = load(tmp_path / 'model').header
    assert header['status'] == 'max-passes' and header['primal'] == primals[-1]
    assert 'not converged' in ssvm('gap', tmp_path / 'train.svm', tmp_path / 'model').stdout
    ssvm(*how, '--max-passes', 3, tmp_path / 'short')
    assert load(tmp_path / 'short').header['passes'] == 3


@pytest.mark.parametrize('kernel', [{'kind': 'poly', 'degree': 2}, {'kind': 'rbf', 'gamma': 0.4}])
@pytest.mark.parametrize('task', ['multiclass', 'chain'])
def test_kernels(task, kernel):
    """The same mistakes as with features whose inner products are the kernel's, and an average with the same scores."""
    data = tiny.arrays(task, (3, 1, 4, 2), 3, attributes=4, seed=2)
    linear = with_features(data, explicit_features(data, **kernel))
    pair = [
        make('perceptron', problems.build_problem(problems.dataset_of(d), task, 'hinge', 'hamming', 0.3, kernel=k))
        for d, k in ((data, kernel), (linear, None))
    ]
    for _ in range(6):
        for solver in pair:
            run(solver, 1)
        ours, theirs = pair
        assert ours.mistakes == theirs.mistakes
        assert ours.dual_value() == pytest.approx(theirs.dual_value(), rel=1e-9)
        assert ours.dual_value() == pytest.approx(ours.dual_point().value(ours.problem), rel=1e-9)
        for i in range(ours.problem.n):
            scores = [scores_of(s.problem.features, i, s.iterates()[0][1]) for s in pair]
            np.testing.assert_allclose(*scores, rtol=0, atol=1e-9)
