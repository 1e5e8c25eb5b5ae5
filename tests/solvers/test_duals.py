"""Kinds of dual points: what models and checkpoints hold of each, and what becomes of damaged arrays."""

import numpy as np
import pytest

from cython_ext.duals.mixture import MixturePoint
from cython_ext.duals.natural import NaturalPoint
from cython_ext.duals.registry import KINDS, from_arrays, kind_of
from cython_ext.duals.scores import ScoresPoint, TemperedPoint
from cython_ext.duals.sparse import SparsePoint
from tests.solvers.problems import twin
from tests.solvers.runs import make, run

MADE = ('sparse', 'natural', 'natural, hinge', 'scores', 'scores, hinge', 'tempered', 'mixture', 'mixture, hinge')
EVERY_KIND = pytest.mark.parametrize('name', MADE)


def made(name):
    """(problem, weights of a model that holds the point, the point)."""
    of_hinge = name in ('sparse', 'tempered') or name.endswith(', hinge')
    it = twin('chain', 'hinge' if of_hinge else 'log', 'hamming', 0.7)
    solver = run(make('bcfw' if name == 'sparse' else 'eg', it.problem), 3)
    w = np.array(solver.iterates()[0][1])
    if name.startswith('mixture'):
        parts = [ScoresPoint.of(it.problem, scale * w, 0.5 if of_hinge else None) for scale in (1.0, 0.3, -2.0)]
        return it.problem, w, MixturePoint([0.5, 0.2, 0.3], parts)
    if name.startswith('scores'):
        return it.problem, w, ScoresPoint.of(it.problem, w, 0.5 if of_hinge else None)
    return it.problem, w, TemperedPoint.at(0.5) if name == 'tempered' else solver.dual_point()


def copies(arrays):
    return {name: array.copy() for name, array in arrays.items()}


@EVERY_KIND
def test_arrays_and_back(name):
    problem, w, point = made(name)
    arrays = point.arrays()
    back = from_arrays(copies(arrays))
    assert type(back) is type(point) is kind_of(arrays)
    assert list(back.arrays()) == list(arrays)
    for key, array in back.arrays().items():
        assert array.dtype == arrays[key].dtype and array.tobytes() == arrays[key].tobytes(), key
    assert back.value(problem, w) == point.value(problem, w)


def test_every_kind_is_among_these():
    assert {type(made(name)[2]) for name in MADE} == set(KINDS)


@EVERY_KIND
def test_the_names_of_arrays_are_of_one_kind(name):
    """Those that models of all versions have."""
    names = {
        'sparse': ['indptr', 'weights', 'code_indptr', 'codes'],
        'natural': ['theta_indptr', 'theta'],
        'scores': ['weights.state', 'weights.transition'],
        'tempered': ['temperature'],
    }
    arrays = made(name)[2].arrays()
    kind, of_hinge = name.removesuffix(', hinge'), name in ('scores, hinge', 'mixture, hinge')
    wanted = names['scores' if kind == 'mixture' else kind] + ['temperature'] * of_hinge
    if kind == 'mixture':
        wanted = ['shares', *(f'{k}.{key}' for k in range(3) for key in wanted)]
    assert list(arrays) == wanted
    assert [kind for kind in KINDS if kind.has(set(arrays))] == [kind_of(arrays)]


@EVERY_KIND
def test_arrays_that_are_missing_or_too_many(name):
    arrays = made(name)[2].arrays()
    for key in arrays:
        rest = {other: array for other, array in arrays.items() if other != key}
        kind = kind_of(rest)
        if name == 'scores, hinge' and key.startswith('weights.'):
            assert kind is ScoresPoint  # which block it has to have, only the problem knows
        elif name == 'scores, hinge' or name == 'scores':
            assert kind in (ScoresPoint, None)
        elif name.startswith('mixture') and key != 'shares':
            assert kind is MixturePoint  # likewise
        else:
            assert kind is None
        if kind is None:
            with pytest.raises(ValueError, match='no dual point has'):
                from_arrays(rest)
            with pytest.raises(ValueError, match='the dual point has no'):
                type(made(name)[2]).from_arrays(rest)
    with pytest.raises(ValueError, match='no dual point has'):
        from_arrays(arrays | {'others': np.zeros(1)})


