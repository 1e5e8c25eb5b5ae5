"""Outputs that become impossible during a run: what was learned is kept, and what is said tells where."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile

import numpy as np
import pytest

from ssvm_cli.training import monitor
from tests.cli.commands import environment, run, start

PATH = ['--lambda-path', '0.1:0.05:0.5']


@pytest.fixture
def spare(tmp_path, monkeypatch):
    """An empty folder for temporary files."""
    folder = tmp_path / 'spare'
    folder.mkdir()
    monkeypatch.setattr(tempfile, 'tempdir', str(folder))
    return folder


@pytest.mark.parametrize('options', [[], PATH], ids=['one', 'path'])
def test_a_model_for_which_there_is_no_room_goes_elsewhere(files, tmp_path, spare, options):
    how = ['train', *options, files / 'train.svm']
    run(*how, tmp_path / 'm')
    lines = run(*how, '/dev/full', code=1).stderr.splitlines()
    (found,) = spare.iterdir()
    assert found.read_bytes() == (tmp_path / 'm').read_bytes()
    place = lines.index('/dev/full: cannot be written: No space left on device')
    assert lines[place + 1] == f'{found}: the model is here instead'
    assert lines[-1].startswith(f'{found} is the last, lambda 0.05' if options else 'converged after ')
    assert run('train', '-q', *how[1:], '/dev/full', code=1).stderr.count('\n') == 2


def test_so_it_does_when_the_folder_is_gone(files, tmp_path, spare, monkeypatch):
    folder = tmp_path / 'folder'
    folder.mkdir()
    whole = monitor.Monitor.run

    def gone(self, *args, **how):
        shutil.rmtree(folder)
        return whole(self, *args, **how)

    monkeypatch.setattr(monitor.Monitor, 'run', gone)
    said = run('train', files / 'train.svm', folder / 'm', code=1).stderr
    (found,) = spare.iterdir()
    assert f'{folder / "m"}: cannot be written: No such file or directory\n{found}: the model is here instead\n' in said


def test_nothing_is_claimed_where_there_is_no_room_at_all(files, spare):
    spare.rmdir()
    lines = run('train', files / 'train.svm', '/dev/full', code=1).stderr.splitlines()
    assert lines[-1] == '/dev/full: cannot be written: No space left on device'
    assert not any('instead' in line or 'converged' in line for line in lines)


def test_a_path_goes_on_without_the_folder_for_its_models(files, tmp_path, monkeypatch):
    folder = tmp_path / 'all'
    whole = monitor.Monitor.run

    def gone(self, *args, **how):
        shutil.rmtree(folder, ignore_errors=True)
        return whole(self, *args, **how)

    monkeypatch.setattr(monitor.Monitor, 'run', gone)
    how = [*PATH, '--path-models', folder, files / 'train.svm', tmp_path / 'm']
    said = run('train', *how, code=1).stderr
    assert said.count('cannot be written: No such file or directory') == 2 and (tmp_path / 'm').exists()


def test_what_can_be_known_before_is_said_before(tmp_path):
    (tmp_path / 'file').touch()
    missing = tmp_path / 'missing.svm'
    said = run('train', *PATH, '--path-models', tmp_path / 'file', missing, tmp_path / 'm', code=2).stderr
    assert said == f'Error: --path-models {tmp_path / "file"}: is no folder\n'
    argv = ['/bin/sh', '-c', 'exec "$@" >&-', 'sh', sys.executable, '-m', 'ssvm_cli.main', 'train', missing, '-']
    done = subprocess.run(argv, capture_output=True, text=True, env=environment(), check=False)
    assert (done.returncode, done.stderr) == (1, '<stdout>: is closed (expected an open standard output)\n')


@pytest.mark.parametrize('signum', [signal.SIGTERM, signal.SIGINT])
def test_one_signal_ends_the_writing_into_a_pipe_that_nobody_reads(tmp_path, signum):
    rng = np.random.default_rng(0)
    rows = [
        ' '.join([str(1 + k % 3), *(f'{j + 1}:{x:.3f}' for j, x in enumerate(rng.normal(size=9000)))]) for k in range(6)
    ]
    (tmp_path / 'wide.svm').write_text('\n'.join(rows) + '\n')
    process = start('train', tmp_path / 'wide.svm', '-')
    assert os.read(process.stdout.fileno(), 2) == b'PK'  # the model is on its way, and too long for the pipe
    process.send_signal(signum)
    assert process.wait(30) in (-signum, 128 + signum)
    process.stdout.close()
    process.stderr.close()
