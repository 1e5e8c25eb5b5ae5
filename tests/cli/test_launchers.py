"""Several copies under a launcher of parallel programs would write the same files."""

import pytest

from tests.cli.commands import run

SEVERAL = [
    {'OMPI_COMM_WORLD_SIZE': '2', 'OMPI_COMM_WORLD_RANK': '0'},
    {'PMI_SIZE': '16', 'PMI_RANK': '3'},
    {'MV2_COMM_WORLD_SIZE': '2'},
    {'MPI_LOCALNRANKS': '4', 'MPI_LOCALRANKID': '0'},
    {'SLURM_STEP_NUM_TASKS': '2', 'PMIX_RANK': '0'},
    {'SLURM_STEP_NUM_TASKS': '2', 'PMI_RANK': '1'},
]
ONE = [
    {'OMPI_COMM_WORLD_SIZE': '1', 'PMIX_RANK': '0'},
    {'PMI_SIZE': '1', 'PMI_RANK': '0', 'MPI_LOCALNRANKS': '1'},
    {'SLURM_STEP_NUM_TASKS': '1', 'PMIX_RANK': '0'},
    {'SLURM_STEP_NUM_TASKS': '4', 'SLURM_NTASKS': '4', 'SLURM_PROCID': '2'},  # tasks of their own, such as array jobs
    {'PMI_SIZE': '', 'OMPI_COMM_WORLD_SIZE': 'many'},
]


def given(monkeypatch, variables):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize('variables', SEVERAL)
def test_copies_are_refused(files, tmp_path, monkeypatch, variables):
    given(monkeypatch, variables)
    size = next(iter(variables))
    said = run('train', files / 'train.svm', tmp_path / 'm', code=2).stderr
    assert said.startswith(f'Error: {size}={variables[size]}: a launcher has started {variables[size]} copies')
    assert 'Start it once' in said and 'array job' in said and f'unset {size}\n' in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize('variables', ONE)
def test_a_single_process_is_not(files, tmp_path, monkeypatch, variables):
    given(monkeypatch, variables)
    run('train', '-q', files / 'train.svm', tmp_path / 'm')


def test_so_are_other_commands_that_write_files(files, models, tmp_path, monkeypatch):
    given(monkeypatch, SEVERAL[0])
    for how in (
        ['predict', files / 'train.svm', models['svm']],
        ['predict', '--metrics', tmp_path / 'f.json', files / 'train.svm', models['svm'], tmp_path / 'out'],
        ['convert', models['svm'], tmp_path / 'm.tsv'],
        ['convert', files / 'train.conll', tmp_path / 'data.crfsuite'],
        ['gap', '--per-example', tmp_path / 'losses', files / 'train.svm', models['svm']],
    ):
        assert 'has started 2 copies' in run(*how, code=2).stderr
    assert list(tmp_path.iterdir()) == []
    run('gap', files / 'train.svm', models['svm'])
    assert 'Options' in run('train', '--help').output
