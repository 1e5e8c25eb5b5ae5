"""dlpw on tiny factor graphs: its bounds hold in every pass, with smoothing it reaches the optimum of the smoothed
problem over weights and messages together, which another method finds, and for little smoothing that of the relaxed
problem."""

import functools

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from cython_ext.core.problem import Problem
from cython_ext.losses.graph import NodeCosts
from cython_ext.objectives.registry import build_objective
from cython_ext.solvers.registry import solver_info
from cython_ext.tasks.build import build_problem
from cython_ext.tasks.fit import Wanted, check_fit
from cython_ext.tasks.relaxations import build_relaxed
from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.multilabel import LabelSetDataset
from tests import graphs, optimum
from tests.oracles.test_graph import Flat
from tests.oracles.test_messages import maps
from tests.solvers.runs import go, make, run
from tests.solvers.test_graph import BINARY, LAM, SEED, twin

TREES = ('tree', 'node', 'apart')


def relaxed_problem(layout, threads=1):
    structure, features = build_relaxed(layout, Flat(layout), 'lp', None, LAM)
    objective = build_objective('hinge', structure, NodeCosts.on(structure))
    return Problem(structure, features, objective, LAM, ('graph', 'hinge', 'hamming'), threads)


@functools.cache
def of_trees():
    """(problem, its optimum), which is that of the labelings."""
    layout = graphs.layout(TREES, seed=2, tied=True)
    plain = optimum.Problem.of(graphs.GraphEnumeration(layout), LAM)
    return relaxed_problem(layout), optimum.solve(plain, 'hinge')


def smoothed_optimum(layout, temperature):
    """The least g(w, delta) with smoothed maxima, by quasi-Newton steps on all variables at once."""
    truth = graphs.GraphEnumeration(layout)
    pieces, at = [], truth.dim
    for i in range(layout.n):
        parts, matrices, _ = maps(truth, i)
        features = truth.dense([truth.features_of(i, *key) for key in truth.part_keys(i)])
        right, nodes = truth.examples[i].parts[truth.examples[i].gold], len(truth.states(i))
        costs = np.concatenate([(1 - right[part]) * (f < nodes) for f, part in enumerate(parts)])
        places = slice(at, at + matrices[0].shape[1])
        pieces.append((features, right, costs, parts, np.vstack(matrices), places))
        at = places.stop

    def both(x):
        w = x[: truth.dim]
        value, slope = LAM / 2 * w @ w, np.zeros(at)
        slope[: truth.dim] = LAM * w
        for features, right, costs, parts, meets, places in pieces:
            theta = features @ w
            scores = (theta + costs + meets @ x[places]) / temperature
            mean = np.concatenate([softmax(scores[part]) for part in parts])
            value += (temperature * sum(logsumexp(scores[part]) for part in parts) - theta @ right) / layout.n
            slope[: truth.dim] += (mean - right) @ features / layout.n
            slope[places] += mean @ meets / layout.n
        return value, slope

    found = minimize(both, np.zeros(at), jac=True, method='L-BFGS-B', options={'maxiter': 20000, 'gtol': 1e-10})
    return both, found


def joint(method):
    """The variables of smoothed_optimum: the last weights, of a run without average, and the messages."""
    ((_, w),) = method.iterates()
    return np.concatenate([w, method.state()['messages'][:-1]])


@pytest.mark.parametrize('temperature', [0.1, 1.0])
def test_it_reaches_the_optimum_of_the_smoothed_problem(temperature):
    layout = graphs.layout(BINARY, seed=SEED['lp'], tied=True)
    value_of, best = smoothed_optimum(layout, temperature)
    method = make('dlpw', relaxed_problem(layout), seed=1, smoothing=temperature, average=False)
    values = []
    for passes in (10, 90, 900, 3000):
        run(method, passes)
        values.append(value_of(joint(method))[0] - best.fun)
    assert values == sorted(values, reverse=True)
    assert -1e-9 <= values[-1] <= 1e-4 * best.fun


@pytest.mark.parametrize('options', [{}, {'smoothing': 0.01}, {'sweeps': 7, 'average': False}, {'step': 1.0}], ids=str)
def test_bounds_hold_in_every_pass(options):
    problem, _, best, _ = twin('lp', 'hinge')
    method = make('dlpw', problem, seed=3, **options)
    for _ in range(60):
        ((_, w),) = method.iterates()
        below, above = problem.evaluate(w), method.evaluation()
        assert (below.loss_values <= above.loss_values + 1e-9).all()
        assert best.dual - 1e-9 <= below.primal <= above.primal + 1e-9
        point = method.dual_point()
        dual, _ = point.certify(problem)
        assert dual == pytest.approx(method.dual_value(), rel=1e-9, abs=1e-12)
        assert -1e-12 <= dual <= best.primal + 1e-9
        for i, code in enumerate(np.split(point.codes, point.code_indptr[1:-1])):
            assert problem.structure.is_output(i, code)
        assert method.run_pass(go())


