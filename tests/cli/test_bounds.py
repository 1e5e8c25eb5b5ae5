"""What a model proves of its run: the best bound of all passes, and what starts from it."""

import json

import pytest

from cython_ext.duals.mixture import MixturePoint
from cython_ext.duals.scores import ScoresPoint
from data_formats.files.log import read_log
from data_formats.models.model import load
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
        stored = isinstance(made.dual, (ScoresPoint, MixturePoint))
        if dual > 0:
            assert found['dual'] == pytest.approx(made.header['dual'], rel=1e-9)
            assert found['dual_source'] == ('model' if stored else 'softmax')
        else:  # nothing was found, so bcfw makes a bound for the hinge
            assert found['dual_source'] == ('bcfw' if objective == 'hinge' else 'right outputs')
        others += stored
    assert others or solver == 'sc-svrg'  # whose last pass has the best of both here


@pytest.mark.parametrize('name', ['train.conll', 'train.svm'])
def test_a_dual_that_no_model_can_hold_counts_in_the_log_only(files, tmp_path, name):
    """excessive-gap has the mixture of all softmaxes besides that of its weights; a model holds it for classes only."""
    higher, log, model = 0, tmp_path / 'log', tmp_path / 'm'
    for passes in range(1, 30):
        how = ['--solver', 'excessive-gap', '--set', 'adaptive=true', '--rel-gap', '1e-9', '--max-passes', passes]
        said = run('train', *how, '--lambda', '0.01', '--log', log, files / name, model).stderr.splitlines()[-1]
        rows = read_log(log)
        primal, dual = (float(rows[-1][key]) for key in ('primal', 'dual'))
        assert dual >= max(float(row['dual_now']) for row in rows)
        # weights that prove a bound are held in single precision
        proved, rounding = load(model).header['dual'], 1e-7 * primal
        found = json.loads(run('gap', '--json', files / name, model).stdout)
        if proved > 0:
            assert found['dual'] == pytest.approx(proved, abs=rounding)
        assert ('which the model proves' in said) == (dual > proved + rounding)
        higher += dual > proved + rounding
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


def test_the_dual_in_the_log_is_the_best_so_far_and_the_last_line_has_that_of_the_model(files, tmp_path):
    """The mixture of all passes of excessive-gap on sequences is higher than what its weights prove."""
    log, model = tmp_path / 'log', tmp_path / 'm'
    how = ['--solver', 'excessive-gap', '--set', 'adaptive=true', '--lambda', 0.01, '--max-passes', 29]
    how += ['--rel-gap', '1e-9', '--gap-every', 2]
    said = run('train', *how, '--log', log, files / 'train.conll', model).stderr.splitlines()[-1]
    best = 0.0
    for row in read_log(log):
        primal, dual, now, gap = (float(row[key]) for key in ('primal', 'dual', 'dual_now', 'gap'))
        assert dual >= best and dual >= now and gap == primal - dual
        best = dual
    proved = load(model).header['dual']
    assert proved < 0.99 * best
    assert f'dual {proved:.6g}, which the model proves; the run had {best:.6g}, of a dual point too large' in said
