"""ssvm gap: figures from data and weights, not from what the model says about itself."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from cython_ext.duals.mixture import MixturePoint
from cython_ext.duals.scores import TemperedPoint
from data_formats.models.model import load, save
from tests.cli.commands import multiclass_text, run


def gap(*args):
    return json.loads(run('gap', '--json', *args).stdout)


def primal_by_hand(path, W, lam):
    total = 0.0
    for line in path.read_text().splitlines():
        label, *pairs = line.split()
        scores = np.array([float(pair.split(':')[1]) for pair in pairs]) @ W
        costs = 1.0 - np.eye(3)[int(label) - 1]
        total += (scores + costs).max() - scores[int(label) - 1]
    return lam / 2 * (W**2).sum() + total / len(path.read_text().splitlines())


def test_keys(files, models):
    found = gap(files / 'train.svm', models['svm'])
    keys = 'primal dual gap relative_gap dual_source status training_status tolerance lambda examples'
    assert list(found) == keys.split()
    assert found['gap'] == found['primal'] - found['dual']
    assert found['relative_gap'] == found['gap'] / found['primal']
    assert (found['dual_source'], found['status'], found['examples']) == ('model', 'converged', 30)
    assert found['primal'] == pytest.approx(
        primal_by_hand(files / 'train.svm', load(models['svm']).weights['state'], 1 / 30)
    )


def test_lines_for_people(files, models):
    lines = run('gap', files / 'train.conll', models['crf']).stdout.splitlines()
    assert [line.split('  ')[0] for line in lines] == ['primal', 'dual', 'gap', 'relative gap', 'dual from', 'status']
    assert lines[4].split() == ['dual', 'from', 'softmax']


def test_an_altered_model_gets_the_figures_it_deserves(files, models, tmp_path):
    model = load(models['svm'])
    model.weights['state'][2, 1] += 3.0
    model.header['primal'] = model.header['dual'] = 0.0
    save(model, tmp_path / 'm')
    found = gap(files / 'train.svm', tmp_path / 'm')
    assert found['primal'] == pytest.approx(primal_by_hand(files / 'train.svm', model.weights['state'], 1 / 30))
    assert found['dual'] == gap(files / 'train.svm', models['svm'])['dual']
    assert found['status'] == 'not converged' and found['training_status'] == 'converged'


def test_an_altered_dual_point_is_still_a_valid_bound(files, models, tmp_path):
    model = load(models['svm'])
    optimum = gap(files / 'train.svm', models['svm'])['primal']
    model.dual.codes[:] = (model.dual.codes + 1) % 3
    save(model, tmp_path / 'm')
    assert gap(files / 'train.svm', tmp_path / 'm')['dual'] <= optimum


@pytest.mark.parametrize('name', ['indptr', 'weights', 'code_indptr', 'codes'])
def test_a_dual_point_that_lost_an_array_is_refused(files, models, tmp_path, name):
    model = load(models['svm'])
    arrays = {key: array for key, array in model.dual.arrays().items() if key != name}
    model.dual = SimpleNamespace(arrays=lambda: arrays)
    save(model, tmp_path / 'm')
    assert 'of which some are missing' in run('gap', files / 'train.svm', tmp_path / 'm', code=1).stderr


@pytest.mark.parametrize(
    'alter',
    [
        lambda dual: dual.weights.__imul__(1.5),
        lambda dual: dual.weights.__setitem__(0, -1.0),
        lambda dual: dual.codes.__setitem__(0, 7),
        lambda dual: dual.indptr.__setitem__(1, 0),
    ],
)
def test_an_infeasible_dual_point_is_replaced(files, models, tmp_path, alter):
    model = load(models['svm'])
    alter(model.dual)
    save(model, tmp_path / 'm')
    result = run('gap', '--json', '--passes', 50, files / 'train.svm', tmp_path / 'm')
    found = json.loads(result.stdout)
    assert found['dual_source'] == 'bcfw' and 'making one by 50 passes of bcfw' in result.stderr
    assert 0 < found['dual'] <= found['primal']


def test_a_model_without_dual_point(files, tmp_path):
    run('train', '-q', '--no-certificate', '--max-passes', 30, files / 'train.hmm', tmp_path / 'm')
    few = gap('--passes', 1, files / 'train.hmm', tmp_path / 'm')
    many = gap('--passes', 200, files / 'train.hmm', tmp_path / 'm')
    assert few['dual_source'] == many['dual_source'] == 'bcfw'
    assert few['dual'] < many['dual'] <= many['primal'] == few['primal']


def test_other_data(models, tmp_path):
    (tmp_path / 'other.svm').write_text(multiclass_text(12, seed=4))
    result = run('gap', '--json', tmp_path / 'other.svm', models['svm'])
    found = json.loads(result.stdout)
    assert found['examples'] == 12 and found['dual_source'] == 'bcfw'
    W = load(models['svm']).weights['state']
    assert found['primal'] == pytest.approx(primal_by_hand(tmp_path / 'other.svm', W, 1 / 30))
    assert '30 examples' in result.stderr or '12 examples' in result.stderr


def test_a_weak_log_model_is_bounded_by_zero(files, tmp_path):
    how = ['--objective', 'log', '--solver', 'lbfgs', '--max-passes', 0, '--lambda', 1e-6]
    run('train', '-q', *how, files / 'train.svm', tmp_path / 'm')
    found = gap(files / 'train.svm', tmp_path / 'm')
    assert (found['dual'], found['dual_source']) == (0.0, 'right outputs')
    assert found['primal'] == pytest.approx(np.log(3))


def test_per_example(files, models, tmp_path):
    run('gap', '--per-example', tmp_path / 'losses', files / 'train.conll', models['crf'])
    rows = [line.split('\t') for line in (tmp_path / 'losses').read_text().splitlines()]
    assert rows[0] == ['example', 'tokens', 'loss']
    assert [int(row[0]) for row in rows[1:]] == list(range(1, 21))
    model = load(models['crf'])
    lam = model.header['lambda']
    norm2 = sum((block**2).sum() for block in model.weights.values())
    losses = [float(row[2]) for row in rows[1:]]
    assert lam / 2 * norm2 + np.mean(losses) == pytest.approx(model.header['primal'])
    assert sum(int(row[1]) for row in rows[1:]) == model.header['tokens']


def test_threads_change_nothing(files, models):
    assert gap('--threads', 1, files / 'train.conll', models['crf']) == gap(
        '--threads', 3, files / 'train.conll', models['crf']
    )


def test_unknown_labels(models, tmp_path):
    (tmp_path / 'new.svm').write_text('1 1:1\n4 1:1\n')
    error = run('gap', tmp_path / 'new.svm', models['svm'], code=1).stderr
    assert "example 2 has label '4', which" in error and 'does not know' in error


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        ('w0\nw1\n', ': example 1 has no label (expected labels in column 2)'),
        ('-DOCSTART-\n\nw0\n', ': example 1 has no label (expected labels in column 2)'),
        ('w0 w1 O\n', ": example 1 has label 'w1', which MODEL does not know (expected labels in column 2)"),
        ('', ': no examples in this file (expected one at least)'),
    ],
)
def test_columns_that_are_not_those_of_the_model(models, tmp_path, text, said):
    (tmp_path / 't.conll').write_text(text)
    error = run('gap', tmp_path / 't.conll', models['crf'], code=1).stderr
    assert error == f'{tmp_path / "t.conll"}{said.replace("MODEL", str(models["crf"]))}\n'
    from_pipe = run('gap', '-', models['crf'], code=1, stdin=text).stderr
    assert from_pipe == f'<stdin>{said.replace("MODEL", str(models["crf"]))}\n'


def test_a_model_of_another_kind(files, models):
    error = run('gap', '--format', 'svmlight', files / 'train.svm', models['crf'], code=2).stderr
    assert 'svmlight files hold no data for a chain model' in error


def test_a_file_without_examples_is_named(models, tmp_path):
    (tmp_path / 'empty.svm').write_text('\n')
    error = run('gap', tmp_path / 'empty.svm', models['svm'], code=1).stderr
    assert error == f'{tmp_path / "empty.svm"}: no examples in this file (expected one at least)\n'


def test_a_model_with_a_mixture_proves_what_it_claims(files, tmp_path):
    """Shares that are none are an error; no solver begins at a mixture."""
    how = ('--solver', 'svrg', '--lambda', '0.05', '--rel-gap', '1e-3', '--max-passes', '500')
    for name in ('train.svm', 'train.conll'):
        run('train', *how, files / name, tmp_path / 'm')
        model = load(tmp_path / 'm')
        shares = model.dual.shares
        assert isinstance(model.dual, MixturePoint) and len(shares) >= 2
        found = gap(files / name, tmp_path / 'm')
        assert (found['dual_source'], found['status']) == ('model', 'converged')
        for side in ('primal', 'dual'):
            assert found[side] == pytest.approx(model.header[side], rel=1e-9)
        for nonsense in (-shares, shares[1:], np.nan * shares):
            model.dual.shares = nonsense
            save(model, tmp_path / 'n')
            altered = run('gap', files / name, tmp_path / 'n', code=1).stderr
            assert altered.startswith(f'{tmp_path / "n"}: a dual point that is none: the ')
        refused = run('train', '--solver', 'bcfw', '--init', tmp_path / 'm', files / name, '-', code=1).stderr
        assert 'has no dual point' in refused


@pytest.mark.parametrize('solver', ['svrg', 'sc-svrg', 'excessive-gap'])
def test_a_model_with_a_temperature_proves_what_it_claims(files, tmp_path, solver):
    """The dual point is one number beside the weights, its own or those of the model; where it does not fit, bcfw makes
    another one."""
    options = (
        '--task',
        'multiclass',
        '--solver',
        solver,
        '--lambda',
        '0.05',
        '--rel-gap',
        '1e-3',
        '--max-passes',
        '3000',
        *(() if solver == 'excessive-gap' else ('--set', 'planes=1')),
    )
    run('train', *options, files / 'train.svm', tmp_path / 'm')
    model = load(tmp_path / 'm')
    alone = isinstance(model.dual, TemperedPoint)
    assert set(model.dual.arrays()) == ({'temperature'} if alone else {'weights.state', 'temperature'})
    found = gap(files / 'train.svm', tmp_path / 'm')
    assert (found['dual_source'], found['status']) == ('softmax' if alone else 'model', 'converged')
    for side in ('primal', 'dual'):
        assert found[side] == pytest.approx(model.header[side], rel=1e-9)
    for nonsense in (0.0, -1.0, np.nan):
        model.dual.temperature = np.array([nonsense])
        save(model, tmp_path / 'm')
        assert gap(files / 'train.svm', tmp_path / 'm')['dual_source'] == 'bcfw'
    refused = run(
        'train', '--task', 'multiclass', '--solver', 'bcfw', '--init', tmp_path / 'm', files / 'train.svm', '-', code=1
    )
    assert 'has no dual point' in refused.stderr