def test_before_the_first_pass_there_are_no_weights():
    problem = twin('lp', 'hinge')[0]
    method = make('dlpw', problem)
    assert [name for name, _ in method.iterates()] == ['current'] and not method.iterates()[0][1].any()
    assert method.evaluation().primal == pytest.approx(problem.evaluate(method.iterates()[0][1]).primal)
    assert method.dual_value() == 0


def test_with_little_smoothing_it_reaches_the_relaxed_optimum():
    """A smoothed maximum of K numbers is at most T log K above theirs, so the weights at the smoothed optimum are
    within T sum log K of the relaxed one."""
    problem, _, best, _ = twin('lp', 'hinge')
    layout = problem.structure.graphs.layout
    sizes = [layout.types[kind].size for s in layout.shape_of for kind in layout.shapes[s].types]
    for temperature, near in ((0.1, 0.5), (0.01, 0.05), (0.001, 0.01)):
        method = make('dlpw', problem, seed=1, smoothing=temperature, sweeps=10)
        run(method, 3000)
        primal = problem.evaluate(method.iterates()[0][1]).primal
        assert primal - best.primal <= min(near * best.primal, temperature * np.log(sizes).sum() / layout.n + 1e-3)
        assert method.evaluation().primal - best.primal <= 1.5 * near * best.primal
        assert best.primal - method.dual_value() <= near * best.primal


def test_maxima_come_near_the_relaxed_optimum():
    """Without smoothing a step follows one of several best joint states of each factor, and these need not agree: the
    weights stay at a distance."""
    problem, _, best, _ = twin('lp', 'hinge')
    method = make('dlpw', problem, seed=1, sweeps=20)
    run(method, 3000)
    assert method.evaluation().primal <= 1.02 * best.primal
    assert method.dual_value() > 0.5 * best.primal


@pytest.mark.parametrize(('smoothing', 'near'), [(0.0, 0.03), (0.001, 0.01)])
def test_it_reaches_the_exact_optimum_of_trees(smoothing, near):
    problem, best = of_trees()
    method = make('dlpw', problem, seed=1, smoothing=smoothing, sweeps=10)
    run(method, 3000)
    assert best.dual - 1e-9 <= method.evaluation().primal <= (1 + near) * best.primal
    assert method.dual_value() <= best.primal + 1e-9


def label_sets(n=12, labels=4, attributes=5):
    rng = np.random.default_rng(3)
    values = rng.normal(size=(n, attributes))
    found = values @ rng.normal(size=(attributes, labels)) + rng.normal(size=(n, labels)) > 0
    return LabelSetDataset(
        indptr=np.arange(0, n * attributes + 1, attributes),
        indices=np.tile(np.arange(attributes, dtype=np.int32), n),
        values=values.ravel(),
        label_indptr=np.concatenate([[0], np.cumsum(found.sum(axis=1))]),
        label_ids=np.nonzero(found)[1].astype(np.int32),
        attributes=Vocabulary([f'a{k}'.encode() for k in range(attributes)]),
        label_names=Vocabulary([f'y{k}'.encode() for k in range(labels)]),
    )


def test_it_reaches_the_relaxed_optimum_of_label_sets():
    problem = build_problem(label_sets(), 'multilabel', lam=0.05, structure={'relaxation': 'lp'})
    best = run(make('n-slack', problem), 300)
    assert best.dual_value() > 0.99999 * problem.evaluate(best.iterates()[0][1]).primal
    method = make('dlpw', problem, seed=1, smoothing=0.001, sweeps=5)
    run(method, 3000)
    assert 0 <= method.evaluation().primal - best.dual_value() <= 0.01 * best.dual_value()
    assert 0 <= best.dual_value() * (1 + 1e-5) - method.dual_value() <= 0.02 * best.dual_value()


def test_first_steps_are_short_where_lambda_is_small():
    """With eta/t itself, t0 = 1, twenty passes end above the objective of no weights at all."""
    problem = build_problem(label_sets(n=40, labels=8), 'multilabel', lam=1e-4, structure={'relaxation': 'lp'})
    found = []
    for options in ({}, {'t0': 1.0}):
        method = make('dlpw', problem, seed=1, **options)
        nothing = method.evaluation().primal
        run(method, 20)
        found.append(method.evaluation().primal / nothing)
    assert found[0] < 0.5 and found[1] > 1


@pytest.mark.parametrize('relaxation', ['none', 'soft'])
def test_it_is_for_the_local_polytope(relaxation):
    layout = graphs.layout(BINARY, seed=4, tied=True)
    structure, features = build_relaxed(layout, Flat(layout), relaxation, 1.0, LAM)
    objective = build_objective('hinge', structure, NodeCosts.on(structure))
    problem = Problem(structure, features, objective, LAM, ('graph', 'hinge', 'hamming'))
    with pytest.raises(ValueError, match=r'dlpw needs the messages oracle, which graph lacks \(solvers for hinge'):
        check_fit(solver_info('dlpw'), Wanted.of(problem))
