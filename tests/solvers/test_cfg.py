"""Every solver on a tiny treebank, to the optimum over all trees of its sentences."""

import functools

import numpy as np
import pytest

from cython_ext.objectives.registry import Variant
from cython_ext.solvers.registry import solver_info
from cython_ext.tasks.build import build_problem
from tests import optimum, trees, variants
from tests.solvers.runs import bounds, go, make
from tests.solvers.test_optimum import BY_PARTS, MINIMISERS

LAM = 0.2
# (relative gap, passes): as in test_optimum.py, where the loss has no smooth form that fits the methods with steps
REACH = {
    'bcfw': (1e-6, 1500),
    'n-slack': (1e-6, 400),
    'one-slack': (1e-6, 400),
    'lbfgs': (1e-6, 300),
    'bmrm': (1e-6, 400),
    'smo': (1e-4, 3000),
    'cg': (1e-6, 300),
    'fw': (1e-3, 5000),
    'svrg': (1e-3, 500),
    'sc-svrg': (1e-3, 500),
}
SMOOTH = {
    'sgd': (5e-2, 3000),
    'eg': (1e-3, 3000),
    'eg-batch': (2e-3, 20000),
}
ROUGH = {'sgd': (5e-2, 3000)}
# those that need a loss which is a sum over parts, the hinge loss with wrong and missed brackets
PARTED = {'eg': (1e-3, 3000), 'eg-batch': (2e-3, 20000), 'excessive-gap': (2e-2, 20000), 'extragradient': (1e-2, 1500)}

CASES = [
    (solver, objective, loss)
    for solver in MINIMISERS
    for objective in solver_info(solver).objectives
    for loss in (['zero-one'] if objective == 'log' else ['zero-one', 'f1', 'brackets'])
    if solver not in BY_PARTS or objective == 'log' or loss == 'brackets'
]


@functools.cache
def twin(objective, loss):
    truth = trees.TreeEnumeration(trees.named('chains'), 'word', loss)
    plain = optimum.Problem.of(truth, LAM)
    return truth, plain, optimum.solve(plain, objective)


@pytest.mark.parametrize(('solver', 'objective', 'loss'), CASES, ids=map('-'.join, CASES))
def test_bounds_close_in_on_the_optimum(solver, objective, loss):
    _, plain, best = twin(objective, loss)
    data = trees.dataset_of(trees.named('chains'))
    problem = build_problem(data, 'cfg', objective, loss, LAM)
    known = REACH | (SMOOTH if objective != 'hinge' else ROUGH | PARTED)
    tolerance, limit = known[solver]
    method = make(solver, problem, seed=3)
    primal, dual = bounds(method)
    while not (primal - dual <= tolerance * primal or method.finished or method.passes == limit):
        assert method.run_pass(go())
        primal_now, dual_now = bounds(method)
        assert dual_now <= best.primal + 1e-12
        assert primal_now >= best.dual - 1e-12
        primal, dual = min(primal, primal_now), max(dual, dual_now)
    assert primal - best.primal <= tolerance * primal
    for _, w in method.iterates():
        assert problem.evaluate(w).primal == pytest.approx(
            optimum.primal(plain, objective, np.array(w, float)), rel=1e-11
        )


@pytest.mark.parametrize('variant', [Variant('slack', 1), Variant('margin', 2), Variant('slack', 2)], ids=str)
@pytest.mark.parametrize('solver', ['bcfw', 'n-slack'])
def test_variants_of_the_hinge_loss(solver, variant):
    truth = trees.TreeEnumeration(trees.named('long rules'), 'word', 'f1')
    problem = build_problem(trees.dataset_of(trees.named('long rules')), 'cfg', 'hinge', 'f1', LAM, variant=variant)
    method, best = make(solver, problem, seed=3), variants.solve(truth, variant, LAM)
    primal, dual = bounds(method)
    while primal - dual > 1e-5 * primal and not method.finished and method.passes < 400:
        assert method.run_pass(go())
        primal_now, dual_now = bounds(method)
        primal, dual = min(primal, primal_now), max(dual, dual_now)
    assert dual <= best * (1 + 1e-9) and best <= primal * (1 + 1e-9)
    assert primal - dual <= 1e-5 * primal
