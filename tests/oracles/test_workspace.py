"""Room in workspaces: what the loss or objective that is called with one asks for, whatever else there is."""

import pytest

from cython_ext.objectives.registry import Variant
from cython_ext.structures.workspace import Workspace
from cython_ext.tasks.build import build_problem
from tests import trees
from tests.solvers import tiny
from tests.solvers.problems import dataset_of

VARIANTS = {'slack': Variant('slack'), 'squared': Variant('margin', 2), 'hard': Variant('margin', 1, True)}


def problem_of(name, loss, variant=None):
    data = tiny.named(name)
    return build_problem(dataset_of(data), data.task, 'hinge', loss, 1.0, variant=variant, structure=data.structure)


def room(problem, user):
    work = Workspace(problem.structure, user)
    return work.strata, work.table_size


@pytest.mark.parametrize('variant', VARIANTS)
def test_strata_have_their_room_and_nothing_else_has(variant):
    problem = problem_of('chain', 'hamming', VARIANTS[variant])
    longest = max(len(problem.structure.gold_code(i)) for i in range(problem.n))
    size = (longest + 1) * longest * problem.structure.stride
    assert room(problem, problem.objective) == ((2, 0) if variant == 'hard' else (longest + 1, size))
    assert room(problem, problem.objective.loss) == room(problem, None) == (0, 0)


def test_a_plain_hinge_takes_no_room():
    problem = problem_of('chain', 'hamming')
    assert room(problem, problem.objective) == (0, 0)
    assert room(problem_of('chain', 'hamming', VARIANTS['slack']), problem.objective) == (0, 0)


def test_every_class_is_a_stratum():
    problem = problem_of('multiclass', 'hamming', VARIANTS['slack'])
    assert room(problem, problem.objective) == (problem.structure.n_labels, 0)


@pytest.mark.parametrize('objective', ['hinge', 'softmax-margin'])
def test_a_loss_with_a_table_of_its_own(objective):
    data = trees.dataset_of(trees.named('chains'))
    problem = build_problem(data, 'cfg', objective, 'f1', 1.0, structure={'terminals': 'word'})
    assert room(problem, problem.objective) == room(problem, problem.objective.loss)
    assert min(room(problem, problem.objective)) > 0 and room(problem, None) == (0, 0)
