"""--lambda-path: a warm-started sequence of models, each as good as one trained alone."""

import csv
import json

import pytest

from tests.cli.commands import conll_text, multiclass_text, run


def rows_of(log):
    return list(csv.DictReader(line for line in log.read_text().splitlines() if not line.startswith('#')))


@pytest.fixture
def data(tmp_path):
    (tmp_path / 't.conll').write_text(conll_text())
    (tmp_path / 'dev.conll').write_text(conll_text(seed=1))
    (tmp_path / 't.svm').write_text(multiclass_text())
    return tmp_path


@pytest.mark.parametrize(
    'solver', [('bcfw',), ('n-slack',), ('lbfgs', '--objective', 'log')], ids=lambda words: words[0]
)
def test_every_model_of_the_path_is_within_the_tolerance(solver, data):
    options = ('--solver', *solver, '--lambda-path', '1:0.02:0.5', '--rel-gap', '0.01')
    run('train', *options, '--path-models', data / 'all', '--log', data / 'log', data / 't.conll', data / 'm')
    rows = rows_of(data / 'log')
    assert [float(row['lambda']) for row in rows] == [1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125]
    total = 0
    for row in rows:
        total += int(row['pass'])
        assert int(row['cumulative_passes']) == total
        model = data / 'all' / f'lambda-{float(row["lambda"]):.6g}.model'
        figures = json.loads(run('gap', '--json', data / 't.conll', model).stdout)
        assert figures['lambda'] == float(row['lambda'])
        assert figures['primal'] == pytest.approx(float(row['primal']), rel=1e-9)
        assert 0 <= figures['gap'] <= 0.01 * figures['primal']
    # without --dev the last one is the result
    assert (data / 'm').read_bytes() == model.read_bytes()


def test_warm_starts_spare_passes(data):
    path = ('--lambda-path', '0.1:0.01:0.7', '--rel-gap', '1e-3')
    run('train', *path, '--log', data / 'log', data / 't.svm', data / 'm')
    cold = 0
    for row in rows_of(data / 'log'):
        run('train', '--lambda', row['lambda'], '--rel-gap', '1e-3', '--log', data / 'one', data / 't.svm', data / 'm')
        cold += int(rows_of(data / 'one')[-1]['pass'])
    assert int(row['cumulative_passes']) < 0.8 * cold


def test_the_best_on_dev_is_kept(data):
    path = ('--lambda-path', '100:0.01:0.1', '--dev', data / 'dev.conll')
    run('train', *path, '--path-models', data / 'all', '--log', data / 'log', data / 't.conll', data / 'm')
    rows = rows_of(data / 'log')
    scores = [float(row['dev_f1']) for row in rows]
    assert len(set(scores)) > 1
    best = float(rows[scores.index(max(scores))]['lambda'])
    assert (data / 'm').read_bytes() == (data / 'all' / f'lambda-{best:.6g}.model').read_bytes()


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['--lambda-path', '1:2'], 'is not FROM:TO:FACTOR'),
        (['--lambda-path', '1:2:0.5'], 'does not lead from 1 to 2'),
        (['--lambda-path', '1:0:0.5'], 'expected positive numbers'),
        (['--lambda-path', '1:1e-300:0.999'], 'expected at most 10000'),
        (['--lambda-path', '1:0.1:0.5', '--lambda', '1'], 'cannot be combined with --lambda and -c'),
        (['--lambda-path', '1:0.1:0.5', '--resume'], 'cannot be combined with --resume'),
        (['--lambda-path', '1:0.1:0.5', '--solver', 'counts'], 'counts does not depend on lambda'),
        (['--path-models', 'all'], 'no effect without --lambda-path'),
    ],
)
def test_what_makes_no_sense_is_refused(options, message, data):
    result = run('train', *options, data / 't.svm', data / 'm', code=2)
    assert message in result.stderr
    assert not (data / 'm').exists()
