"""An interrupted run does not replace a complete model of another run."""

import subprocess
import sys

import pytest

from data_formats.models.model import load
from tests.cli.commands import environment, run

# The command with a signal after some rows of its log.
INTERRUPTED = (
    'import signal, sys, time; from ssvm_cli import cli; from ssvm_cli.training import monitor\n'
    'rows, *args = sys.argv[1:]\n'
    'loop, write, seen = monitor.Monitor._passes, monitor.Monitor._write_row, []\n'
    'def passes(self, stop):\n'
    '    self.flag = stop; return loop(self, stop)\n'
    'def row(self, *values):\n'
    '    write(self, *values); seen.append(values)\n'
    '    if len(seen) == int(rows):\n'
    '        signal.raise_signal(signal.SIGTERM)\n'
    '        while self.flag.signum is None: time.sleep(0.01)\n'
    'monitor.Monitor._passes, monitor.Monitor._write_row = passes, row; cli.cli.main(args)'
)


def interrupt(rows, *args):
    """Run `ssvm train` and interrupt it after some rows; returns what it said."""
    argv = [sys.executable, '-c', INTERRUPTED, rows, 'train', *args]
    done = subprocess.run(list(map(str, argv)), env=environment(), check=False, capture_output=True, text=True)
    assert done.returncode == 143, done.stderr
    return done.stderr


def status(path):
    return load(path).header['status']


@pytest.fixture
def complete(files, tmp_path):
    """A converged model at tmp_path/m; its bytes."""
    run('train', '-q', '--lambda', 0.1, files / 'train.svm', tmp_path / 'm')
    return (tmp_path / 'm').read_bytes()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_converged_model_stays(files, tmp_path, complete):
    """Another lambda, interrupted twice, and then to its end."""
    m, beside = tmp_path / 'm', tmp_path / 'm.interrupted'
    how = ['--lambda', 0.01, '--rel-gap', 0, '--max-passes', 9, files / 'train.svm', m]
    said = interrupt(2, *how).splitlines()
    assert said[-2] == f'{beside} and {m}.checkpoint are saved; --resume goes on from there'
    assert said[-1].startswith('interrupted after 2 passes: ')
    assert said[-1].endswith(f'; {m} is a complete model of another run and stays, this one is {beside}')
    assert m.read_bytes() == complete and status(beside) == 'interrupted' and load(beside).header['lambda'] == 0.01
    interrupt(2, '--resume', *how)
    assert m.read_bytes() == complete and load(beside).header['passes'] == 4
    run('train', '-q', '--resume', *how)
    run('train', '-q', *how[:-1], tmp_path / 'whole')
    assert m.read_bytes() == (tmp_path / 'whole').read_bytes() and names(tmp_path) == ['m', 'whole']


def test_so_it_does_when_the_same_command_is_given_again(files, tmp_path, complete):
    """The new run has come less far."""
    how = ['--lambda', 0.1, files / 'train.svm', tmp_path / 'm']
    for more in ([], ['--resume']):
        interrupt(1, *more, *how)
        assert (tmp_path / 'm').read_bytes() == complete
    run('train', '-q', '--resume', *how)
    assert (tmp_path / 'm').read_bytes() == complete and names(tmp_path) == ['m']


