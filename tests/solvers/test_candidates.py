"""Candidates: every solver to the independently computed optimum, and the variants of the hinge."""

import functools
import itertools

import numpy as np
import pytest

from cython_ext.objectives.registry import Variant
from cython_ext.solvers.registry import solver_info
from cython_ext.tasks.build import build_problem
from tests import optimum, variants
from tests.candidates import CandidateEnumeration, dataset_of, random_examples
from tests.solvers.problems import Twin
from tests.solvers.runs import bounds, go, make, run
from tests.solvers.test_optimum import DENSE, MINIMISERS, REACH, check_both_sides, close_in

EXAMPLES = {
    'real': random_examples((3, 1, 5, 2, 4), seed=1),
    'binary': random_examples((4, 2, 6, 3), attributes=5, binary=True, seed=2),
}
LOSSES = ('given', 'zero-one')


class ListedTwin(Twin):
    """A problem of the core beside the one on all outputs; w[k] is the weight of attribute k in both."""

    def to_core(self, w):
        return np.asarray(w, np.float64)

    def from_core(self, vector):
        return np.asarray(vector, np.float64)

    def _softmax(self, i, point):
        theta = point.theta[point.theta_indptr[i] : point.theta_indptr[i + 1]].astype(float)
        return optimum.softmax(theta[: len(self.truth.examples[i].codes)])


@functools.cache
def twin(name, objective='hinge', loss='given', variant=None, lam=0.3):
    examples = EXAMPLES[name]
    problem = build_problem(dataset_of(examples), 'candidates', objective, loss, lam, variant=variant)
    truth = CandidateEnumeration(examples, loss)
    assert [key[1] for key in truth.keys] == list(range(problem.dim))
    return ListedTwin(problem, None, truth, optimum.Problem.of(truth, lam), objective)


CASES = [
    (solver, objective, loss, name)
    for solver in MINIMISERS
    for objective, loss, name in itertools.product(solver_info(solver).objectives, LOSSES, EXAMPLES)
    if objective != 'log' or loss == 'given'
]


@pytest.mark.parametrize('case', CASES, ids='-'.join)
def test_bounds_close_in_on_the_optimum(case):
    solver, objective, loss, name = case
    it = twin(name, objective, loss)
    method = make(solver, it.problem, seed=3)
    close_in(it, method, *REACH[solver])
    check_both_sides(it, method, solver in DENSE)


@pytest.mark.parametrize('objective', solver_info('perceptron').objectives)
@pytest.mark.parametrize('name', EXAMPLES)
def test_what_the_perceptron_reports_is_true(objective, name):
    it = twin(name, objective)
    method = make('perceptron', it.problem, seed=1)
    for _ in range(10):
        primal, dual = bounds(method)
        assert dual <= it.best.primal + it.rounding(method.passes)
        assert primal >= it.best.dual - it.rounding()
        check_both_sides(it, method)
        if method.finished:
            break
        assert method.run_pass(go())


def test_there_is_nothing_to_count():
    with pytest.raises(ValueError, match='counts is for labels, sequences of labels and trees of a grammar'):
        make('counts', twin('binary', 'log').problem)


@pytest.mark.parametrize('variant', [Variant('slack', 1), Variant('margin', 2), Variant('slack', 2)], ids=str)
@pytest.mark.parametrize('solver', ['n-slack', 'bcfw'])
@pytest.mark.parametrize('loss', LOSSES)
def test_variants_of_the_hinge(solver, variant, loss):
    it = twin('real', 'hinge', loss, variant)
    method, best = make(solver, it.problem, seed=3), variants.solve(it.truth, variant, it.plain.lam)
    primal, dual = bounds(method)
    while primal - dual > 1e-6 * primal and method.passes < 400 and not method.finished:
        primal_now, dual_now = bounds(run(method, 1))
        assert dual_now <= best * (1 + 1e-9)
        primal, dual = min(primal, primal_now), max(dual, dual_now)
    assert best * (1 - 1e-9) <= primal <= best * (1 + 1e-6) + 1e-12


def test_one_slack_with_slack_rescaling():
    it = twin('real', 'hinge', 'given', Variant('slack', 1))
    method = make('one-slack', it.problem)
    best = variants.solve(it.truth, Variant('slack', 1), it.plain.lam)
    primal, dual = bounds(method)
    while primal - dual > 1e-6 * primal and method.passes < 400 and not method.finished:
        primal_now, dual_now = bounds(run(method, 1))
        primal, dual = min(primal, primal_now), max(dual, dual_now)
    assert dual <= best * (1 + 1e-9) and best * (1 - 1e-9) <= primal <= best * (1 + 1e-6)


def test_a_hard_margin():
    """Groups whose best candidates can be told from the others; one has two that are equally good."""
    examples = [
        [(0.0, {0: 1.0}), (1.0, {1: 1.0}), (2.0, {0: 0.5})],
        [(1.0, {1: 2.0, 2: 1.0}), (0.5, {0: 1.0, 2: -1.0}), (0.5, {0: 1.0, 2: -1.0})],
    ]
    problem = build_problem(dataset_of(examples), 'candidates', variant=Variant(hard_margin=True))
    method = run(make('n-slack', problem), 100)
    best = variants.solve(CandidateEnumeration(examples, 'zero-one'), Variant(hard_margin=True), 1.0)
    assert bounds(method)[1] == pytest.approx(best, rel=1e-6)
