"""Memory: what `auto` takes where the numbers that eg keeps for all parts do not fit, and what is refused."""

import pytest

from data_formats.files.log import read_log
from data_formats.models.model import load
from ssvm_cli.training import memory
from tests.cli.commands import conll_text, run


@pytest.fixture
def data(tmp_path):
    path = tmp_path / 't.conll'
    path.write_text(conll_text())
    return path


def parts(data):
    """Of all examples: a number for each label of a token, and for each pair of labels."""
    text = data.read_text()
    labels = len({line.split()[1] for line in text.splitlines() if line})
    return sum(labels * len(block.split('\n')) + labels**2 for block in text.strip().split('\n\n'))


@pytest.mark.parametrize('objective', ['log', 'softmax-margin'])
def test_auto_takes_lbfgs_where_eg_does_not_fit(data, monkeypatch, tmp_path, objective):
    how = ['train', '--objective', objective, data, tmp_path / 'm']
    assert 'solver lbfgs' not in run(*how).stderr and load(tmp_path / 'm').header['solver'] == 'eg'
    kept, vectors = 36 * parts(data), 3 * 8 * 100_000
    monkeypatch.setattr(memory, 'free_memory', lambda: kept)
    said = run(*how).stderr
    assert f'solver lbfgs: eg would keep {kept / 2**30:.3g} GB for the parts of all examples, and ' in said
    assert load(tmp_path / 'm').header['solver'] == 'lbfgs' and 'converged' in said
    monkeypatch.setattr(memory, 'free_memory', lambda: kept + vectors)
    assert 'solver lbfgs' not in run(*how).stderr
    monkeypatch.setattr(memory, 'free_memory', lambda: None)
    assert 'solver lbfgs' not in run(*how).stderr


def test_what_is_asked_for_by_name_stays(data, monkeypatch, tmp_path):
    monkeypatch.setattr(memory, 'free_memory', lambda: 0)
    for how in (['--solver', 'eg'], ['--set', 'start=5']):
        run('train', '--objective', 'log', *how, data, tmp_path / 'm')
        assert load(tmp_path / 'm').header['solver'] == 'eg'
    run('train', data, tmp_path / 'm')
    assert load(tmp_path / 'm').header['solver'] == 'bcfw'


def test_a_refusal_names_a_solver_that_keeps_nothing(data, monkeypatch, tmp_path):
    monkeypatch.setattr(memory, 'total_memory', lambda: 36 * parts(data) - 1)
    for objective, instead in {'log': 'lbfgs', 'hinge': 'bcfw'}.items():
        how = ['--objective', objective, '--solver', 'eg', data, tmp_path / 'm']
        said = run('train', *how, code=1).stderr
        assert f'(--solver {instead}, or another one, keeps none)' in said and not (tmp_path / 'm').exists()


@pytest.mark.parametrize('before', [None, 0])
def test_a_run_that_goes_on_keeps_its_solver(data, monkeypatch, tmp_path, before):
    how = [
        'train',
        '--objective',
        'log',
        '--checkpoint',
        tmp_path / 'c',
        '--log',
        tmp_path / 'log',
        data,
        tmp_path / 'm',
    ]
    monkeypatch.setattr(memory, 'free_memory', lambda: before)
    run(*how, '--max-passes', 2)
    solver = load(tmp_path / 'm').header['solver']
    assert solver == ('eg' if before is None else 'lbfgs')
    monkeypatch.setattr(memory, 'free_memory', lambda: 0 if before is None else None)
    run(*how, '--max-passes', 4, '--resume')
    assert load(tmp_path / 'm').header['solver'] == solver and read_log(tmp_path / 'log')[-1]['pass'] == '4'


def test_a_path_takes_lbfgs_too(data, monkeypatch, tmp_path):
    monkeypatch.setattr(memory, 'free_memory', lambda: 0)
    run('train', '--objective', 'log', '--lambda-path', '0.1:0.01:0.3', data, tmp_path / 'm')
    assert load(tmp_path / 'm').header['solver'] == 'lbfgs'
