"""--resume wants a saved state; --resume-if-saved starts from the beginning where there is none."""

import pytest

from tests.cli.commands import run


def test_a_job_script_needs_no_if(files, tmp_path):
    """The same line again and again comes to the same end as one run."""
    how = ['--rel-gap', 0, '--checkpoint', tmp_path / 'state', '--resume-if-saved', files / 'train.svm']
    said = run('train', '--max-passes', 3, *how, tmp_path / 'm').stderr
    assert f'{tmp_path / "state"}: nothing is saved there, so the run starts from the beginning\n' in said
    said = run('train', '--max-passes', 9, *how, tmp_path / 'm').stderr
    assert f'going on from {tmp_path / "state"} after 3 passes\n' in said
    run('train', '-q', '--max-passes', 9, '--rel-gap', 0, files / 'train.svm', tmp_path / 'whole')
    assert (tmp_path / 'm').read_bytes() == (tmp_path / 'whole').read_bytes()


def test_the_usual_place(files, tmp_path):
    how = ['--max-passes', 3, '--rel-gap', 0, files / 'train.svm', tmp_path / 'm']
    run('train', '-q', '--resume-if-saved', *how)
    assert [path.name for path in tmp_path.iterdir()] == ['m']
    assert 'no such checkpoint' in run('train', '--resume', *how, code=1).stderr


def test_an_empty_file_holds_nothing(files, tmp_path):
    (tmp_path / 'm.checkpoint').touch()  # as mktemp does
    how = [files / 'train.svm', tmp_path / 'm']
    assert 'empty file' in run('train', '--resume', *how, code=1).stderr
    run('train', '-q', '--resume-if-saved', *how)


def test_what_another_run_has_saved_is_an_error(files, tmp_path):
    how = ['--checkpoint', tmp_path / 'state', files / 'train.svm', tmp_path / 'm']
    run('train', '-q', '--max-passes', 1, *how)
    said = run('train', '--resume-if-saved', '--lambda', 0.5, *how, code=1).stderr
    assert 'is the checkpoint of another run: lambda was' in said and 'or leave --resume-if-saved out' in said
    (tmp_path / 'state').write_text('1 1:1\n')
    assert 'is no ssvm checkpoint' in run('train', '--resume-if-saved', *how, code=1).stderr
    assert (tmp_path / 'state').read_text() == '1 1:1\n'


@pytest.mark.parametrize('solver', ['eg', 'lbfgs', 'sgd', 'svrg'])
def test_a_first_model_is_for_a_first_start(files, tmp_path, solver):
    """--init counts where the run starts, and a run that goes on ends like an uninterrupted one."""
    how = ['--objective', 'log', '--solver', solver, '--rel-gap', 0, '--init', tmp_path / 'first']
    run('train', '-q', '--objective', 'log', '--max-passes', 1, files / 'train.svm', tmp_path / 'first')
    run('train', '-q', '--max-passes', 6, *how, files / 'train.svm', tmp_path / 'whole')
    how += ['--checkpoint', tmp_path / 'state', '--resume-if-saved', files / 'train.svm', tmp_path / 'm']
    run('train', '-q', '--max-passes', 2, *how)
    run('train', '-q', '--max-passes', 6, *how)
    assert (tmp_path / 'm').read_bytes() == (tmp_path / 'whole').read_bytes()


def test_where_there_can_be_no_state(files, tmp_path):
    how = [files / 'train.svm', tmp_path / 'm']
    said = run('train', '--resume-if-saved', files / 'train.svm', '-', code=2).stderr
    assert '--resume-if-saved needs --checkpoint FILE if MODEL is no regular file' in said
    assert '--resume and --resume-if-saved' in run('train', '--resume', '--resume-if-saved', *how, code=2).stderr
    said = run('train', '--lambda-path', '1:0.5:0.5', '--resume-if-saved', *how, code=2).stderr
    assert '--lambda-path cannot be combined with --resume-if-saved' in said
