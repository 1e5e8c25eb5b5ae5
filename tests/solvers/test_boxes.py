"""Boxes: every solver to the optimum over all boxes of some tiny pictures."""

import functools

import numpy as np
import pytest

from cython_ext.objectives.registry import Variant
from cython_ext.solvers.registry import solver_info
from cython_ext.tasks.build import build_problem
from tests import optimum, variants
from tests.boxes import BoxEnumeration, dataset_of, random_pictures
from tests.solvers.problems import Twin
from tests.solvers.runs import bounds, make, run
from tests.solvers.test_optimum import BY_PARTS, DENSE, MINIMISERS, REACH, check_both_sides, close_in

PICTURES = random_pictures([(3, 2), (2, 2), (1, 4), (3, 3)], points=6, words=4, seed=1)
LAM = 0.3


class BoxTwin(Twin):
    """A problem of the core beside the one on all outputs; w[k] is the weight of word k in both."""

    def to_core(self, w):
        return np.asarray(w, np.float64)

    def from_core(self, vector):
        return np.asarray(vector, np.float64)

    def _softmax(self, i, point):
        theta = point.theta[point.theta_indptr[i] : point.theta_indptr[i + 1]].astype(float)
        return optimum.softmax(self.truth.examples[i].parts @ theta)


@functools.cache
def twin(objective, loss, variant=None):
    problem = build_problem(dataset_of(PICTURES), 'boxes', objective, loss, LAM, variant=variant)
    truth = BoxEnumeration(PICTURES, loss)
    return BoxTwin(problem, None, truth, optimum.Problem.of(truth, LAM), objective)


CASES = [
    (solver, objective, loss)
    for solver in MINIMISERS
    for objective in solver_info(solver).objectives
    for loss in (['overlap'] if objective == 'log' else ['overlap', 'zero-one'])
    if solver not in BY_PARTS or objective == 'log'
]


@pytest.mark.parametrize(('solver', 'objective', 'loss'), CASES, ids=map('-'.join, CASES))
def test_bounds_close_in_on_the_optimum(solver, objective, loss):
    it = twin(objective, loss)
    method = make(solver, it.problem, seed=3)
    close_in(it, method, *REACH[solver])
    check_both_sides(it, method, solver in DENSE)


@pytest.mark.parametrize('solver', sorted(BY_PARTS))
def test_solvers_that_need_losses_of_parts_say_so(solver):
    with pytest.raises((ValueError, TypeError), match='loss'):
        make(solver, twin('hinge', 'overlap').problem)


@pytest.mark.parametrize('variant', [Variant('slack', 1), Variant('margin', 2), Variant('slack', 2)], ids=str)
@pytest.mark.parametrize('solver', ['n-slack', 'bcfw'])
def test_variants_of_the_hinge(solver, variant):
    it = twin('hinge', 'zero-one', variant)
    method, best = make(solver, it.problem, seed=3), variants.solve(it.truth, variant, LAM)
    primal, dual = bounds(method)
    while primal - dual > 1e-6 * primal and method.passes < 400 and not method.finished:
        primal_now, dual_now = bounds(run(method, 1))
        assert dual_now <= best * (1 + 1e-9)
        primal, dual = min(primal, primal_now), max(dual, dual_now)
    assert best * (1 - 1e-9) <= primal <= best * (1 + 1e-6) + 1e-12


def test_variants_of_the_overlap_loss_are_refused():
    with pytest.raises(ValueError, match='slack rescaling and squared slacks take the best output'):
        twin('hinge', 'overlap', Variant('slack', 1))
