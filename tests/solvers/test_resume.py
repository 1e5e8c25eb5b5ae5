"""Stopping changes nothing: not inside a pass, not between passes, not with a state saved and restored."""

import functools
import time

import numpy as np
import pytest

from cython_ext.core.problem import Interrupted
from cython_ext.solvers.registry import MODULES, solver_info
from cython_ext.tasks.build import build_problem
from tests import graphs
from tests.solvers import problems, tiny
from tests.solvers.runs import everything, go, interrupted_pass, make, run, saved
from tests.solvers.test_dlpw import relaxed_problem
from tests.solvers.test_optimum import RELAXED

twin = functools.cache(problems.twin)

CASES = [
    ('bcfw', {}, 'hinge'),
    ('bcfw', {'acceleration': False, 'sampling': 'uniform', 'average': True}, 'hinge'),
    ('bcfw', {'acceleration': False, 'sampling': 'gap', 'cache': 1}, 'hinge'),
    ('bcfw', {'acceleration': False, 'steps': 'plain'}, 'hinge'),
    ('excessive-gap', {}, 'hinge'),
    ('excessive-gap', {'adaptive': True}, 'hinge'),
    ('eg', {}, 'hinge'),
    ('eg', {'order': 'fixed'}, 'log'),
    ('eg', {'acceleration': 'true'}, 'softmax-margin'),
    ('eg-batch', {}, 'hinge'),
    ('eg-batch', {}, 'log'),
    ('eg-batch', {}, 'softmax-margin'),
    ('svrg', {}, 'hinge'),
    ('svrg', {'oracle': 'topk', 'K': 3}, 'hinge'),
    ('svrg', {'oracle': 'max', 'warmup': 0}, 'hinge'),
    ('svrg', {}, 'log'),
    ('svrg', {'step': 0.01}, 'softmax-margin'),
    ('sc-svrg', {}, 'hinge'),
    ('sc-svrg', {'oracle': 'topk', 'scheme': '2', 'epochs': 2}, 'hinge'),
    ('sc-svrg', {'scheme': '4', 'epochs': 0}, 'hinge'),
    ('sc-svrg', {'scheme': '3'}, 'log'),
    ('sc-svrg', {'inner': 'saga'}, 'log'),
    ('sc-svrg', {'inner': 'miso'}, 'hinge'),
    ('sc-svrg', {}, 'softmax-margin'),
    ('sgd', {}, 'hinge'),
    ('sgd', {'gamma0': 0.1, 't0': 50.0}, 'log'),
    ('sgd', {}, 'softmax-margin'),
    ('lbfgs', {'restart': 4}, 'log'),
    ('lbfgs', {'memory': 2}, 'softmax-margin'),
    ('bmrm', {}, 'hinge'),
    ('smo', {}, 'hinge'),
    ('extragradient', {}, 'hinge'),
    ('bmrm', {'planes': 5}, 'log'),
    ('bmrm', {}, 'softmax-margin'),
    ('cg', {'restart': 4}, 'log'),
    ('cg', {}, 'softmax-margin'),
    ('fw', {}, 'hinge'),
    ('dlpw', {}, 'hinge'),
    ('dlpw', {'smoothing': 0.1, 'sweeps': 2, 'average': False}, 'hinge'),
    ('n-slack', {}, 'hinge'),
    ('n-slack', {'reoptimise': 'subspace', 'epsilon': 0.01}, 'hinge'),
    ('one-slack', {}, 'hinge'),
    ('perceptron', {}, 'hinge'),
    ('perceptron', {'average': False, 'shuffle': False}, 'hinge'),
    ('counts', {}, 'hinge'),
    ('counts', {'smoothing': 0.1}, 'log'),
    ('counts', {}, 'softmax-margin'),
]
EVERY_CASE = pytest.mark.parametrize(
    ('solver', 'options', 'objective'), CASES, ids=['-'.join([s, o, *map(str, p.values())]) for s, p, o in CASES]
)


def test_every_solver_and_objective_is_covered():
    covered = {(solver, objective) for solver, _, objective in CASES}
    assert covered == {(solver, objective) for solver in MODULES for objective in solver_info(solver).objectives}


@EVERY_CASE
def test_same_seed_same_bytes(solver, options, objective):
    problem = tiny_problem(solver, objective)
    first, second = (everything(run(make(solver, problem, seed=5, **options), 12)) for _ in range(2))
    assert first == second


@pytest.mark.parametrize('solver', ['bcfw', 'sgd', 'dlpw', 'perceptron'])
def test_another_seed_another_order(solver):
    problem = twin('chain', 'hinge').problem if solver not in RELAXED else larger(solver, 'hinge')
    first, second = (everything(run(make(solver, problem, seed=seed), 3)) for seed in (1, 2))
    assert first != second


