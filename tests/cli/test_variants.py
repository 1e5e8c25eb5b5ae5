"""Slack rescaling, slack norm 2 and hard margins through the commands."""

import csv
import json

import pytest

from tests.cli.commands import conll_text, multiclass_text, run

VARIANTS = [['-o', 'slack'], ['-p', '2'], ['-o', '1', '-p', '2']]


def certificate(data, model):
    return json.loads(run('gap', '--json', data, model).stdout)


@pytest.mark.parametrize('variant', VARIANTS, ids=' '.join)
@pytest.mark.parametrize('text', [multiclass_text, conll_text])
def test_gap_reproduces_what_solvers_agree_on(variant, text, tmp_path):
    data, values = tmp_path / ('t.svm' if text is multiclass_text else 't.conll'), []
    data.write_text(text())
    for solver in ('bcfw', 'n-slack'):
        run('train', *variant, '--solver', solver, '--rel-gap', '1e-5', '--lambda', '0.05', data, tmp_path / 'm')
        figures = certificate(data, tmp_path / 'm')
        assert 0 <= figures['gap'] <= 1e-5 * figures['primal']
        assert figures['dual_source'] == 'model'
        values.append(figures['primal'])
    assert values[0] == pytest.approx(values[1], rel=2e-5)
    run('predict', data, tmp_path / 'm', tmp_path / 'out')


def test_a_hard_margin_separates_or_says_that_it_cannot(tmp_path):
    rows = [f'{1 + (k % 3)} {1 + k % 3}:1 {4 + k % 5}:0.3' for k in range(15)]
    good, bad = tmp_path / 'good.svm', tmp_path / 'bad.svm'
    good.write_text('\n'.join(rows) + '\n')
    bad.write_text('\n'.join([*rows, '2' + rows[0][1:]]) + '\n')
    run('train', '--hard-margin', '--rel-gap', '1e-4', good, tmp_path / 'm')
    figures = certificate(good, tmp_path / 'm')
    assert figures['lambda'] == 1 and 0 <= figures['gap'] <= 1e-4 * figures['primal']
    report = run('predict', '--metrics', tmp_path / 'metrics', good, tmp_path / 'm', tmp_path / 'out')
    assert json.loads((tmp_path / 'metrics').read_text())['accuracy'] == 1, report.stderr
    result = run('train', '--hard-margin', bad, tmp_path / 'none', code=1)
    assert 'cannot be separated' in result.stderr and '--hard-margin' in result.stderr
    assert not (tmp_path / 'none').exists()
    result = run('train', '--hard-margin', '--max-passes', 1, bad, tmp_path / 'none', code=1)
    assert 'no weights that satisfy all constraints were found in 1 pass' in result.stderr
    assert not (tmp_path / 'none').exists()


def test_constraints_and_the_bound_on_them_are_in_the_log(tmp_path):
    (tmp_path / 't.conll').write_text(conll_text())
    options = ('--solver', 'n-slack', '--set', 'epsilon=0.1', '--log', tmp_path / 'log', '--gap-every', 1)
    run('train', *options, tmp_path / 't.conll', tmp_path / 'm')
    rows = list(csv.DictReader((tmp_path / 'log').read_text().splitlines()[1:]))
    constraints = [int(row['constraints']) for row in rows]
    assert constraints == sorted(constraints) and constraints[-1] > 0
    assert all(int(row['constraints']) <= float(row['constraint_bound']) for row in rows)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['-o', 'slack', '--objective', 'log'], 'variants of hinge, not of log'),
        (['-p', '2', '--hard-margin'], 'no slacks'),
        (['--hard-margin', '-l', 'hamming'], 'leave --task-loss out'),
        (['--hard-margin', '--lambda', '1'], '--hard-margin has no slacks that --lambda could weigh'),
        (['--hard-margin', '-c', '1'], '--hard-margin has no slacks that -c could weigh'),
        (['--hard-margin', '--lambda-path', '1:0.1:0.1'], '--lambda-path cannot be combined with --hard-margin'),
        (['-p', '2', '--solver', 'one-slack'], 'one-slack cannot do slack norm 2 (solvers that can: bcfw, n-slack)'),
        (['--hard-margin', '--solver', 'bcfw'], 'bcfw cannot do a hard margin (solvers that can: n-slack)'),
        (['-p', '2', '--set', 'steps=plain'], 'steps=pairwise'),
    ],
)
def test_what_makes_no_sense_is_refused(options, message, tmp_path):
    (tmp_path / 't.svm').write_text(multiclass_text())
    result = run('train', *options, tmp_path / 't.svm', tmp_path / 'm', code=2)
    assert message in result.stderr
    assert not (tmp_path / 'm').exists()
