"""What a model proves of its run: the best bound of all passes, and what starts from it."""

import json

import pytest

from data_formats.log import read_log
from data_formats.model import load
from tests.cli.commands import run


@pytest.mark.parametrize(
    ('solver', 'objective'),
    [('svrg', 'hinge'), ('sc-svrg', 'log'), ('sgd', 'log'), ('lbfgs', 'log'), ('lbfgs', 'softmax-margin')],
)
def test_the_model_proves_the_best_bound_of_all_passes(files, tmp_path, solver, objective):
    """Where the scores are the dual point, the best bound can be that of other weights than the best ones."""
    others = 0
    for passes in range(1, 20):
        how = ['--solver', solver, '--objective', objective, '--rel-gap', '1e-9', '--max-passes', passes]
        log, model = tmp_path / f'{passes}.csv', tmp_path / 'm'
        run('train', *how, '--lambda', '0.01', '--log', log, files / 'train.svm', model)
        made, dual = load(model), float(read_log(log)[-1]['dual'])
        found = json.loads(run('gap', '--json', files / 'train.svm', model).stdout)
        assert made.header['dual'] == pytest.approx(dual, rel=1e-6)
        stored = {name for name in made.dual or {} if name.startswith('weights.')}
        if dual > 0:
            assert found['dual'] == pytest.approx(made.header['dual'], rel=1e-9)
            assert found['dual_source'] == ('model' if stored else 'softmax')
        else:  # nothing was found, so bcfw makes a bound for the hinge
            assert found['dual_source'] == ('bcfw' if objective == 'hinge' else 'right outputs')
        others += bool(stored)
    assert others or solver == 'sc-svrg'  # whose last pass has the best of both here


@pytest.mark.parametrize('name', ['train.conll', 'train.svm'])
def test_a_dual_that_no_model_can_hold_is_no_bound(files, tmp_path, name):
    """excessive-gap has the mixture of all softmaxes besides that of its weights; a model holds it for classes only."""
    higher = 0
    for passes in range(1, 30):
        how = ['--solver', 'excessive-gap', '--set', 'adaptive=true', '--rel-gap', '1e-9', '--max-passes', passes]
        log = tmp_path / f'{passes}.csv'
        run('train', *how, '--lambda', '0.01', '--log', log, files / name, tmp_path / 'm')
        primal, dual, now = (float(read_log(log)[-1][key]) for key in ('primal', 'dual', 'dual_now'))
        # weights that prove a bound are held in single precision
        assert load(tmp_path / 'm').header['dual'] == pytest.approx(dual, abs=1e-7 * primal)
        higher += now > dual + 1e-6 * primal
    assert (higher > 0) == (name == 'train.conll')


def test_weights_that_prove_a_bound_are_no_start(files, tmp_path):
    """A dual solver cannot begin at the softmax of other weights."""
    for passes in range(1, 10):
        how = ['--solver', 'sgd', '--objective', 'log', '--lambda', '0.01', '--max-passes', passes]
        run('train', *how, files / 'train.svm', tmp_path / 'm')
        if load(tmp_path / 'm').dual:
            break
    how = ['--solver', 'bcfw', '--init', tmp_path / 'm', files / 'train.svm', tmp_path / 'n']
    expected = 'm: has no dual point (bcfw starts from one: a model of a dual solver)'
    assert expected in run('train', *how, code=1).stderr


def test_natural_parameters_are_a_start_for_eg_only(files, tmp_path):
    run('train', '-q', '--solver', 'eg', files / 'train.svm', tmp_path / 'm')
    how = ['--init', tmp_path / 'm', files / 'train.svm', tmp_path / 'n']
    said = run('train', '--solver', 'fw', *how, code=1).stderr
    assert 'm: the dual point is in natural parameters, and not a list of outputs (fw starts from' in said
    run('train', '--solver', 'eg', *how)
