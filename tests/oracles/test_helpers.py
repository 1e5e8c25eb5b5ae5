"""Helpers of feature maps: those of a map's own do what those for any map do."""

import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import cython_ext.features
from cython_ext.common.parallel import Pool
from cython_ext.features import accumulators, capabilities
from cython_ext.features.accumulators import Accumulator, NormWindows, StatisticsAccumulator
from cython_ext.features.calls import add_parts_to, adjoint, gram_of, norm2_of, put, scores_of, step
from cython_ext.features.capabilities import AtLambda, Following, Helper, Step, Tables
from cython_ext.features.feature_map import FeatureMap
from cython_ext.features.tokens.generative import GenerativeModel
from cython_ext.tasks.build import build_problem
from tests.kernels import kernel_twin
from tests.solvers import tiny
from tests.solvers.problems import dataset_of, twin
from tests.solvers.runs import make, run
from tests.solvers.test_graph import twin as graph_twin
from tests.solvers.treebanks import treebank_problem

KINDS = {
    *(kind for module in (accumulators, capabilities) for _, kind in inspect.getmembers(module, inspect.isclass)),
    GenerativeModel,
} - {StatisticsAccumulator}  # a base of Accumulators
PROBLEMS = {
    'multiclass': lambda: twin('multiclass', 'hinge').problem,
    'chain': lambda: twin('chain', 'hinge').problem,
    'chain-triples': lambda: twin('chain-triples', 'hinge').problem,
    'kernel': lambda: kernel_twin('chain', 'hinge', {'kind': 'rbf', 'gamma': 0.3}).problem,
    'arcs': lambda: treebank_problem('spanning'),
    'graph': lambda: graph_twin('none', 'hinge', per_state=2)[0],
    'soft graph': lambda: graph_twin('soft', 'hinge', per_state=2)[0],
    'relations': lambda: treebank_problem('spanning-relations'),
}


def maps():
    """All classes of feature maps."""
    for module in pkgutil.walk_packages(cython_ext.features.__path__, 'cython_ext.features.'):
        importlib.import_module(module.name)
    found, waiting = [], [FeatureMap]
    while waiting:
        found.append(waiting.pop())
        waiting += found[-1].__subclasses__()
    return found


@pytest.fixture(params=PROBLEMS)
def problem(request):
    return PROBLEMS[request.param]()


def vectors(problem):
    """A vector over the parts of each example, by which a step might change a weight vector."""
    rng = np.random.default_rng(0)
    for i in range(problem.n):
        w = problem.features.zeros()
        w[:] = rng.normal(size=len(w))
        mean = problem.structure.exp_oracle(i, scores_of(problem.features, i, w))[1]
        yield mean - problem.structure.statistics(i, problem.structure.gold_code(i))


def test_helpers_stand_in_the_place_of_their_own_kind():
    own = [(features, kind, made) for features in maps() for kind, made in features.helpers.items()]
    assert len({features for features, _, _ in own}) > 8
    for features, kind, made in own:
        assert kind in KINDS, features
        assert not inspect.isclass(made) or issubclass(made, kind), features


def test_a_map_without_helpers_of_its_own_has_those_for_any_map():
    features = FeatureMap()
    for kind in KINDS - {Helper, GenerativeModel, Accumulator}:
        assert type(features.helper(kind)) is kind
    with pytest.raises(ValueError, match='counts is for labels'):
        features.helper(GenerativeModel)
    assert features.helper(AtLambda).at_lambda(0.5) is features
    assert features.helper(Following).scores(features.zeros()) is None


@pytest.mark.parametrize('kept', [False, True])
def test_steps_and_tables(problem, kept):
    features, rng = problem.features, np.random.default_rng(1)
    features.helper(Tables).forget()
    if kept:
        features.helper(Tables).keep()
        features.helper(Tables).keep_gram()
    for i, a in enumerate(vectors(problem)):
        w, plain = features.zeros(), features.zeros()
        w[:] = plain[:] = rng.normal(size=len(w))
        norm2 = features.inner(adjoint(features, i, a), adjoint(features, i, a))
        assert step(features, w, i, a, 0.5) == pytest.approx(norm2, rel=1e-12, abs=1e-12)
        assert norm2_of(features, i, a) == pytest.approx(norm2, rel=1e-12, abs=1e-12)
        ids = np.flatnonzero(a).astype(np.int32)
        add_parts_to(features, plain, i, ids, 0.5 * a[ids])
        np.testing.assert_allclose(w, plain, rtol=0, atol=1e-12)
        image = scores_of(features, i, adjoint(features, i, a))
        some = image != 0  # padding has none
        np.testing.assert_allclose(gram_of(features, i, a)[some], image[some], rtol=1e-12, atol=1e-12)
    assert isinstance(features.helper(Step), Step)
    features.helper(Tables).forget()


def test_sums(problem):
    features, pool = problem.features, Pool(1)
    total, expected = problem.accumulator(), features.zeros()
    assert isinstance(total, Accumulator)
    for i, a in enumerate(vectors(problem)):
        put(total, i * total.chunks // problem.n, i, a)
        expected += adjoint(features, i, a)
    found = features.zeros()
    total.total(found, pool)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert total.norm2(pool) == pytest.approx(features.inner(expected, expected), rel=1e-12)


def test_the_norm_of_a_dual_point_in_windows(problem):
    solver = make('bcfw', problem)
    run(solver, 2)
    dual, _ = solver.dual_point().certify(problem)
    assert dual > 0
    assert solver.dual_point().value(problem) == pytest.approx(dual, rel=1e-12)


def test_windows_of_labels():
    """More labels than a window has."""
    dataset = dataset_of(tiny.arrays(lengths=(3, 1, 4, 2), n_labels=19, attributes=4))
    problem = build_problem(dataset, 'chain', lam=0.1)
    assert len(list(problem.features.helper(NormWindows).accumulators(problem.n))) == 3
    test_the_norm_of_a_dual_point_in_windows(problem)