def test_or_a_tolerance_that_is_tighter(files, tmp_path, complete):
    """The new run has come further when it is interrupted again, after a kill that left nothing but a checkpoint."""
    how = ['--lambda', 0.1, '--rel-gap', 0, '--max-passes', 200, '--gap-every', 5, files / 'train.svm', tmp_path / 'n']
    passes = load(tmp_path / 'm').header['passes']
    how[-1] = tmp_path / 'm'
    interrupt(2, *how)
    (tmp_path / 'm.interrupted').unlink()
    interrupt(1 + passes // 5, '--resume', *how)
    assert load(tmp_path / 'm.interrupted').header['passes'] > passes
    assert (tmp_path / 'm').read_bytes() == complete


def test_what_a_run_has_written_itself_is_replaced(files, tmp_path):
    """At a limit, and then it goes on."""
    m = tmp_path / 'm'
    how = ['--rel-gap', 0, '--gap-every', 1, '--checkpoint', tmp_path / 'state', files / 'train.svm', m]
    run('train', '-q', '--max-passes', 3, *how)
    assert status(m) == 'max-passes'
    said = interrupt(2, '--max-passes', 9, '--resume', *how)
    assert 'another run' not in said
    assert status(m) == 'interrupted' and load(m).header['passes'] == 5 and names(tmp_path) == ['m', 'state']


@pytest.mark.parametrize('older', ['nothing', 'interrupted', 'truncated', 'altered', 'empty'])
def test_what_is_not_complete_is_replaced(files, tmp_path, older, complete):
    m = tmp_path / 'm'
    if older == 'nothing':
        m.unlink()
    elif older == 'interrupted':
        m.unlink()
        interrupt(1, '--lambda', 0.5, files / 'train.svm', m)
    else:
        broken = {'truncated': complete[:-50], 'altered': bytearray(complete), 'empty': b''}[older]
        if older == 'altered':
            at = complete.index(b'weights.state') + 300
            broken[at] ^= 0xFF
        m.write_bytes(bytes(broken))
    interrupt(2, '--lambda', 0.01, files / 'train.svm', m)
    assert status(m) == 'interrupted' and load(m).header['lambda'] == 0.01
    assert 'm.interrupted' not in names(tmp_path)


def test_the_text_of_a_model_stays_too(files, tmp_path, complete):
    run('convert', tmp_path / 'm', tmp_path / 'm.tsv')
    before = (tmp_path / 'm.tsv').read_bytes()
    interrupt(2, '--lambda', 0.01, files / 'train.svm', tmp_path / 'm.tsv')
    assert (tmp_path / 'm.tsv').read_bytes() == before and status(tmp_path / 'm.tsv.interrupted') == 'interrupted'


def test_models_of_a_path(files, tmp_path):
    """MODEL and those of --path-models."""
    m, folder = tmp_path / 'm', tmp_path / 'all'
    how = ['--lambda-path', '0.1:0.05:0.5', '--path-models', folder, files / 'train.svm', m]
    run('train', '-q', *how)
    before = {path: path.read_bytes() for path in (m, *folder.iterdir())}
    said = interrupt(3, '--rel-gap', 0, '--gap-every', 1, *how)
    assert {path: path.read_bytes() for path in before} == before
    assert said.splitlines()[-1] == (
        f'{m}.interrupted is the last, lambda 0.1; {m} is a complete model of another run and stays, '
        f'this one is {m}.interrupted'
    )
    assert names(folder) == ['lambda-0.05.model', 'lambda-0.1.model', 'lambda-0.1.model.interrupted']
    assert status(tmp_path / 'm.interrupted') == status(folder / 'lambda-0.1.model.interrupted') == 'interrupted'


def test_stages(tmp_path):
    """Soft constraints that grow harder."""
    data = tmp_path / 'train.ml'
    data.write_text('1,2 1:1\n2,3 2:1\n1 1:1 2:1\n')
    how = ['--relaxation', 'soft', '--rho', '1:0.25:0.5', data, tmp_path / 'm']
    run('train', '-q', *how)
    before = (tmp_path / 'm').read_bytes()
    said = interrupt(1, '--lambda', 0.01, *how)
    assert said.splitlines()[-1].endswith(f'stays, this one is {tmp_path / "m.interrupted"}')
    assert (tmp_path / 'm').read_bytes() == before and status(tmp_path / 'm.interrupted') == 'interrupted'


def test_no_other_file_is_replaced(files, tmp_path, complete):
    (tmp_path / 'm.interrupted').write_text('my notes\n')
    said = interrupt(2, '--lambda', 0.01, files / 'train.svm', tmp_path / 'm')
    assert (tmp_path / 'm').read_bytes() == complete
    assert (tmp_path / 'm.interrupted').read_text() == 'my notes\n'
    lines = said.splitlines()
    at = lines.index(
        f'{tmp_path / "m.interrupted"}: exists and is no ssvm model (delete it first or give another name)'
    )
    elsewhere, _, what = lines[at + 1].partition(': ')
    assert what == 'the model is here instead' and status(elsewhere) == 'interrupted'


def test_another_run_leaves_what_is_beside(files, tmp_path, complete):
    """A run that ends removes its own interrupted model only."""
    interrupt(2, '--lambda', 0.01, files / 'train.svm', tmp_path / 'm')
    run('train', '-q', '--lambda', 0.5, '--checkpoint', tmp_path / 's', files / 'train.svm', tmp_path / 'm')
    run('train', '-q', '--lambda', 0.5, '--checkpoint', tmp_path / 's', '--resume', files / 'train.svm', tmp_path / 'm')
    assert load(tmp_path / 'm.interrupted').header['lambda'] == 0.01
