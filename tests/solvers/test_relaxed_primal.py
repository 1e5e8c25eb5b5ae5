"""What a log calls the relaxed primal: it lies between the relaxed objective of the weights, by enumerated vertices of
the local polytope, and g(w, delta) for the delta of the weights."""

import numpy as np
import pytest

import cython_ext.core.relaxed_primal as module
from cython_ext.core.problem import Problem
from cython_ext.core.relaxed_primal import relaxed_primal
from cython_ext.losses.graph import NodeCosts
from cython_ext.objectives.registry import build_objective
from cython_ext.tasks.relaxations import build_relaxed
from tests import graphs, optimum
from tests.oracles.test_graph import Flat
from tests.solvers.test_graph import BINARY, LAM, RHO, SEED

GAMMA = 0.3
KINDS = [(False, 0.0), (True, 0.0), (False, GAMMA), (True, GAMMA)]  # with multipliers, smoothing


def soft(names, multipliers, smoothing, threads=1):
    """(a soft problem, its layout, random weights with their P)."""
    layout = graphs.layout(names, seed=SEED['soft'], tied=True)
    count = len(graphs.soft(graphs.GraphEnumeration(layout), LAM, RHO)[0].place)
    pull = np.random.default_rng(5).normal(size=count) if multipliers else None
    structure, features = build_relaxed(layout, Flat(layout), 'soft', RHO, LAM, multipliers=pull, smoothing=smoothing)
    objective = build_objective('hinge', structure, NodeCosts.on(structure))
    problem = Problem(structure, features, objective, LAM, ('graph', 'hinge', 'hamming'), threads)
    w = np.random.default_rng(6).normal(size=problem.dim)
    return problem, layout, w, problem.evaluate(w).primal


def bound(monkeypatch, problem, w, primal, sweeps, enough=0.0):
    monkeypatch.setattr(module, 'MOST_SWEEPS', sweeps)
    monkeypatch.setattr(module, 'LEAST_GAIN', enough)
    return relaxed_primal(problem, w, primal)


@pytest.mark.parametrize(('multipliers', 'smoothing'), KINDS)
def test_it_lies_between_the_relaxed_objective_and_that_of_delta(monkeypatch, multipliers, smoothing):
    problem, layout, w, primal = soft(BINARY, multipliers, smoothing)
    truth = graphs.GraphEnumeration(layout)
    relaxed = optimum.primal(optimum.Problem.of(graphs.relaxed(truth), LAM), 'hinge', w[: truth.dim])
    plain, last = w.copy(), truth.dim + problem.features.n_agreements
    plain[last:] = 0.0
    of_delta = problem.evaluate(plain).primal - LAM / 2 * w[truth.dim : last] @ w[truth.dim : last]
    assert bound(monkeypatch, problem, w, primal, 0) == pytest.approx(of_delta, rel=1e-12)
    found = [bound(monkeypatch, problem, w, primal, sweeps) for sweeps in (0, 1, 2, 5, 100)]
    assert (np.diff(found) <= 1e-12).all()
    assert found[1] < found[0]
    assert relaxed - 1e-12 <= found[-1] < relaxed + 0.25 * (of_delta - relaxed)
    monkeypatch.undo()
    assert relaxed - 1e-12 <= relaxed_primal(problem, w, primal) <= of_delta


def test_on_trees_it_is_the_objective_itself(monkeypatch):
    problem, layout, w, primal = soft(('tree', 'node'), False, 0.0)
    truth = graphs.GraphEnumeration(layout)
    exact = optimum.primal(optimum.Problem.of(truth, LAM), 'hinge', w[: truth.dim])
    assert bound(monkeypatch, problem, w, primal, 1000, -1.0) == pytest.approx(exact, rel=1e-9)


def test_sweeps_end_when_little_is_gained(monkeypatch):
    problem, _, w, primal = soft(BINARY, False, 0.0)
    one, many = (bound(monkeypatch, problem, w, primal, sweeps) for sweeps in (1, 100))
    assert bound(monkeypatch, problem, w, primal, 100, 1e9) == one
    assert many < one


def test_threads_change_nothing():
    alone, together = (soft(('loop', *BINARY), True, 0.0, threads) for threads in (1, 2))
    assert relaxed_primal(alone[0], *alone[2:]) == relaxed_primal(together[0], *together[2:])