def test_blocks_of_weights_that_are_missing():
    for name in ('scores', 'scores, hinge'):
        problem, _, point = made(name)
        arrays = point.arrays()
        del arrays['weights.transition']
        with pytest.raises(ValueError, match='transition'):
            from_arrays(arrays).value(problem)


@EVERY_KIND
def test_damaged_arrays_are_refused_or_worth_what_they_are(name):
    """Numbers that are none, of another sign, too few or too many: no value is above the optimum."""
    problem, w, point = made(name)
    best = min(problem.evaluate(v).primal for v in (w, problem.features.zeros()))
    refused = 0
    for key, array in point.arrays().items():
        nothing = np.nan if array.dtype.kind == 'f' else -7
        damages = (
            lambda a, nothing=nothing: np.full_like(a, nothing),
            np.negative,
            lambda a: a[:-1],
            lambda a: np.append(a, a.flat[:1]),
            lambda a: a[None],
            lambda a: a + 1,
        )
        for damage in damages:
            arrays = copies(point.arrays())
            arrays[key] = damage(arrays[key])
            try:
                assert from_arrays(arrays).value(problem, w) <= best * (1 + 1e-9)
            except ValueError:
                refused += 1
    assert refused >= 2


@pytest.mark.parametrize('change', [{'indptr': [1]}, {'indptr': []}, {'codes': [[0]]}, {'code_indptr': [0, 1, 1]}])
def test_lists_that_do_not_fit_together(change):
    arrays = {'indptr': [0, 1], 'weights': [1.0], 'code_indptr': [0, 1], 'codes': [0]}
    assert SparsePoint(**arrays).outputs(0)[1].tolist() == [[0]]
    with pytest.raises(ValueError, match='do not fit together'):
        SparsePoint.from_arrays(arrays | change)


def test_a_point_of_other_examples():
    other = twin('multiclass', 'hinge').problem
    for name, match in (('sparse', 'examples|outputs'), ('natural, hinge', 'other examples')):
        _, _, point = made(name)
        with pytest.raises(ValueError, match=match):
            point.value(other)
        with pytest.raises(ValueError, match=match):
            point.certify(other)


def test_lists_of_outputs_prove_nothing_for_log_losses():
    point = made('sparse')[2]
    with pytest.raises(ValueError, match='log has no sparse dual points'):
        point.value(twin('chain', 'log').problem)


def test_a_temperature_alone_is_that_of_the_weights_beside_it():
    problem, w, point = made('tempered')
    assert point.value(problem, w) == problem.evaluate(w, True, temperature=0.5).dual
    with pytest.raises(ValueError, match='there are none'):
        point.value(problem)
    assert point.temperature_for(problem) == 0.5
    assert point.temperature_for(twin('chain', 'hinge', 'zero-one').problem) is None
    for wrong in (np.array([0.0]), np.array([np.inf]), np.array([0.5, 0.5]), np.array(0.5)):
        assert TemperedPoint(wrong).temperature_for(problem) is None
        with pytest.raises(ValueError, match='no positive number'):
            TemperedPoint(wrong).value(problem, w)


@EVERY_KIND
def test_solvers_begin_at_points_that_are_written_down(name):
    problem, _, point = made(name)
    able = {'sparse': ('bcfw', 'fw', 'n-slack'), 'natural': ('eg', 'eg-batch'), 'natural, hinge': ('eg', 'eg-batch')}
    for solver in ('bcfw', 'fw', 'n-slack', 'eg', 'eg-batch'):
        if problem.sums and solver in able['sparse']:
            continue
        begun = make(solver, problem)
        if solver in able.get(name, ()):
            begun.set_dual_point(point)
            assert begun.dual_value() == pytest.approx(point.value(problem), rel=1e-6)
        else:
            with pytest.raises(ValueError, match='dual point'):
                begun.set_dual_point(point)


@EVERY_KIND
def test_outputs_are_told_where_they_are_listed(name):
    point = made(name)[2]
    if not isinstance(point, SparsePoint):
        assert point.outputs(0) is None and (isinstance(point, NaturalPoint) == name.startswith('natural'))
        return
    for i in range(len(point.indptr) - 1):
        weights, codes = point.outputs(i)
        assert weights.sum() == pytest.approx(1.0) and len(codes) == len(weights) > 0
