"""Temporary files of killed runs: removed by the next run on the same output, and nobody else's."""

import os
import subprocess
import sys

import pytest

from data_formats.atomic import atomic_output, remove_leftovers
from tests.cli.commands import environment, run


@pytest.fixture
def dead():
    """The number of a process that is no more."""
    process = subprocess.Popen([sys.executable, '-c', ''])
    process.wait()
    return process.pid


def test_a_killed_process_leaves_a_temporary_file_that_goes(tmp_path):
    out = tmp_path / 'out[1]'  # no pattern
    code = (
        'import os, sys; from data_formats.atomic import atomic_output\n'
        'with atomic_output(sys.argv[1]) as stream: stream.write(b"half"); stream.flush(); os.kill(os.getpid(), 9)'
    )
    subprocess.run([sys.executable, '-c', code, out], check=False, env=environment())
    assert len(list(tmp_path.iterdir())) == 1
    remove_leftovers(out)
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_left_over_stays(tmp_path, dead):
    others = [f'.other.{dead}.tmp', f'.out.more.{dead}.tmp', f'out.{dead}.tmp', f'.out.{dead}', '.out.x.tmp']
    others += ['.out..tmp', '.out.0.tmp', f'.out.{10**30}.tmp', '.out.٣.tmp', f'.out.{os.getppid()}.tmp']
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
        (tmp_path / f'.{name}.{dead}.tmp').touch()
    run('train', *['--resume'] * resume, '--log', tmp_path / 'log', *how)
    assert sorted(path.name for path in tmp_path.iterdir()) == ['log', 'm']


def test_wrong_usage_removes_nothing(files, tmp_path, dead):
    (tmp_path / f'.m.{dead}.tmp').touch()
    run('train', '--log', tmp_path / 'no' / 'log', files / 'train.svm', tmp_path / 'm', code=2)
    assert [path.name for path in tmp_path.iterdir()] == [f'.m.{dead}.tmp']