@EVERY_CASE
def test_restored_after_every_pass(solver, options, objective):
    """A new solver for every pass, each from the state of the one before."""
    problem = tiny_problem(solver, objective)
    whole = run(make(solver, problem, seed=5, **options), 14)
    state = saved(make(solver, problem, seed=5, **options))
    for _ in range(14):
        relay = make(solver, problem, seed=99, **options)
        relay.restore(state)
        assert as_bytes(saved(relay)) == as_bytes(state)
        if relay.finished:
            break
        assert relay.run_pass(go())
        state = saved(relay)
    assert everything(relay) == everything(whole)
    assert relay.passes == whole.passes


def as_bytes(state):
    return {key: value.tobytes() if isinstance(value, np.ndarray) else value for key, value in state.items()}


def tiny_problem(solver, objective):
    """One that the solver can take."""
    if solver in RELAXED:
        return graph_problem(('complete', 'loop', 'tree'))
    return twin('chain-countable', objective).problem


@functools.cache
def graph_problem(names, threads=1):
    return relaxed_problem(graphs.layout(names, seed=1, tied=True), threads)


def larger(solver, objective, threads=1):
    """A problem whose passes take long enough to be stopped inside: no enumeration here, only bytes."""
    if solver in RELAXED:
        return graph_problem(('complete', 'high order', 'loop') * 500, threads)
    return chains(objective, threads)


@functools.cache
def chains(objective, threads):
    rng = np.random.default_rng(0)
    data = tiny.arrays('chain', tuple(rng.integers(1, 30, size=900)), 12, attributes=20, bias=True, seed=1)
    data.values = np.abs(data.values)
    data.values[data.indices == 19] = 1
    return build_problem(
        problems.dataset_of(data), task='chain', objective=objective, loss='hamming', lam=1 / 900, threads=threads
    )


@EVERY_CASE
def test_interrupted_inside_passes(solver, options, objective):
    """The stop flag goes up at arbitrary moments; half of the times the run goes on in a new solver. The bytes at the
    end are those of a run that nobody stopped."""
    passes, problem = 4, larger(solver, objective)
    whole = make(solver, problem, seed=5, **options)
    begin = time.perf_counter()
    run(whole, passes)
    each = (time.perf_counter() - begin) / whole.passes
    rng = np.random.default_rng(0)
    for _ in range(1000):  # a short pass on a busy machine is hard to hit
        broken, interruptions = make(solver, problem, seed=5, **options), 0
        while broken.passes < passes and not broken.finished:
            if interrupted_pass(broken, each * rng.uniform(0, 1.5)):
                continue
            interruptions += 1
            if rng.random() < 0.5:
                state = saved(broken)
                broken = make(solver, problem, seed=99, **options)
                broken.restore(state)
            if interruptions > 10:
                run(broken, passes - broken.passes)
        same = everything(broken) == everything(whole)
        assert same  # on a line of its own: pytest would compare megabytes for minutes
        if interruptions:
            return
    pytest.fail('the flag was never seen inside a pass')


@EVERY_CASE
def test_a_flag_that_is_up_from_the_start(solver, options, objective):
    """Asked to stop at once, again and again: nothing is lost and nothing is done twice."""
    problem = tiny_problem(solver, objective)
    whole = run(make(solver, problem, seed=5, **options), 5)
    held = make(solver, problem, seed=5, **options)
    while held.passes < 5 and not held.finished:
        before = held.passes
        if not held.run_pass(np.ones(1, np.int32)):
            assert held.passes == before
            assert held.run_pass(go())
    assert everything(held) == everything(whole)


@EVERY_CASE
def test_a_flag_that_goes_up_inside_an_oracle(solver, options, objective):
    """The flag is up when the oracle of every first visit comes back: its answer is not taken, and the visit is made
    again when the run goes on."""
    problem = tiny_problem(solver, objective)
    whole = run(make(solver, problem, seed=5, **options), 5)
    held = make(solver, problem, seed=5, **options)
    while held.passes < 5 and not held.finished:
        problem.structure.heed(np.ones(1, np.int32))
        try:
            finished = held.run_pass(go())
        except Interrupted:
            finished = False
        finally:
            problem.structure.heed(None)
        assert finished or held.run_pass(go())
    assert everything(held) == everything(whole)


@pytest.mark.parametrize('solver', ['bcfw', 'eg', 'n-slack', 'perceptron', 'sgd', 'svrg', 'sc-svrg'])
def test_a_visit_whose_oracle_was_stopped_changes_nothing(solver):
    problem = twin('chain-countable', 'hinge').problem
    held = run(make(solver, problem, seed=5), 2)
    held.run_pass(np.ones(1, np.int32))  # the order of visits is drawn here
    problem.structure.heed(np.ones(1, np.int32))
    try:
        held.run_pass(go())
        before = as_bytes(saved(held))
        assert not held.run_pass(go())
        assert as_bytes(saved(held)) == before
    finally:
        problem.structure.heed(None)


@EVERY_CASE
def test_threads_change_no_byte(solver, options, objective):
    results = [
        everything(run(make(solver, larger(solver, objective, threads), seed=5, **options), 3)) for threads in (1, 2, 5)
    ]
    assert results[0] == results[1] == results[2]
