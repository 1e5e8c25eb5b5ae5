"""Constants of other programs: what -c means, and what is said where programs do not agree."""

import json

import numpy as np
import pytest
from scipy.optimize import minimize

from data_formats.models.model import load
from tests.cli.commands import conll_text, run

N, CLASSES, FEATURES = 12, 3, 4


def svm_struct_optimum(x, y, c):
    """The least 1/2 |w|^2 + c/n sum xi^2 with <w, psi_i(z)> >= 1 - xi_i for all z other than y_i."""
    size = CLASSES * FEATURES
    rows, owners = [], []
    for i, (point, right) in enumerate(zip(x, y, strict=True)):
        for z in set(range(CLASSES)) - {right}:
            row = np.zeros((CLASSES, FEATURES))
            row[right], row[z] = point, -point
            rows.append(row.ravel())
            owners.append(i)
    a = np.hstack([np.array(rows), np.eye(len(x))[owners]])
    weight = np.concatenate([np.full(size, 1.0), np.full(len(x), 2 * c / len(x))])
    found = minimize(
        lambda v: v @ (weight * v) / 2,
        np.concatenate([np.zeros(size), np.ones(len(x))]),
        jac=lambda v: weight * v,
        constraints={'type': 'ineq', 'fun': lambda v: a @ v - 1, 'jac': lambda v: a},
        method='SLSQP',
        options={'ftol': 1e-12, 'maxiter': 500},
    )
    assert found.success and (a @ found.x >= 1 - 1e-8).all()
    return found.fun


@pytest.fixture(scope='module')
def points():
    rng = np.random.default_rng(3)
    y = np.arange(N) % CLASSES
    return np.round(rng.normal(size=(CLASSES, FEATURES))[y] + rng.normal(size=(N, FEATURES)), 2), y


@pytest.mark.parametrize('solver', ['bcfw', 'n-slack'])
@pytest.mark.parametrize('kind', ['svm', 'hmm'])
@pytest.mark.parametrize('c', [0.5, 5])
def test_c_weighs_squared_slacks_as_in_svm_struct(points, tmp_path, solver, kind, c):
    data = tmp_path / f't.{kind}'
    data.write_text(
        ''.join(
            f'{label + 1} {f"qid:{i + 1} " if kind == "hmm" else ""}'
            + ' '.join(f'{k + 1}:{value}' for k, value in enumerate(point))
            + '\n'
            for i, (point, label) in enumerate(zip(*points, strict=True))
        )
    )
    how = ['-p', 2, '-c', c, '--solver', solver, '--rel-gap', '1e-7', '-l', 'zero-one']
    said = run('train', *how, data, tmp_path / 'm').stderr
    assert f"lambda {1 / (2 * c):.6g} (-c {c:g} as svm_struct; liblinear's -c {c:g} is --lambda" in said
    primal = json.loads(run('gap', '--json', data, tmp_path / 'm').stdout)['primal']
    assert 2 * c * primal == pytest.approx(svm_struct_optimum(*points, c), rel=1e-6)


def test_the_line_that_states_lambda_names_the_convention(files, tmp_path):
    said = run('train', '-c', 1.5, files / 'train.svm', tmp_path / 'm').stderr  # 30 examples
    assert "lambda 0.666667 (-c 1.5 as svm_struct; liblinear's -c 1.5 is --lambda 0.0222222), solver bcfw" in said
    said = run('train', '-p', 2, '-c', 1.5, files / 'train.svm', tmp_path / 'm').stderr
    assert "lambda 0.333333 (-c 1.5 as svm_struct; liblinear's -c 1.5 is --lambda 0.0111111), solver bcfw" in said
    assert load(tmp_path / 'm').header['lambda'] == 1 / 3


@pytest.mark.parametrize('objective', ['log', 'softmax-margin'])
def test_c_is_refused_where_programs_mean_different_things(tmp_path, objective):
    (tmp_path / 't.conll').write_text(conll_text())  # 20 sentences
    how = ['train', '--objective', objective, tmp_path / 't.conll', tmp_path / 'm']
    said = run(*how, '-c', 1.5, code=2).stderr
    assert f'-c 1.5 with --objective {objective} ' in said and 'for 20 examples ' in said
    assert '--lambda 0.0333333, which is 1/(n C), as crf_learn and liblinear have it' in said
    assert '--lambda 0.666667, which is 1/C, as svm_struct has it' in said
    assert not (tmp_path / 'm').exists()
    (tmp_path / 'o.yaml').write_text(f'objective: {objective}\nc: 1.5\n')
    assert '--lambda 0.0333333' in run('train', '--config', tmp_path / 'o.yaml', *how[3:], code=2).stderr
    run(*how, '--config', tmp_path / 'o.yaml', '--lambda', 0.5)
    assert load(tmp_path / 'm').header['lambda'] == 0.5


def test_c_and_a_path_exclude_each_other(files, tmp_path):
    how = ['--lambda-path', '1:0.1:0.1', '-c', 1, files / 'train.svm', tmp_path / 'm']
    assert '--lambda-path cannot be combined with --lambda and -c' in run('train', *how, code=2).stderr


def test_a_c_without_a_lambda_is_refused(files, tmp_path):
    said = run('train', '-c', '1e-310', files / 'train.svm', tmp_path / 'm', code=2).stderr
    assert '-c 1e-310: lambda would be inf (expected a number above 0)' in said


@pytest.mark.parametrize('norm', [1, 2])
@pytest.mark.parametrize('epsilon', [0.3, 0.1, 0.03])
def test_a_violation_of_epsilon_bounds_the_gap_as_the_manual_says(files, tmp_path, norm, epsilon):
    """Slack norm 2: P has half the mean of (xi + epsilon)^2, and the mean slack is at most that of their squares."""
    how = ['-p', norm, '--lambda', 0.02, '--solver', 'n-slack', '--rel-gap', 0, '--set', f'epsilon={epsilon}']
    run('train', *how, files / 'train.svm', tmp_path / 'm')
    found = json.loads(run('gap', '--json', files / 'train.svm', tmp_path / 'm').stdout)
    slack = (2 * found['primal']) ** 0.5
    assert 0 < found['gap'] <= (epsilon if norm == 1 else epsilon * slack + epsilon**2 / 2)
