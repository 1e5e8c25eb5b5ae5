"""n-slack and one-slack: every variant of the hinge reaches its optimum, the dual rises, Theorem 18 holds."""

import functools

import numpy as np
import pytest

from cython_ext.objectives.registry import Variant
from cython_ext.solvers.registry import solver_info
from cython_ext.solvers.solver import NoSolution
from cython_ext.tasks.build import build_problem
from tests import variants
from tests.enumeration import Enumeration
from tests.solvers import problems, tiny
from tests.solvers.runs import bounds, go, make

SOFT = [Variant(), Variant('slack'), Variant('margin', 2), Variant('slack', 2)]
RUNS = [('n-slack', {}), ('n-slack', {'reoptimise': 'subspace'}), ('n-slack', {'every': 1}), ('one-slack', {}),
        ('one-slack', {'rounds': 0}), ('bcfw', {}), ('bcfw', {'acceleration': False})]  # fmt: skip


@functools.cache
def twin(name, loss, variant, lam):
    data = tiny.named(name)
    cost = tiny.cost_matrix(data.n_labels) if loss == 'matrix' else loss
    problem = build_problem(
        problems.dataset_of(data), data.task, 'hinge', cost, lam, variant=variant, structure=data.structure
    )
    truth = Enumeration(data.task, data, data.n_labels, cost, 'all')
    return problems.Twin(problem, None, truth, None, 'hinge')


@functools.cache
def best(name, loss, variant, lam):
    return variants.solve(twin(name, loss, variant, lam).truth, variant, lam)


@pytest.mark.parametrize('lam', [0.02, 0.3, 3.0])
@pytest.mark.parametrize('variant', SOFT, ids=lambda v: '+'.join(v.names) or 'plain')
@pytest.mark.parametrize(
    ('name', 'loss'),
    [('multiclass', 'zero-one'), ('multiclass', 'matrix'), ('chain', 'hamming'), ('chain-edges', 'hamming'),
     ('chain-empty', 'zero-one')],
)  # fmt: skip
@pytest.mark.parametrize(('solver', 'options'), RUNS, ids=lambda v: v if isinstance(v, str) else str(v)[1:-1])
def test_every_variant_reaches_its_optimum(solver, options, name, loss, variant, lam):
    if any(wanted not in solver_info(solver).variants for wanted in variant.names):
        return
    it, optimum = twin(name, loss, variant, lam), best(name, loss, variant, lam)
    method = make(solver, it.problem, **options)
    primal, dual = 1e300, 0.0
    while primal - dual > 1e-6 * primal and not method.finished and method.passes < 500:
        assert method.run_pass(go())
        now, dual_now = bounds(method)
        assert dual_now <= optimum * (1 + 1e-9)
        assert now >= optimum * (1 - 1e-9)
        if solver != 'bcfw' or options:  # accelerated, the dual may fall
            assert dual_now >= dual - 1e-13 * max(1, optimum)
        primal, dual = min(primal, now), max(dual, dual_now)
    assert primal - dual <= 1e-6 * primal < 1e3
    value, w = method.dual_point().certify(it.problem)
    assert value == pytest.approx(method.dual_value(), rel=1e-9)
    # the least primal is one of the iterates, recomputed from all outputs
    assert variants.primal(it.truth, variant, lam, it.from_core(w)) >= optimum * (1 - 1e-9)


def separable(task, seed=0):
    """Data that w = w* separates: labels are its predictions."""
    lengths = (2,) * 6 if task == 'chain' else (1,) * 12
    data = tiny.arrays(task, lengths, 3, attributes=5, seed=seed)
    if np.diff(data.indptr).min() == 0:  # a token without attributes cannot be told from others
        return separable(task, seed + 1)
    rng = np.random.default_rng(seed)
    matrix = np.zeros((data.offsets[-1], 5))
    rows = np.repeat(np.arange(len(matrix)), np.diff(data.indptr))
    matrix[rows, data.indices] = data.values
    data.labels = (matrix @ rng.normal(size=(5, 3))).argmax(axis=1).astype(np.int32)
    data.task = task
    return data


@pytest.mark.parametrize('task', ['multiclass', 'chain'])
@pytest.mark.parametrize('options', [{}, {'reoptimise': 'subspace'}])
def test_the_hard_margin_of_separable_data(task, options):
    data, variant = separable(task), Variant(hard_margin=True)
    problem = build_problem(problems.dataset_of(data), task, 'hinge', lam=7.0, variant=variant)
    truth = Enumeration(task, data, data.n_labels, 'zero-one', 'all')
    optimum = variants.solve(truth, variant, 1.0)
    method = make('n-slack', problem, **options)
    primal, dual = 1e300, 0.0
    while not primal - dual <= 1e-5 * primal and method.passes < 3000:
        assert method.run_pass(go())
        now, dual_now = bounds(method)
        assert dual - 1e-12 <= dual_now <= optimum * (1 + 1e-9)
        assert now >= optimum * (1 - 1e-9)
        primal, dual = min(primal, now), max(dual, dual_now)
    assert primal - dual <= 1e-5 * primal
    w = problems.Twin(problem, None, truth, None, 'hinge').from_core(method.iterates()[0][1])
    assert variants.primal(truth, variant, 1.0, w) == pytest.approx(optimum, rel=2e-5)


