"""Temporary files of killed runs: removed by the next run on the same output, and nobody else's."""

import os
import subprocess
import sys

import pytest

from data_formats.files.atomic import atomic_output, remove_leftovers
from tests.cli.commands import environment, run

HERE = os.uname().nodename


@pytest.fixture
def dead():
    """The number of a process that is no more."""
    process = subprocess.Popen([sys.executable, '-c', ''])
    process.wait()
    return process.pid


def test_a_killed_process_leaves_a_temporary_file_that_goes(tmp_path):
    out = tmp_path / 'out[1]'  # no pattern
    code = (
        'import os, sys; from data_formats.files.atomic import atomic_output\n'
        'with atomic_output(sys.argv[1]) as stream: stream.write(b"half"); stream.flush(); os.kill(os.getpid(), 9)'
    )
    subprocess.run([sys.executable, '-c', code, out], check=False, env=environment())
    assert len(list(tmp_path.iterdir())) == 1
    remove_leftovers(out)
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_left_over_stays(tmp_path, dead):
    others = [
        f'.other.{HERE}.{dead}.tmp',
        f'.out.more.{HERE}.{dead}.tmp',
        f'out.{HERE}.{dead}.tmp',
        f'.out.{HERE}.{dead}',
    ]
    others += [f'.out.elsewhere.{dead}.tmp', f'.out.{dead}.tmp']
    others += [f'.out.{HERE}.{pid}.tmp' for pid in ('', 'x', 0, 10**30, '٣', os.getppid())]
    for name in others:
        (tmp_path / name).touch()
    with atomic_output(tmp_path / 'out') as stream:  # this process is alive
        remove_leftovers(tmp_path / 'out')
        stream.write(b'whole')
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*others, 'out'])


@pytest.mark.parametrize('resume', [False, True])
def test_train_removes_those_of_model_and_checkpoint(files, tmp_path, dead, resume):
    how = ['-q', files / 'train.svm', tmp_path / 'm']
    if resume:
        run('train', '--checkpoint', tmp_path / 'm.checkpoint', '--max-passes', 1, *how)
    for name in ('m', 'm.checkpoint', 'log'):
        (tmp_path / f'.{name}.{HERE}.{dead}.tmp').touch()
    run('train', *['--resume'] * resume, '--log', tmp_path / 'log', *how)
    assert sorted(path.name for path in tmp_path.iterdir()) == ['log', 'm']


def test_wrong_usage_removes_nothing(files, tmp_path, dead):
    (tmp_path / f'.m.{HERE}.{dead}.tmp').touch()
    run('train', '--log', tmp_path / 'no' / 'log', files / 'train.svm', tmp_path / 'm', code=2)
    assert [path.name for path in tmp_path.iterdir()] == [f'.m.{HERE}.{dead}.tmp']


@pytest.mark.parametrize('name', ['n' * 255, 'é' * 127, 'a' + 'é' * 127])
def test_the_longest_names_that_files_can_have(tmp_path, name):
    for text in (b'old', b'new'):
        with atomic_output(tmp_path / name) as stream:
            stream.write(text)
        assert (tmp_path / name).read_bytes() == text
    assert len(list(tmp_path.iterdir())) == 1
