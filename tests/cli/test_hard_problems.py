"""Small training sets on which solvers stalled, each to its tolerance and to its known optimum, by the command."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import run

HARD = Path(__file__).parent / 'hard'


def bounds(tmp_path, name, *options):
    """(primal, dual) of a model, recomputed from the data."""
    run('train', '-q', *options, HARD / name, tmp_path / 'model')
    found = json.loads(run('gap', '--json', HARD / name, tmp_path / 'model').stdout)
    return found['primal'], found['dual']


@pytest.mark.parametrize(
    ('name', 'options', 'optimum'),
    [('eight-chains.hmm', ('--task', 'chain'), 0.2376775), ('six-trees.conllu', (), 0.0322849)],
)
@pytest.mark.parametrize('oracle', ['exp', 'topk', 'max'])
@pytest.mark.parametrize('solver', ['svrg', 'sc-svrg'])
def test_variance_reduction_follows_the_smoothing_down(tmp_path, solver, oracle, name, options, optimum):
    """Steps that were too long for a few examples, a smoothing that fell before its problem was solved, and softmaxes
    none of which was a good dual point."""
    gap, how = 1e-3, ('--solver', solver, '--set', f'oracle={oracle}', '--lambda', 0.05, '--seed', 1)
    primal, dual = bounds(tmp_path, name, *how, '--rel-gap', gap, '--max-passes', 500, *options)
    assert primal - dual <= gap * primal
    assert dual <= optimum * (1 + 1e-6) and optimum * (1 - 1e-6) <= primal


def test_a_first_step_is_found_on_few_graphs(tmp_path):
    """In one pass over six examples the best step was none; then thousands of passes were too few."""
    settings = ('--solver', 'dlpw', '--lambda', 0.02, '--max-passes', 3000)
    primal, dual = bounds(tmp_path, 'dlpw-start.jsonl', *settings)
    assert dual <= 0.366315 <= primal <= 1.04 * 0.366315


@pytest.mark.parametrize('solver', ['n-slack', 'one-slack'])
def test_cutting_planes_solve_their_programs_to_the_end(tmp_path, solver):
    """Values of 1e4 tie the examples together: steps on one after the other, or on pairs of cuts, came to nothing."""
    settings = ('--solver', solver, '--task-loss', 'zero-one', '--lambda', 0.5025, '--max-passes', 20)
    primal, dual = bounds(tmp_path, 'scaled-matching.links', *settings)
    assert primal == pytest.approx(1, rel=1e-6) and dual == pytest.approx(1, rel=1e-3)