def test_a_hard_margin_that_does_not_exist_ends_the_run():
    data = separable('multiclass')
    twice = {'offsets': np.arange(25), 'indptr': np.concatenate([data.indptr, data.indptr[1:] + data.indptr[-1]]),
             'indices': np.tile(data.indices, 2), 'values': np.tile(data.values, 2),
             'labels': np.concatenate([data.labels, (data.labels + 1) % 3]).astype(np.int32)}  # fmt: skip
    vars(data).update(twice)
    problem = build_problem(problems.dataset_of(data), 'multiclass', 'hinge', variant=Variant(hard_margin=True))
    method = make('n-slack', problem)
    with pytest.raises(NoSolution, match='cannot be separated'):
        for _ in range(100):
            method.run_pass(go())


@pytest.mark.parametrize('variant', SOFT, ids=lambda v: '+'.join(v.names) or 'plain')
@pytest.mark.parametrize('epsilon', [1.0, 0.1, 0.01])
@pytest.mark.parametrize('options', [{}, {'reoptimise': 'subspace'}, {'every': 1}])
def test_a_fixed_epsilon_ends_the_run_within_the_bound_of_theorem_18(variant, epsilon, options):
    """At the end no constraint is violated by more, so that P - D <= epsilon with slack norm 1, and the mean of
    epsilon xi + epsilon^2 / 2 with norm 2; and there are no more constraints than the theorem allows."""
    it = twin('chain', 'hamming', variant, 0.1)
    method = make('n-slack', it.problem, epsilon=epsilon, **options)
    while not method.finished:
        assert method.run_pass(go())
        assert method.passes < 1000
    primal, dual = bounds(method)
    ((_, w),) = method.iterates()
    losses = it.problem.evaluate(w).loss_values
    allowed = epsilon if variant.slack_norm == 1 else epsilon * np.sqrt(2 * losses).mean() + epsilon**2 / 2
    assert primal - dual <= allowed * (1 + 1e-9)
    figures = method.figures(primal)
    assert 0 < figures['constraints'] <= figures['constraint_bound'] < np.inf


@pytest.mark.parametrize('cost', [1.0, 100.0])
def test_a_fixed_epsilon_ends_where_slacks_are_large(cost):
    """With slack norm 2 a violation of epsilon is a gap of about epsilon times the slack: there is nothing to add after
    a pass or two, and then the run has to end."""
    data = tiny.named('multiclass')
    costs = cost * (1 - np.eye(data.n_labels))
    problem = build_problem(problems.dataset_of(data), 'multiclass', 'hinge', costs, 1.0, variant=Variant(slack_norm=2))
    method = make('n-slack', problem, epsilon=0.1)
    while not method.finished:
        assert method.run_pass(go())
        assert method.passes < 50
    primal, dual = bounds(method)
    assert 0 < primal - dual <= 0.1 * np.sqrt(2 * primal) + 0.005


def test_outputs_of_the_cache_spare_oracle_calls():
    """Cuts from the cache bring the gap down without the oracle."""
    it = twin('chain', 'hamming', Variant(), 0.02)
    passes = {}
    for rounds in (0, 5):
        method = make('one-slack', it.problem, rounds=rounds)
        primal, dual = 1e300, 0.0
        while primal - dual > 1e-4 * primal:
            assert method.run_pass(go())
            now, dual = bounds(method)
            primal = min(primal, now)
        passes[rounds] = method.passes
        assert method.oracle_calls == method.passes * it.problem.n
    assert passes[5] < 0.8 * passes[0]


@pytest.mark.parametrize('variant', SOFT, ids=lambda v: '+'.join(v.names) or 'plain')
@pytest.mark.parametrize('name', ['multiclass', 'chain', 'one chain'])
@pytest.mark.parametrize('lam', [0.02, 0.3])
@pytest.mark.parametrize('epsilon', [0.3, 0.01])
def test_each_constraint_raises_the_dual_as_propositions_14_to_17_say(variant, name, lam, epsilon):
    """One chain: a pass is one visit, and its constraint is the only one. Otherwise those of a pass together. In units
    of this objective, which is lambda times the paper's (C = 1 / lambda)."""
    it = chain_alone(variant, lam) if name == 'one chain' else twin(name, 'hamming', variant, lam)
    method = make('n-slack', it.problem, epsilon=epsilon, every=1)
    least, n = min(improvements(it.truth, variant, lam, epsilon)), it.problem.n
    dual, constraints, added = method.dual_value() or 0.0, method.figures(1.0)['constraints'], 0
    while not method.finished:
        assert method.run_pass(go())
        now, held = method.dual_value(), method.figures(1.0)['constraints']
        assert held - constraints <= n
        assert now - dual >= (held - constraints) * least * (1 - 1e-9) - 1e-13
        dual, constraints, added = now, held, added + held - constraints
    assert added >= 2


@functools.cache
def chain_alone(variant, lam):
    data = tiny.arrays(lengths=(4,), n_labels=3, attributes=4, seed=5)
    problem = build_problem(problems.dataset_of(data), 'chain', 'hinge', 'hamming', lam, variant=variant)
    truth = Enumeration('chain', data, data.n_labels, 'hamming', 'all')
    return problems.Twin(problem, None, truth, None, 'hinge')


def improvements(truth, variant, lam, epsilon):
    """By how much a constraint of each example that is violated by epsilon raises the dual at least."""
    n = len(truth.examples)
    for example in truth.examples:
        radius2, most = (example.differences**2).sum(axis=1).max(), example.losses.max()
        if variant.slack_norm == 2:
            curve = (most if variant.rescale == 'slack' else 1.0) * radius2 + n * lam
            yield lam * epsilon**2 / (2 * curve)
        else:
            curve = (most**2 if variant.rescale == 'slack' else 1.0) * radius2
            yield min(epsilon / (2 * n), lam * epsilon**2 / (8 * curve))
