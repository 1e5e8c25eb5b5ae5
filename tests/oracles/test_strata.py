"""The variants of the hinge loss against the list of all outputs: value, maximiser, and dual of random points."""

import numpy as np
import pytest

from cython_ext.duals.sparse import SparsePoint
from cython_ext.objectives.registry import Variant
from cython_ext.tasks.build import build_problem
from tests.enumeration import Enumeration
from tests.solvers import problems, tiny
from tests.variants import terms

VARIANTS = [Variant('slack', 1), Variant('margin', 2), Variant('slack', 2)]
LOSSES = [(name, loss) for name in tiny.DATA for loss in ('zero-one', 'hamming')]
LOSSES += [('multiclass', 'matrix'), ('multiclass-binary', 'matrix')]


def twin(name, loss, variant, lam=0.3):
    data = tiny.named(name)
    cost = tiny.cost_matrix(data.n_labels) if loss == 'matrix' else loss
    problem = build_problem(
        problems.dataset_of(data), data.task, 'hinge', cost, lam, variant=variant, structure=data.structure
    )
    return problems.Twin(problem, None, Enumeration(data.task, data, data.n_labels, cost, 'all'), None, 'hinge')


@pytest.mark.parametrize('variant', VARIANTS, ids=lambda v: '+'.join(v.names))
@pytest.mark.parametrize(('name', 'loss'), LOSSES)
@pytest.mark.parametrize('size', [0.0, 1.0, 100.0])
def test_the_loss_of_every_example(name, loss, variant, size):
    it = twin(name, loss, variant)
    w = size * np.random.default_rng(1).normal(size=it.truth.dim)
    wanted = []
    for example in it.truth.examples:
        b, c = terms(example.losses, variant)
        margin = (b - c * (example.differences @ w)).max()
        wanted.append(margin if variant.slack_norm == 1 else margin**2 / 2)
    evaluation = it.problem.evaluate(it.to_core(w))
    np.testing.assert_allclose(evaluation.loss_values, wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize('variant', [*VARIANTS, Variant(hard_margin=True)], ids=lambda v: '+'.join(v.names))
@pytest.mark.parametrize('name', ['multiclass', 'chain', 'chain-edges'])
def test_the_dual_of_random_points(name, variant):
    it = twin(name, 'zero-one' if variant.hard_margin else 'hamming', variant)
    rng, problem = np.random.default_rng(2), it.problem
    indptr, weights, codes, value, w = [0], [], [], 0.0, 0.0
    for example in it.truth.examples:
        chosen = rng.choice(len(example.codes), size=min(3, len(example.codes)), replace=False)
        alpha = rng.random(len(chosen))
        if not problem.objective.free_mass:
            alpha /= alpha.sum()
        b, c = terms(example.losses, variant)
        value += (alpha @ b[chosen] - problem.objective.ridge / 2 * alpha.sum() ** 2) / problem.n
        w = w + (alpha * c[chosen]) @ example.differences[chosen] / (problem.lam * problem.n)
        weights += alpha.tolist()
        codes += [example.codes[k] for k in chosen]
        indptr.append(len(weights))
    lengths = [len(code) for code in codes]
    codes = np.concatenate([np.array(code, np.int32) for code in codes])
    point = SparsePoint(indptr, weights, np.concatenate([[0], np.cumsum(lengths)]), codes)
    value -= problem.lam / 2 * (w @ w)
    found, vector = point.certify(problem)
    assert found == pytest.approx(value, rel=1e-12)
    assert point.value(problem) == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(it.from_core(vector), w, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize('name', ['multiclass', 'chain'])
def test_a_hard_margin_is_infinite_where_it_is_violated(name):
    it = twin(name, 'zero-one', Variant(hard_margin=True))
    assert it.problem.lam == 1.0
    assert it.problem.evaluate(it.problem.features.zeros()).primal == np.inf


@pytest.mark.parametrize(
    ('objective', 'loss', 'variant', 'message'),
    [
        ('log', None, Variant('slack'), 'variants of hinge, not of log'),
        ('hinge', 'zero-one', Variant('slack', hard_margin=True), 'no slacks'),
        ('hinge', tiny.cost_matrix(3), Variant('slack'), 'which nothing finds'),
    ],
)
def test_what_does_not_fit_is_refused(objective, loss, variant, message):
    data = problems.dataset_of(tiny.named('chain'))
    with pytest.raises(ValueError, match=message):
        build_problem(data, 'chain', objective, loss, 1.0, variant=variant)
